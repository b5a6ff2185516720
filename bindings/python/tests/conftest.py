"""Models in temporary folders: the real thing, as users have it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memo_lm import Memo
from texts import CAT, OWL


@pytest.fixture
def memo(tmp_path: Path) -> Iterator[Memo]:
    """An empty model."""
    with Memo.create(tmp_path / "notes.memo") as memo:
        yield memo


@pytest.fixture
def notes(memo: Memo) -> Memo:
    """A model of two documents, owl and cat."""
    memo.memorize([("owl", OWL), ("cat", CAT)])
    return memo
