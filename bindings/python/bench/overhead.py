"""What Python adds to the engine: memorizing a text and scoring it, beside the same calls in Rust.

Both are built with the same profile, do the same work, and take turns; the best of all rounds counts:

    cargo build --package memo-store --example rates
    python bindings/python/bench/overhead.py target/debug/examples/rates TEXT
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memo_lm import Memo

ROUNDS = 5


def python(text: str, folder: Path, turn: int) -> dict[str, float]:
    with Memo.create(folder / f"python-{turn}.memo") as memo:
        start = time.perf_counter()
        memo.memorize(text, id="text", progress=False)
        memorized = time.perf_counter()
        memo.logprobs(text[:8000])
        return {"memorize": memorized - start, "logprobs": time.perf_counter() - memorized}


def main(rates: str, file: str) -> None:
    text = Path(file).read_text(encoding="utf-8")
    best: dict[str, dict[str, float]] = {"Python": {}, "Rust": {}}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS):
            there = Path(folder) / str(turn)
            there.mkdir()
            # Twice: Python's process is not new in most rounds either.
            command = [rates, file, str(there), "2"]
            rust = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for name, seconds in (("Python", python(text, there, turn)), ("Rust", rust)):
                for what, value in seconds.items():
                    best[name][what] = min(value, best[name].get(what, value))
    for what in ("memorize", "logprobs"):
        mine, theirs = best["Python"][what], best["Rust"][what]
        print(f"{what:9} Python {1000 * mine:8.1f} ms   Rust {1000 * theirs:8.1f} ms   ratio {mine / theirs:.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: overhead.py RATES TEXT (`cargo build --package memo-store --example rates`, and a text)")
    main(*sys.argv[1:])
