"""python -m peers [--docs docs] [--work FOLDER] [FILE…]: compares, and writes benchmarks.md and benchmarks.svg."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path

from . import page, texts
from .measure import FEW, measure
from .systems import PAPER, SYSTEMS


def machine() -> str:
    """What was measured on."""
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    name = model[0].split(":")[1].strip() if model else platform.machine()
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{os.cpu_count()} processors ({name}), {pages >> 30} GiB"


def named(path: Path, docs: Path) -> str:
    """A text as the command has it: by its path in the project, or by its name."""
    home = docs.absolute().parent
    return str(path.relative_to(home)) if path.is_relative_to(home) else path.name


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="*", type=Path)
    arguments.add_argument("--docs", type=Path, default=Path("docs"))
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    given = arguments.parse_args()
    names = [named(path, given.docs) for path in given.files]
    read = list(zip(names, map(texts.read, given.files))) or [("a made-up text", texts.made_up())]
    measured = []
    for name, text in read:
        with tempfile.TemporaryDirectory(dir=given.work) as folder:
            parts = texts.parts(name, text, Path(folder))
            results = {}
            runs = [(system, system, None) for system in SYSTEMS if system != PAPER]
            runs += [(f"{PAPER}, {tokens:,} tokens", PAPER, tokens) for tokens in FEW]
            for row, system, tokens in runs:
                print(f"{name}: {row}", flush=True)
                results[row] = measure(system, parts, Path(folder), tokens)
        measured.append({"name": name, "known": len(parts.known), "new": len(parts.new), "results": results})
        (given.work / "measured.json").write_text(json.dumps(measured, indent=1))
    command = " ".join(["cargo xtask peers", *names])
    (given.docs / "benchmarks.md").write_text(page.page(measured, command, machine(), given.docs), encoding="utf-8")
    (given.docs / "benchmarks.svg").write_text(page.figure(measured[0]), encoding="utf-8")
    print(f"wrote {given.docs / 'benchmarks.md'}")


if __name__ == "__main__":
    main()
