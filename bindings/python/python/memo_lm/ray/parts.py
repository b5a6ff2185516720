"""Parts of a model: made by workers, each in a folder of its own, and merged two by two.

A document that is too long for one worker is divided in another way: every worker reads it, and writes a portion of the
memory, which is some partitions of its tables. Portions lie side by side, so nothing of them is added up.

A folder is renamed into place when it is finished. So a task that is retried begins anew, one that was finished is not
done again, and what a lost worker left behind is in nobody's way.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .. import inputs
from .._memo import MergeError, StateError
from ..corpus import Content
from ..memo import Memo
from . import plan, sources
from .sources import Found, Item, Piece, Reading

PARTS = "parts"
PROGRESS = "progress"
MODEL = "model.memo"
# Which document came from where, a line each.
SOURCES = "sources.jsonl"
EARLIER = "an earlier one"
# Bytes of text that are memorized in one transaction, if that is more than one document.
BATCH = 1 << 20

Range = tuple[int, int]
"""The shards of a part, from the first to the last."""


def folder(work: Path, part: Range) -> Path:
    """Where a part is when it is finished."""
    return work / PARTS / f"{part[0]:05}-{part[1]:05}"


def portion_file(work: Path, portion: int) -> Path:
    """Where a portion is when it is finished."""
    return work / PARTS / f"portion-{portion:05}"


def use_threads(count: int) -> None:
    """Leaves the other processors of a machine to other workers. It must come before the first use."""
    os.environ["RAYON_NUM_THREADS"] = str(max(1, min(count, os.cpu_count() or 1)))


# Making


def build(work: Path, shard: int, items: list[Item], how: Reading) -> None:
    """Memorizes what a shard holds."""
    done = folder(work, (shard, shard))
    if done.exists():
        return
    use_threads(1)
    mine = done.with_name(f"{done.name}.{uuid.uuid4().hex}.tmp")
    mine.mkdir(parents=True)
    shutil.copytree(work / plan.EMPTY, mine / MODEL)
    read = 0
    report(work, shard, read)
    with Memo.open(mine / MODEL) as memo, (mine / SOURCES).open("w") as index:
        for batch in batches(items, how):
            fresh = once(batch)
            given = [{"text": content, "id": id, "labels": labels} for id, content, labels, _ in fresh]
            came = memo.memorize(given, progress=False)
            if came.updated:
                conflict(came.updated[0], origin(mine, came.updated[0]), origin_in(fresh, came.updated[0]))
            for id, _, _, source in fresh:
                if id is not None:
                    index.write(json.dumps([id, source]) + "\n")
            index.flush()
            read += batch.bytes
            report(work, shard, read)
        # Whoever merges it need not write all its text again.
        memo.checkpoint()
    put(mine, done)


def put(mine: Path, done: Path) -> None:
    """Renames a finished part into place, unless another worker, thought to be lost, was first."""
    try:
        mine.rename(done)
    except OSError:
        if not done.exists():
            raise
        shutil.rmtree(mine)


def batches(items: list[Item], how: Reading) -> Iterator[Piece]:
    """The documents of items, about as many at a time as a transaction should have."""
    batch = Piece(0)
    for item in items:
        for piece in sources.pieces(item, how):
            batch.bytes += piece.bytes
            batch.documents.extend(piece.documents)
            if batch.bytes >= BATCH:
                yield batch
                batch = Piece(0)
    yield batch


def once(batch: Piece) -> list[Found]:
    """The documents of a batch, those that are there twice once."""
    seen: dict[str, tuple[Content, str]] = {}
    fresh = []
    for id, content, labels, source in batch.documents:
        if id is not None and id in seen:
            before, where = seen[id]
            if not same(before, content):
                conflict(id, where, source)
            continue
        if id is not None:
            seen[id] = (content, source)
        fresh.append((id, content, labels, source))
    return fresh


def same(one: Content, other: Content) -> bool:
    """Whether two contents are equal."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return np.array_equal(one, other)


# Merging


