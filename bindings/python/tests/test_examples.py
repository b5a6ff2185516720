"""The examples run as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOUR = Path(__file__).parent.parent / "examples" / "tour.py"


def test_the_tour_runs() -> None:
    done = subprocess.run([sys.executable, TOUR], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    for line in ("in the mathematics and → physics", "in the mathematics or → physics", "after 1 … 8 comes 9"):
        assert line in done.stdout, done.stdout
