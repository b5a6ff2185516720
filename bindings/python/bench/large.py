"""A memory as large as one machine holds: made, opened, asked, changed, and compared with docs/scale.md.

    python bench/large.py [--tokens 10000000] [--file text.txt] [--workers 2] [--work FOLDER]

Without a file, tokens are generated with the statistics of a language: new ones by Zipf's law, and phrases that stand
further up said again, so that the longer a text is, the less of it is new. The text is memorized in parts, which are
added to each other. Seconds are those of processors unless it is said that they are of the clock. With workers, the
first tokens are memorized as one long document besides: by one process, and by so many workers of Ray.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from memo_lm import Memo
from numpy.typing import NDArray

Ids = NDArray[np.uint32]

VOCABULARY = 50_256
# Tokens of a document, and of a part: a model of its own, in one transaction, that is added to the others. A
# transaction of more is made in chunks, each of which goes through all of its text, and what was there before is made
# again with it.
DOCUMENT, PART = 5_000, 12_500_000
# Of phrases: how many are said again, and how long they are, on average.
AGAIN, LENGTH = 0.55, 4.0
PLACES = 200
# Tokens that workers divide.
DIVIDED = 5_000_000


def generated(tokens: int, seed: int = 1) -> Ids:
    """Tokens of which phrases come back, from anywhere in what was said before."""
    draw = np.random.default_rng(seed)
    ranks = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7) ** 1.05)
    names = draw.permutation(VOCABULARY).astype(np.uint32)
    text = np.empty(tokens, np.uint32)

    def new(count: int) -> Ids:
        return names[np.searchsorted(ranks, draw.random(count) * ranks[-1]).clip(max=VOCABULARY - 1)]

    at = min(20_000, tokens)
    text[:at] = new(at)
    while at < tokens:
        count = min(200_000, at, tokens - at)
        lengths = draw.geometric(1 / LENGTH, int(count / LENGTH) + 1)
        lengths = lengths[: int(np.searchsorted(np.cumsum(lengths), count)) + 1]
        again = np.repeat(draw.random(len(lengths)) < AGAIN, lengths)[:count]
        begins = np.repeat(np.cumsum(lengths) - lengths, lengths)[:count]
        from_where = np.repeat(draw.integers(0, at, len(lengths)), lengths)[:count] + np.arange(len(again)) - begins
        piece = np.where(again, text[from_where.clip(max=at - 1)], new(len(again)))
        text[at : at + len(piece)] = piece
        at += len(piece)
    return text


def row(what: str, measured: str, predicted: str = "") -> None:
    print(f"| {what} | {measured} | {predicted} |", flush=True)


def resident() -> float:
    """GB of RAM that this process has now."""
    return 1024 * int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1e9


def size(folder: Path, names: str) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.glob(names))


class Timer:
    """Seconds of processors, and of the clock."""

    def __enter__(self) -> Timer:
        self._begun = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.work = time.process_time() - self._begun[0]
        self.clock = time.perf_counter() - self._begun[1]


def parts(text: Ids) -> Iterator[list[tuple[str, Ids]]]:
    """Documents of a text, as many at a time as a part has."""
    each = [(f"{at // DOCUMENT:07}", text[at : at + DOCUMENT]) for at in range(0, len(text), DOCUMENT)]
    step = PART // DOCUMENT
    for at in range(0, len(each), step):
        yield each[at : at + step]


def made(text: Ids, folder: Path) -> Path:
    """A model of a text: its parts memorized, and added to each other two by two."""
    n = len(text)
    models: list[Path] = []
    with Timer() as memorizing:
        for batch in parts(text):
            models.append(folder / f"{len(models)}.memo")
            with Timer() as took, Memo.create(models[-1]) as memo:
                memo.memorize(batch, progress=False)
            count = sum(len(ids) for _, ids in batch)
            print(f"  {len(models)}: {1e9 * took.work / count:.0f} ns a token, {resident():.1f} GB", flush=True)
    row("memorizing in parts, µs a token", f"{1e6 * memorizing.work / n:.2f}", "0.9 to 1.15")
    row("the same by the clock, s", f"{memorizing.clock:.0f}")
    with Timer() as adding:
        while len(models) > 1:
            for one, other in zip(models[::2], models[1::2]):
                with Timer() as took, Memo.open(one) as memo:
                    memo.merge(other, progress=False)
                shutil.rmtree(other)
                print(f"  {other.stem} to {one.stem}: {took.work:.0f} s, {resident():.1f} GB", flush=True)
            models = models[::2]
    row("adding the parts up, µs a token", f"{1e6 * adding.work / n:.2f}", "a level: 1 for each token of the smaller")
    row("the same by the clock, s", f"{adding.clock:.0f}")
    return models[0]


def run(text: Ids, folder: Path) -> None:
    n = len(text)
    row("tokens", f"{n:,}")
    path = made(text, folder)
    with Memo.open(path) as memo:
        with Timer() as took:
            memo.checkpoint()
        stats = memo.stats()
        row(
            "cells that are not zero, a token",
            f"{stats.cells / n:.1f}",
            "14 where all is new, 3 where eight in nine were said",
        )
        row("memory, bytes a token", f"{stats.bytes / n:.1f}", "57 where all is new, 12")
        row("a checkpoint: s by the clock, MB/s", f"{took.clock:.1f}, {stats.bytes / took.clock / 1e6:.0f}", "80 MB/s")
        row("RAM while it is written, GB", f"{resident():.2f}", f"{57 * n / 1e9:.2f}")
        digest = memo.digest()
    row("checkpoint on disk, bytes a token", f"{size(path, 'memory.*') / n:.1f}", "as the memory")
    row("ledger on disk, bytes a token", f"{size(path, 'ledger.redb') / n:.1f}", "7")
    with Timer() as took:
        memo = Memo.open(path, read_only=True)
    row("opening to read: s by the clock", f"{took.clock:.2f}")
    with memo:
        asked(memo, text)
    with Timer() as took:
        memo = Memo.open(path)
    row("opening to write: s by the clock", f"{took.clock:.2f}")
    with memo:
        changed(memo, text, digest)


def asked(memo: Memo, text: Ids) -> None:
    places = np.random.default_rng(2).integers(100, len(text) - 100, PLACES)
    for length in (4, 16):
        right = 0
        with Timer() as took:
            for place in places:
                made = memo.completion(text[place - length : place], 1, find=True).tokens
                right += bool(made) and made[0].token == text[place]
        row(f"the next token after {length}: right, ms", f"{right / PLACES:.3f}, {1e3 * took.work / PLACES:.2f}")
    with Timer() as took:
        for place in places[:20]:
            memo.next_token(text[place - 16 : place])
    row("a distribution, ms", f"{1e3 * took.work / 20:.2f}")
    with Timer() as took:
        memo.logprobs(text[5_000:7_000])
    row("scoring text that was memorized, µs a token", f"{1e6 * took.work / 2_000:.0f}", "130")


def changed(memo: Memo, text: Ids, digest: str) -> None:
    document = text[:DOCUMENT][::-1].copy()
    with Timer() as took:
        memo.memorize(document, "another", progress=False)
    row(
        f"a document of {DOCUMENT:,} more: s, by the clock",
        f"{took.work:.3f}, {took.clock:.2f}",
        f"{1e-6 * DOCUMENT:.3f}",
    )
    with Timer() as took:
        memo.forget("another")
    row("the same forgotten: s, by the clock", f"{took.work:.2f}, {took.clock:.2f}", f"{1e-6 * DOCUMENT:.3f}")
    row("the digest is as before", str(memo.digest() == digest), "True")


def divided(text: Ids, folder: Path, workers: int) -> None:
    """One long document, by one process and by workers."""
    from memo_lm.ray import memorize

    source = folder / "text.txt"
    with Memo.create(folder / "one.memo") as memo:
        source.write_text(memo.decode(text), encoding="utf-8")
        with Timer() as took:
            memo.memorize_files(source, progress=False)
            memo.checkpoint()
        tokens, digest = memo.stats().tokens, memo.digest()
    row("one long document, tokens", f"{tokens:,}")
    row("by one process: s by the clock", f"{took.clock:.1f}")
    with Timer() as took, memorize(source, folder / "ray.memo", num_workers=workers, progress=False) as memo:
        same = memo.digest() == digest
    row(f"by {workers} workers of Ray: s by the clock", f"{took.clock:.1f}")
    row("the digest is the same", str(same), "True")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tokens", type=int, default=10_000_000)
    arguments.add_argument("--file", type=Path)
    arguments.add_argument("--workers", type=int, default=0)
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()))
    given = arguments.parse_args()
    folder = Path(tempfile.mkdtemp(dir=given.work))
    try:
        if given.file:
            with Memo.create(folder / "tokens.memo") as memo:
                text = memo.encode(given.file.read_text(encoding="utf-8"))
        else:
            text = generated(given.tokens)
        print("| | measured | predicted |\n|---|---|---|")
        run(text, folder)
        if given.workers:
            divided(text[:DIVIDED], folder, given.workers)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
