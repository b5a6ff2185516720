"""A memory that is read along with texts that grow: what was read of each is kept, so that a step costs one query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memo_lm import Memo, _memo
from memo_lm.matches import Matches

Request = tuple[NDArray[np.uint32], int, int]
"""A text, and the positions of it from the first up to another that are asked for."""


class Reading:
    """What is read of a memory, for any number of texts at a time. It may be used from any thread."""

    def __init__(self, memo: Memo, generalize: float = 1.0) -> None:
        self.memo = memo
        self.generalize = generalize
        self._follower = _memo.Follower(memo.core, generalize)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reading, (self.memo, self.generalize)

    def __deepcopy__(self, known: dict[int, Any]) -> Reading:
        # A copy of a model reads the same memory.
        return Reading(self.memo, self.generalize)

    def rows(self, requests: Sequence[Request]) -> list[tuple[NDArray[np.float32], Matches]]:
        """For each request, log-probabilities of all tokens at its positions, and how well the memory knows these."""
        return [(logs, Matches(*seen)) for logs, seen in self._follower.read(list(requests))]

    def propose(self, text: NDArray[np.uint32], most: int, least: float) -> tuple[list[int], list[float]]:
        """What the memory would say next: at most so many tokens, each of at least this probability."""
        tokens, probabilities = self._follower.propose(text, most, least)
        return tokens.tolist(), probabilities.tolist()