def join(work: Path, left: Range, right: Range) -> None:
    """Merges two parts into one. Doing it again changes nothing: a document that is there already counts once."""
    done, ours, theirs = folder(work, (left[0], right[1])), folder(work, left), folder(work, right)
    if not done.exists():
        use_threads(right[1] - left[0] + 1)
        with Memo.open(ours / MODEL) as memo, Memo.open(theirs / MODEL) as other:
            try:
                memo.merge(other, progress=False)
            except MergeError:
                for id in different(memo, other):
                    conflict(id, origin(ours, id), origin(theirs, id))
                raise
            memo.checkpoint()
        with (ours / SOURCES).open("a") as index, (theirs / SOURCES).open() as more:
            shutil.copyfileobj(more, index)
        ours.rename(done)
    shutil.rmtree(theirs, ignore_errors=True)


def different(one: Memo, other: Memo) -> Iterator[str]:
    """Ids that two models have with different contents. They have one secret, so digests compare."""
    known = {document.id: document.current for document in one.docs()}
    for document in other.docs():
        ours, theirs = known.get(document.id), document.current
        if ours is not None and theirs is not None and ours.digest != theirs.digest:
            yield document.id


# Long documents


def write_portion(work: Path, portion: int, count: int, long: list[Item], how: Reading, number: int) -> None:
    """Writes a worker's portion of the memory of long documents."""
    done = portion_file(work, portion)
    if done.exists():
        return
    use_threads(1)
    done.parent.mkdir(exist_ok=True)
    # A writer has a model for itself.
    mine = done.with_name(f"{done.name}.{uuid.uuid4().hex}.tmp")
    shutil.copytree(work / plan.EMPTY, mine)
    report(work, number, 0)
    with Memo.open(mine) as memo:
        memo.core.write_portion(given(memo, long, how), portion, count, done)
    report(work, number, sum(item.bytes for item in long) // count)
    shutil.rmtree(mine)


def add_portions(work: Path, whole: Range, count: int, long: list[Item], how: Reading) -> None:
    """Memorizes long documents by the portions of their memory. Doing it again changes nothing."""
    use_threads(count)
    part = folder(work, whole)
    with Memo.open(part / MODEL) as memo:
        portions = [portion_file(work, portion) for portion in range(count)]
        try:
            memo.core.memorize_portions(given(memo, long, how), portions)
        except StateError:
            for id, _, _, source in documents(long, how):
                if id is not None and (before := origin(part, id)) != EARLIER:
                    conflict(id, before, source)
            raise
        memo.checkpoint()


def documents(long: list[Item], how: Reading) -> Iterator[Found]:
    """Long documents."""
    for item in long:
        for piece in sources.pieces(item, how):
            yield from piece.documents


def given(memo: Memo, long: list[Item], how: Reading) -> list[inputs.Given]:
    """The same, as they are memorized."""
    found = [{"text": text, "id": id, "labels": labels} for id, text, labels, _ in documents(long, how)]
    return inputs.documents(found, memo.vocab_size, None, None)


# Where documents came from


def conflict(id: str, one: str, other: str) -> None:
    """Refuses a document that is there twice and is not the same."""
    why = "an id must be one document's; leave one out, or give them other ids"
    raise StateError(f"document {id!r} was given twice with different contents: {one} and {other}; {why}")


def origin(part: Path, id: str) -> str:
    """Where a document of a part came from."""
    with (part / SOURCES).open() as index:
        for line in index:
            name, source = json.loads(line)
            if name == id:
                return str(source)
    return EARLIER


def origin_in(documents: list[Found], id: str) -> str:
    """Where a document of a batch came from."""
    return next(source for name, _, _, source in documents if name == id)


# How far workers are


def report(work: Path, shard: int, read: int) -> None:
    """Writes down how much of a shard was read, and who does it."""
    place = work / PROGRESS / f"{shard:05}.json"
    place.parent.mkdir(exist_ok=True)
    beside = place.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps({"bytes": read, "pid": os.getpid(), "host": platform.node()}))
    beside.replace(place)


def bytes_read(work: Path) -> int:
    """How much was read, by all."""
    read = 0
    for each in (work / PROGRESS).glob("*.json"):
        read += int(json.loads(each.read_text())["bytes"])
    return read
