"""A Ray Data dataset as files: it need not give the same rows twice, and a worker that begins again needs the same."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from typing import Any

from .._memo import InvalidError
from . import sources
from .sources import Item, Reading


@dataclass
class Survey:
    """What is in some rows. Sums of surveys are the same however rows are divided and ordered."""

    rows: int = 0
    bytes: int = 0
    digest: int = 0
    """The sum of the rows' hashes."""

    def add(self, other: Survey) -> Survey:
        """Both together."""
        self.rows += other.rows
        self.bytes += other.bytes
        self.digest = (self.digest + other.digest) % (1 << 128)
        return self


def survey(batch: dict[str, Any], how: Reading) -> Survey:
    """Of a batch of columns."""
    count, size, digest = 0, 0, 0
    for id, text in sources.rows(batch, how):
        data = text.encode()
        name = b"" if id is None else id.encode() + b"\0"
        digest += int.from_bytes(hashlib.blake2b(name + data, digest_size=16).digest(), "little")
        count, size = count + 1, size + len(data)
    return Survey().add(Survey(count, size, digest))


def survey_file(path: str, how: Reading) -> Survey:
    """Of a file that the dataset was written to."""
    found = Survey()
    for batch in sources.columns(path):
        found.add(survey(batch, how))
    return found


def survey_dataset(dataset: Any, how: Reading) -> Survey:
    """Of a whole dataset, without writing it."""

    def each(batch: dict[str, Any]) -> dict[str, Any]:
        found = survey(batch, how)
        # A number of 128 bits fits in no column.
        return {"rows": [found.rows], "bytes": [found.bytes], "digest": [str(found.digest)]}

    found = Survey()
    for row in columns(dataset, how).map_batches(each).iter_rows():
        found.add(Survey(row["rows"], row["bytes"], int(row["digest"])))
    return found


def columns(dataset: Any, how: Reading) -> Any:
    """The dataset's texts, and ids if it has them."""
    schema = dataset.schema()
    names = [] if schema is None else list(schema.names)
    if how.text_column not in names:
        raise InvalidError(f"the dataset has no column {how.text_column!r}; it has {', '.join(map(repr, names))}")
    return dataset.select_columns([name for name in (how.id_column, how.text_column) if name in names])


def write(dataset: Any, folder: str, how: Reading) -> list[str]:
    """Writes a dataset to a folder, whole or not at all; gives its files."""
    beside = folder + ".tmp"
    for leftover in (beside, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    columns(dataset, how).write_parquet(beside)
    os.rename(beside, folder)
    return sorted(entry.path for entry in os.scandir(folder) if entry.name.endswith(".parquet"))


def item(path: str, found: Survey) -> Item:
    """A file that the dataset was written to."""
    about = os.stat(path)
    return Item(path, "", about.st_size, about.st_mtime_ns, end=found.bytes, rows=True)
