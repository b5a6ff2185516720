"""The programs of this project, wherever they were built."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PROJECT = Path(__file__).parents[3]


def program(name: str) -> Path:
    """A program: beside MEMO_BIN if that is set; else the newest one that was built, of whatever profile; else one that
    is installed. A path where nothing is if there is none."""
    file = f"{name}.exe" if os.name == "nt" else name
    if given := os.environ.get("MEMO_BIN"):
        return Path(given).absolute().with_name(file)
    target = PROJECT / os.environ.get("CARGO_TARGET_DIR", "target")
    built = sorted(target.glob(f"*/{file}"), key=lambda path: path.stat().st_mtime)
    installed = shutil.which(name)
    return built[-1] if built else Path(installed or target / "debug" / file)
