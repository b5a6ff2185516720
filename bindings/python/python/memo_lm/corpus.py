"""Documents of files, read by the code that the command line reads them with, under the same ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

import numpy as np
from numpy.typing import NDArray

from . import _memo

Content = Union[str, NDArray[np.uint8]]
FileDocument = tuple[str, Content, dict[str, str], str]
"""A document of a file: its id, its content, its labels, and where it was read."""


@dataclass(frozen=True)
class CorpusOptions:
    """How files are read."""

    raw: bool = False
    """Bytes are taken as they are, for the tokenizer `bytes`."""
    jsonl_field: str | None = None
    """Every file is JSON lines, and this field has the text."""
    id_field: str | None = None
    """The field of JSON lines that has the id, which every line must have; `id`, where a line has it, if None."""
    label_fields: Sequence[str] = ()
    """Fields of JSON lines that become labels."""
    prefix: str = ""
    """What all ids begin with."""
    include: Sequence[str] = ()
    """Of folders and globs, only files that match."""
    exclude: Sequence[str] = ()
    """Of folders and globs, nothing that matches."""
    ignore: bool = True
    """Whether `.gitignore` and `.ignore` count."""
    strict: bool = False
    """Whether a file of a folder or glob that cannot be read is an error."""
    max_bytes: int | None = None
    """The largest document."""


def documents(corpus: _memo.Corpus) -> Iterator[FileDocument]:
    """The documents of a corpus. A byte is its own token."""
    for id, content, labels, where in corpus:
        yield id, np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content, labels, where


def names(given: str | Iterable[str]) -> list[str]:
    """One name, or several."""
    return [given] if isinstance(given, str) else list(given)
