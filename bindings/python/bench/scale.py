"""What scaling out costs: the constants of docs/scale.md, measured.

    python bench/scale.py text.txt [--copies 8] [--ray]

The text is memorized --copies times with its lines in another order each time. Where nothing else is said, times are
those of one processor: work, not waiting, on one thread. Through Ray they are those of a clock.
"""

from __future__ import annotations

import argparse
import json
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
from memo_lm import Memo, _memo, inputs
from numpy.typing import NDArray

Ids = NDArray[np.uint32]

# Tokens of a document, positions that are read, and how many at a time.
DOCUMENT = 5000
READ = 256
BATCHES = (1, 32)


def timed(work: Callable[..., Any], *given: Any, clock: Callable[[], float] = time.process_time) -> tuple[float, Any]:
    start = clock()
    result = work(*given)
    return clock() - start, result


def waited(work: Callable[..., Any], *given: Any) -> tuple[float, Any]:
    return timed(work, *given, clock=time.perf_counter)


def row(what: str, *values: object) -> None:
    shown = (f"{value:,.3g}" if isinstance(value, float) else str(value) for value in values)
    print(f"| {what} | {' | '.join(shown)} |", flush=True)


def on_disk(folder: Path, name: str = "*") -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.glob(name))


def documents(memo: Memo, text: str, copies: int) -> list[Ids]:
    lines = text.splitlines(keepends=True)
    ids = []
    for copy in range(copies):
        random.Random(copy).shuffle(lines)
        ids.append(memo.encode("".join(lines)))
    whole = np.concatenate(ids)
    return [whole[at : at + DOCUMENT] for at in range(0, len(whole), DOCUMENT)]


def model(folder: Path, text: str, copies: int) -> list[Ids]:
    """One model, and the same in two halves that are merged."""
    with Memo.create(folder / "empty.memo") as memo:
        seconds, ids = timed(memo.encode, text)
        row("bytes of text a token", len(text.encode()) / len(ids))
        row("encoding, MB of text/s", len(text.encode()) / seconds / 1e6)
        given = documents(memo, text, copies)
    tokens = sum(len(each) + 1 for each in given)
    row("tokens", tokens)
    path = folder / "whole.memo"
    with Memo.create(path) as memo:
        seconds, _ = timed(memo.memorize, [(str(n), each) for n, each in enumerate(given)])
        stats, digest = memo.stats(), memo.digest()
        row("memorizing, million tokens/s", tokens / seconds / 1e6)
        row("cells that are not zero, a token", stats.cells / tokens)
        row("bytes of memory a token", stats.bytes / tokens)
        row("a checkpoint, s, by the clock", waited(memo.checkpoint)[0])
    row("bytes of checkpoint a token, on disk", on_disk(path, "memory.*") / tokens)
    row("bytes of ledger a token, on disk", on_disk(path, "ledger.redb") / tokens)
    halves = [folder / f"{n}.memo" for n in (0, 1)]
    for n, half in enumerate(halves):
        with Memo.create(half) as memo:
            memo.memorize([(str(k), each) for k, each in enumerate(given) if k % 2 == n])
    with Memo.open(halves[0]) as ours:
        with Memo.open(halves[1]) as theirs:
            seconds, _ = timed(ours.merge, theirs)
            row("merging one half into the other, s", seconds)
            row("merging, million tokens/s of the smaller", tokens / 2 / seconds / 1e6)
        assert ours.digest() == digest
        row("closing the merged model, s, by the clock", waited(ours.close)[0])
    return given


def sharded(count: int) -> tuple[_memo.ShardReader, Callable[[int], _memo.Shard]]:
    """A reader, and what makes its shards."""
    reader = _memo.ShardReader.create(count, inputs.options("gpt2", None, True, 1))
    return reader, lambda index: _memo.Shard(reader.settings, reader.tokenizer, None, index, count)


