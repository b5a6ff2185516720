"""What there is to memorize, cut into items that a worker reads alone, piece by piece.

An item is a file, a range of lines of a large .jsonl, or a part of a dataset. Whatever it is, its documents and their
ids are those that the command line would find.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Optional

import numpy as np

from .. import _memo, corpus
from .._memo import InvalidError, StorageError
from ..corpus import Content, CorpusOptions

Found = tuple[Optional[str], Content, dict[str, str], str]
"""A document: its id, its content, its labels, and where it comes from."""

# Characters of documents that are handed on at once, bytes of a file that are read at once, and rows of a dataset.
PIECE = 1 << 20
ROWS = 256
# Longer lines are refused.
LONGEST = (1 << 28) + 1
# A .jsonl is cut into ranges of about this many bytes, if it is much longer.
RANGE = 64 << 20


@dataclass(frozen=True)
class Reading:
    """How content is read."""

    jsonl_field: str | None = None
    """Every file is JSON lines, and this field has the text."""
    raw: bool = False
    """Bytes are taken as they are, for the tokenizer `bytes`."""
    id_column: str = "id"
    text_column: str = "text"

    @property
    def options(self) -> dict[str, Any]:
        """How files are read. Who reads them is far away, so what cannot be read is an error and not a warning."""
        return vars(CorpusOptions(self.raw, self.jsonl_field, strict=True))


@dataclass(frozen=True)
class Item:
    """A part of what there is, which one worker reads."""

    path: str
    id: str
    """What its documents are called, or begin with."""
    size: int
    """The file's bytes, to know it by."""
    time: int
    """When it was changed, in nanoseconds, to know it by."""
    inside: bool = False
    """It was found in a folder: if it is no text, it is passed over."""
    start: int = 0
    end: int = -1
    """Up to this byte; -1 is the end of the file. Of a dataset, the bytes of its texts."""
    line: int = 1
    """The number of its first line."""
    rows: bool = False
    """It is a part of a dataset."""
    lines: bool = False
    """Each of its lines is a document."""

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return (self.size if self.end < 0 else self.end) - self.start


@dataclass
class Piece:
    """Some documents of an item, and how many bytes of it they are."""

    bytes: int
    documents: list[Found] = field(default_factory=list)


# Finding files


def files(paths: Iterable[str | os.PathLike[str]], how: Reading) -> list[Item]:
    """The files that paths name; folders are walked."""
    items = []
    for found, id, inside, lines in _memo.Corpus.files([os.fspath(path) for path in paths], how.options):
        path = os.fspath(found)
        about = os.stat(path)
        items.append(Item(path, id, about.st_size, about.st_mtime_ns, inside, lines=lines))
    return items


# Cutting large files


def count_lines(path: str, start: int, end: int) -> tuple[int, int | None]:
    """The line ends in a range of a file, and where the first line after one of them begins."""
    lines, first, at = 0, None, start
    with open(path, "rb") as file:
        file.seek(start)
        while at < end:
            block = file.read(min(PIECE, end - at))
            if not block:
                break
            lines += block.count(b"\n")
            if first is None and b"\n" in block:
                first = at + block.index(b"\n") + 1
            at += len(block)
    return lines, first


def next_line(path: str, at: int) -> int:
    """Where the first line after a byte begins, or the file ends."""
    with open(path, "rb") as file:
        file.seek(at)
        file.readline(LONGEST)
        return file.tell()


def ranges(item: Item, size: int) -> list[tuple[int, int]]:
    """About equal ranges of a file of lines, of about this size."""
    count = max(1, round(item.size / size))
    cuts = [item.size * k // count for k in range(count + 1)]
    return list(zip(cuts, cuts[1:]))


def cut(item: Item, counted: Iterable[tuple[int, int | None]]) -> list[Item]:
    """The item in ranges of whole lines, from what `count_lines` said of each of its ranges."""
    starts = [(0, 1)]
    before = 0
    for k, (lines, first) in enumerate(counted):
        # The line that a range begins in belongs to the one before.
        if k > 0 and first is not None and first < item.size:
            starts.append((first, before + 2))
        before += lines
    ends = [start for start, _ in starts[1:]] + [item.size]
    return [replace(item, start=start, end=end, line=line) for (start, line), end in zip(starts, ends)]


# Reading


def pieces(item: Item, how: Reading) -> Iterator[Piece]:
    """The documents of an item, a few at a time."""
    about = os.stat(item.path)
    if (about.st_size, about.st_mtime_ns) != (item.size, item.time):
        raise StorageError(f"{item.path} has changed since work began; give another work_dir to begin anew")
    if item.rows:
        yield from _rows(item, how)
        return
    end = None if item.end < 0 else item.end
    reading = _memo.Corpus.of_file(item.path, item.id, item.inside, how.options, item.start, end, item.line)
    piece, left = Piece(0), item.bytes
    for document in corpus.documents(reading):
        piece.documents.append(document)
        # No character has less than a byte, in the file too.
        piece.bytes += len(document[1])
        if piece.bytes >= PIECE:
            yield piece
            piece, left = Piece(0), left - piece.bytes
    yield Piece(left, piece.documents)


# Datasets


def columns(path: str) -> Iterator[dict[str, list[Any]]]:
    """The rows of a file that a dataset was written to, some at a time."""
    parquet = importlib.import_module("pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS):
            yield batch.to_pydict()


def _rows(item: Item, how: Reading) -> Iterator[Piece]:
    row = 0
    for batch in columns(item.path):
        piece = Piece(0)
        for id, text in rows(batch, how):
            row += 1
            piece.bytes += len(text.encode())
            piece.documents.append((id, text, {}, f"row {row} of {item.path}"))
        yield piece


def rows(batch: dict[str, Any], how: Reading) -> Iterator[tuple[str | None, str]]:
    """Ids and texts of a batch of columns."""
    texts = batch[how.text_column]
    ids = batch.get(how.id_column)
    for n, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidError(f"the column {how.text_column!r} must have texts; one is of type {type(text).__name__}")
        id = None if ids is None else ids[n]
        if id is not None and not isinstance(id, str):
            if isinstance(id, (bool, np.bool_)) or not isinstance(id, (int, np.integer)):
                raise InvalidError(
                    f"the column {how.id_column!r} must have texts or whole numbers; one is of type {type(id).__name__}"
                )
            id = str(id)
        yield id, text


def to_json(items: list[Item]) -> list[list[Any]]:
    """Items as a manifest has them."""
    return [list(vars(item).values()) for item in items]


def from_json(items: list[list[Any]]) -> list[Item]:
    """Items of a manifest."""
    return [Item(*item) for item in items]


def known_by(items: list[Item]) -> str:
    """By what inputs are known: names, sizes and times."""
    return json.dumps([(item.path, item.id, item.size, item.time) for item in items])
