"""Saved directories: where in them the model is, and how it gets there."""

from __future__ import annotations

import shutil
from os import PathLike
from pathlib import Path
from typing import Union

from memo_lm import Memo

Directory = Union[str, "PathLike[str]"]

MEMORY = "memory.memo"
"""Where in a saved directory the model is."""


def memory_of(directory: Directory) -> Path:
    """The model of a saved directory, or the directory itself if it is a model."""
    inside = Path(directory) / MEMORY
    return inside if inside.exists() else Path(directory)


def copy(memo: Memo, place: Path) -> None:
    """A copy of a model, in place of the one that may be there. The model notes it; receipts of forgetting name it."""
    if not place.exists():
        return _backup(memo, place)
    if place.samefile(memo.path):
        return None
    Memo.open(place, read_only=True).close()  # what is no model is not replaced
    aside = place.with_name(f"{place.name}.replaced")
    place.rename(aside)
    try:
        _backup(memo, place)
    except BaseException:
        aside.rename(place)
        raise
    shutil.rmtree(aside)
    return None


def _backup(memo: Memo, place: Path) -> None:
    if not memo.read_only:
        memo.backup(place)
    elif (memo.path / "ledger.redb").exists():
        with Memo.open(memo.path) as writable:
            writable.backup(place)
    else:
        # Frozen: files that never change.
        shutil.copytree(memo.path, place)