def writing(given: list[Ids]) -> None:
    """Some of several shards, each alone: what one holds gets less, what it hashes does not."""
    tokens = sum(len(each) + 1 for each in given)
    print("\n| shards | one shard, ns a token | the slowest | all together, times one shard | MB held | the most |")
    print("|---|---|---|---|---|---|")
    whole = 0.0
    for count in (1, 2, 4, 8, 16, 64):
        _, make = sharded(count)
        times, held = [], []
        for index in range(0, count, max(1, count // 8)):
            shard = make(index)
            times.append(sum(timed(shard.write, given[at : at + 100])[0] for at in range(0, len(given), 100)))
            held.append(shard.nbytes / 1e6)
        mean = sum(times) / len(times)
        whole = whole or mean
        each = [1e9 * mean / tokens, 1e9 * max(times) / tokens, mean * count / whole]
        row(str(count), *each, sum(held) / len(held), max(held))


class Fetching:
    """Counts what a reader asks for."""

    def __init__(self, reader: _memo.ShardReader, find: Callable[[int, Any], Any]) -> None:
        self.reader, self.find = reader, find
        self.rounds = self.lists = self.counts = self.sent = self.received = 0

    def read(self, ids: Ids, start: int, end: int) -> None:
        while self.reader.score([ids], [(start, end)]) is None:
            self.rounds += 1
            for shard, each in enumerate(self.reader.want()):
                if each is None:
                    continue
                found = self.find(shard, each)
                self.lists += len(each[0]) + len(each[1])
                self.counts += len(each[2])
                self.sent += sum(array.nbytes for array in each)
                self.received += sum(array.nbytes for array in found)
                self.reader.take(shard, each, found)


def reading(given: list[Ids], strange: Ids, whole: Path) -> None:
    count = 4
    reader, make = sharded(count)
    shards = [make(index) for index in range(count)]
    for shard in shards:
        shard.write(given)
    texts = {"memorized": given[len(given) // 2], "unseen": strange}
    print("\n| positions at a time | text | rounds a batch | lists | counts | KB sent | KB fetched | ms |")
    print("|---|---|---|---|---|---|---|---|")
    for batch in BATCHES:
        for name, ids in texts.items():
            # Nothing fetched before helps.
            reader.refresh(sum(shard.unigrams() for shard in shards), sum(shard.derived() for shard in shards))
            fetching = Fetching(reader, lambda shard, wanted: shards[shard].find(wanted))
            starts = range(100, 100 + READ, batch)
            seconds = sum(timed(fetching.read, ids, at, at + batch)[0] for at in starts)
            each = [fetching.lists / READ, fetching.counts / READ, fetching.sent / READ / 1e3]
            each.append(fetching.received / READ / 1e3)
            row(str(batch), name, fetching.rounds / len(starts), *each, 1e3 * seconds / READ)
    with Memo.open(whole, read_only=True) as memo:
        for name, ids in texts.items():
            seconds, _ = timed(memo.core.score_many, [(ids[: 100 + READ], 100)])
            row("a memory that nobody divided", name, "", "", "", "", "", 1e3 * seconds / READ)


def workers(given: list[Ids], folder: Path) -> None:
    """What the workers of memo_lm.ray.memorize do, one after the other: how much in all, and on the longest way."""
    from memo_lm.ray import parts, plan, sources

    work = folder / "work"
    work.mkdir()
    with Memo.create(work / plan.EMPTY) as memo:
        texts = [memo.decode(ids) for ids in given]
    (folder / "texts.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts))
    how = sources.Reading()
    (item,) = sources.files([folder / "texts.jsonl"], how)
    print("\n| workers | s in all | s of the longest share | s of the merges after it |\n|---|---|---|---|")
    for count in (1, 2, 4, 8):
        ranges = sources.ranges(item, item.size // count)
        items = sources.cut(item, [sources.count_lines(item.path, start, end) for start, end in ranges])
        builds = [timed(parts.build, work, n, [share], how)[0] for n, share in enumerate(items)]
        joins: list[list[float]] = []
        size = 1
        while size < count:
            pairs = range(0, count, 2 * size)
            each = [((at, at + size - 1), (at + size, at + 2 * size - 1)) for at in pairs]
            joins.append([timed(parts.join, work, left, right)[0] for left, right in each])
            size *= 2
        row(str(count), sum(builds) + sum(map(sum, joins)), max(builds), sum(map(max, joins)))
        shutil.rmtree(work / parts.PARTS)


def through_ray(given: list[Ids], strange: Ids) -> None:
    import ray
    from memo_lm.ray import ShardedMemo

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    print("\n| through Ray, two actors | |\n|---|---|")
    with ShardedMemo.create(2) as memo:
        seconds, _ = waited(memo.memorize, [(str(n), each) for n, each in enumerate(given)])
        row("memorizing, million tokens/s", sum(map(len, given)) / seconds / 1e6)
        for name, ids in {"memorized": given[len(given) // 2], "unseen": strange}.items():
            memo.next_token(ids[:50])
            row(f"scoring, {name}, ms a position", 1e3 * waited(memo.logprobs, ids[:READ])[0] / READ)
            row(f"one distribution, {name}, ms", 1e3 * waited(memo.next_token, ids[: READ + 100])[0])
        row("digest, s", waited(memo.digest)[0])
        seconds, gone = waited(memo.forget, "0")
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
        ids = model(folder, "".join(known), given.copies)
        with Memo.open(folder / "empty.memo", read_only=True) as memo:
            strange = memo.encode("".join(rest))
        writing(ids)
        reading(ids, strange, folder / "whole.memo")
        if given.ray:
            workers(ids, folder)
            through_ray(ids, strange)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
