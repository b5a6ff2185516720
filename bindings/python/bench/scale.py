"""What scaling out costs: the constants of docs/scale.md, measured.

    python bench/scale.py text.txt [--copies 8] [--ray]

The text is memorized --copies times with its lines in another order each time. Everything runs on one thread, so that
what is printed is work, not waiting.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"

import numpy as np
from memo_lm import Memo, _memo

# Tokens of a document, positions that are read, and how many at a time.
DOCUMENT = 5000
READ = 256
BATCHES = (1, 32)


def timed(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work(*given)
    return time.perf_counter() - start, result


def row(what: str, *values: object) -> None:
    shown = (f"{value:,.3g}" if isinstance(value, float) else str(value) for value in values)
    print(f"| {what} | {' | '.join(shown)} |", flush=True)


def on_disk(folder: Path, name: str = "*") -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.glob(name))


def documents(memo: Memo, text: str, copies: int) -> list[np.ndarray]:
    lines = text.splitlines(keepends=True)
    ids = []
    for copy in range(copies):
        random.Random(copy).shuffle(lines)
        ids.append(memo.encode("".join(lines)))
    whole = np.concatenate(ids)
    return [whole[at : at + DOCUMENT] for at in range(0, len(whole), DOCUMENT)]


def model(folder: Path, text: str, copies: int) -> tuple[list[np.ndarray], int]:
    """One model, and the same in two halves that are merged."""
    with Memo.create(folder / "empty.memo") as memo:
        seconds, ids = timed(memo.encode, text)
        row("bytes of text a token", len(text.encode()) / len(ids))
        row("encoding, MB of text/s", len(text.encode()) / seconds / 1e6)
        given = documents(memo, text, copies)
    tokens = sum(len(each) + 1 for each in given)
    cells = 92 * tokens
    row("tokens", tokens)
    path = folder / "whole.memo"
    with Memo.create(path, parameters=cells) as memo:
        seconds, _ = timed(memo.memorize, [(str(n), each) for n, each in enumerate(given)])
        stats, digest = memo.stats(), memo.digest()
        row("memorizing, million tokens/s", tokens / seconds / 1e6)
        row("bytes of cells a token", stats.cell_bytes / tokens)
        row("bytes of tables a token", stats.table_bytes / tokens)
        row("checkpoint, s", timed(memo.checkpoint)[0])
    row("bytes of checkpoint a token, on disk", on_disk(path, "memory.*") / tokens)
    row("bytes of ledger a token, on disk", on_disk(path, "ledger.redb") / tokens)
    halves = [folder / f"{n}.memo" for n in (0, 1)]
    for n, half in enumerate(halves):
        with Memo.create(half, parameters=cells) as memo:
            memo.memorize([(str(k), each) for k, each in enumerate(given) if k % 2 == n])
    with Memo.open(halves[0]) as ours:
        with Memo.open(halves[1]) as theirs:
            seconds, _ = timed(ours.merge, theirs)
            row("merging one half into the other, s", seconds)
            row("merging, million tokens/s of the smaller", tokens / 2 / seconds / 1e6)
        assert ours.digest() == digest
        seconds, _ = timed(ours.close)
        row("closing the merged model, s", seconds)
    return given, cells


def writing(given: list[np.ndarray], cells: int) -> None:
    """One of several shards, alone: what it holds gets less, what it hashes does not."""
    tokens = sum(len(each) + 1 for each in given)
    print("\n| shards | one shard, s | ns a token | times one shard's share | MB held |\n|---|---|---|---|---|")
    first = 0.0
    for count in (1, 2, 4, 8, 16, 64):
        lens = _memo.Lens.create(count, parameters=cells)
        # The middle one: the first has the counts of single tokens too.
        shard = _memo.Shard(lens.settings, count // 2, count)
        seconds = sum(timed(shard.write, given[at : at + 100])[0] for at in range(0, len(given), 100))
        first = first or seconds
        row(str(count), seconds, 1e9 * seconds / tokens, seconds * count / first, shard.nbytes / 1e6)


class Fetching:
    """Counts what a lens asks for."""

    def __init__(self, lens: _memo.Lens, find: Callable[[int, Any], Any]) -> None:
        self.lens, self.find = lens, find
        self.rounds = self.rows = self.keys = self.sent = self.received = 0

    def read(self, ids: np.ndarray, start: int, end: int) -> None:
        while True:
            wanted = self.lens.want([ids], [(start, end)])
            if wanted is None:
                if self.lens.score([ids], [(start, end)]) is not None:
                    return
                continue
            self.rounds += 1
            for shard, each in enumerate(wanted):
                if each is None:
                    continue
                found = self.find(shard, each)
                self.rows += len(each[1])
                self.keys += len(each[2]) + len(each[3])
                self.sent += sum(array.nbytes for array in each)
                self.received += sum(array.nbytes for array in found)
                self.lens.take(shard, each, found)


def reading(given: list[np.ndarray], cells: int, strange: np.ndarray) -> None:
    count = 4
    lens = _memo.Lens.create(count, parameters=cells)
    shards = [_memo.Shard(lens.settings, index, count) for index in range(count)]
    for shard in shards:
        shard.write(given)
    texts = {"memorized": given[len(given) // 2], "unseen": strange}
    print("\n| positions at a time | text | rounds a batch | rows | keys | KB fetched | ms |")
    print("|---|---|---|---|---|---|---|")
    for batch in BATCHES:
        for name, ids in texts.items():
            # Nothing fetched before helps.
            unigrams = sum(shard.unigrams() for shard in shards)
            lens.refresh(unigrams, sum(shard.continuations() for shard in shards))
            fetching = Fetching(lens, lambda shard, wanted: shards[shard].find(wanted))
            starts = range(100, 100 + READ, batch)
            seconds = sum(timed(fetching.read, ids, at, at + batch)[0] for at in starts)
            each = [fetching.rows / READ, fetching.keys / READ, fetching.received / READ / 1e3]
            row(str(batch), name, fetching.rounds / len(starts), *each, 1e3 * seconds / READ)


def through_ray(given: list[np.ndarray], cells: int, strange: np.ndarray) -> None:
    import ray
    from memo_lm.ray import ShardedMemo

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    print("\n| through Ray, two actors | |\n|---|---|")
    with ShardedMemo.create(2, parameters=cells) as memo:
        seconds, _ = timed(memo.memorize, [(str(n), each) for n, each in enumerate(given)])
        row("memorizing, million tokens/s", sum(map(len, given)) / seconds / 1e6)
        for name, ids in {"memorized": given[len(given) // 2], "unseen": strange}.items():
            memo.next_token(ids[:50])
            row(f"scoring, {name}, ms a position", 1e3 * timed(memo.logprobs, ids[:READ])[0] / READ)
            row(f"one distribution, {name}, ms", 1e3 * timed(memo.next_token, ids[: READ + 100])[0])
        row("digest, s", timed(memo.digest)[0])
        seconds, gone = timed(memo.forget, "0")
        row(f"forgetting {gone.tokens} tokens, with a digest, s", seconds)
    ray.shutdown()


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("text", type=Path)
    arguments.add_argument("--copies", type=int, default=8)
    arguments.add_argument("--ray", action="store_true")
    given = arguments.parse_args()
    lines = given.text.read_text().splitlines(keepends=True)
    known, rest = lines[: 4 * len(lines) // 5], lines[4 * len(lines) // 5 :]
    folder = Path(tempfile.mkdtemp())
    try:
        print("| | |\n|---|---|")
        ids, cells = model(folder, "".join(known), given.copies)
        with Memo.open(folder / "empty.memo", read_only=True) as memo:
            strange = memo.encode("".join(rest))
        if hasattr(_memo, "Lens"):
            writing(ids, cells)
            reading(ids, cells, strange)
            if given.ray:
                through_ray(ids, cells, strange)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
