"""What there is to memorize, cut into items that a worker reads alone, piece by piece.

An item is a file, a range of lines of a large .jsonl, or a part of a dataset. Whatever it is, its documents and their
ids are those that the command line would find.
"""

from __future__ import annotations

import importlib
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .. import _memo
from .._memo import InvalidError, MemoError, StorageError

Content = Union[str, NDArray[np.uint8]]
Found = tuple[Optional[str], Content, str]
"""A document: its id, its content, and where it comes from."""

# Bytes of a .jsonl that are read at once, and rows of a dataset.
PIECE = 1 << 20
ROWS = 256
# Longer lines are refused.
LONGEST = (1 << 28) + 1
# A .jsonl is cut into ranges of about this many bytes, if it is much longer.
RANGE = 64 << 20
# How far a NUL is looked for, as the command line does.
HEAD = 8 << 10


@dataclass(frozen=True)
class Reading:
    """How content is read."""

    jsonl_field: str | None = None
    """Every file is JSON lines, and this field has the text."""
    raw: bool = False
    """Bytes are taken as they are, for the tokenizer `bytes`."""
    id_column: str = "id"
    text_column: str = "text"

    def is_jsonl(self, path: str) -> bool:
        """Whether a file is one document a line."""
        return self.jsonl_field is not None or Path(path).suffix.lower() in (".jsonl", ".ndjson")


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


def files(paths: Iterable[str | os.PathLike[str]]) -> list[Item]:
    """The files that paths name; folders are walked."""
    found: list[Item] = []
    for path in paths:
        # Workers have other working directories.
        whole = os.path.abspath(os.fspath(path))
        try:
            about = os.stat(whole)
        except OSError as error:
            raise StorageError(f"{path}: cannot read: {error.strerror}") from None
        if stat.S_ISDIR(about.st_mode):
            found.extend(_walk(whole, ""))
        else:
            found.append(_item(whole, os.path.basename(whole), about, inside=False))
    return found


def _walk(folder: str, id: str) -> Iterator[Item]:
    """The files of a folder. Hidden ones, links and what is no file are passed over, as on the command line."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir():
                yield from _walk(entry.path, f"{id}{entry.name}/")
            elif entry.is_file():
                yield _item(entry.path, id + entry.name, entry.stat(), inside=True)


def _item(path: str, id: str, about: os.stat_result, *, inside: bool) -> Item:
    try:
        id.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode(errors="replace")
        why = "the name is not valid UTF-8, so it cannot be a document's id; rename it"
        raise InvalidError(f"{shown}: {why}") from None
    return Item(path, id, about.st_size, about.st_mtime_ns, inside)


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
    return [
        Item(item.path, item.id, item.size, item.time, item.inside, start, end, line)
        for (start, line), end in zip(starts, ends)
    ]


# Reading


def pieces(item: Item, how: Reading) -> Iterator[Piece]:
    """The documents of an item, a few at a time."""
    about = os.stat(item.path)
    if (about.st_size, about.st_mtime_ns) != (item.size, item.time):
        raise StorageError(f"{item.path} has changed since work began; give another work_dir to begin anew")
    if item.rows:
        yield from _rows(item, how)
    elif item.inside and not how.raw and _is_binary(item.path):
        yield Piece(item.bytes)
    elif how.is_jsonl(item.path):
        yield from _lines(item, how)
    else:
        yield Piece(item.bytes, [(item.id, data, item.path) for _, data in _read(item.path, how)])


def _is_binary(path: str) -> bool:
    """As the command line sees it. What has another encoding's mark is refused when it is read."""
    with open(path, "rb") as file:
        head = file.read(HEAD)
    return b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))


def _read(path: str, how: Reading) -> list[tuple[str, Content]]:
    read = _memo.read_documents([path], jsonl_field=how.jsonl_field, raw=how.raw)
    # A byte is its own token.
    return [(id, np.frombuffer(data, np.uint8) if how.raw else data.decode()) for id, data in read]


def _lines(item: Item, how: Reading) -> Iterator[Piece]:
    """Some lines at a time, each time as a file of their own."""
    name = os.path.basename(item.path)
    with tempfile.TemporaryDirectory() as folder, open(item.path, "rb") as file:
        beside = os.path.join(folder, name)
        file.seek(item.start)
        left, line = item.bytes, item.line
        while left > 0:
            block = file.read(min(PIECE, left))
            if len(block) < left:
                block += file.readline(min(LONGEST, left - len(block)))
            if not block:
                raise StorageError(f"{item.path} is shorter than when work began")
            with open(beside, "wb") as lines:
                lines.write(block)
            try:
                read = _read(beside, how)
            except MemoError as error:
                raise type(error)(_placed(str(error), beside, item, line)) from None
            piece = Piece(len(block))
            for id, data in read:
                number = line - 1 + int(id.rpartition("#")[2])
                piece.documents.append((f"{item.id}#{number}", data, f"{item.path}:{number}"))
            yield piece
            left -= len(block)
            line += block.count(b"\n")


def _placed(message: str, beside: str, item: Item, line: int) -> str:
    """An error about some lines, as one about the file that they are of."""
    _, found, rest = message.partition(f"{beside}:")
    number, _, rest = rest.partition(":")
    if not found or not number.isdigit():
        return message.replace(beside, item.path)
    return f"{item.path}:{line - 1 + int(number)}:{rest}"


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
            piece.documents.append((id, text, f"row {row} of {item.path}"))
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
