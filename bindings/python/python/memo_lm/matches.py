"""How well a memory knows the positions of a text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Matches(NamedTuple):
    """How well a memory knows each position of a text: arrays of one value a position.

    Position p is what comes after the first p tokens; there is one more position than there are tokens.
    """

    matched: NDArray[np.uint32]
    """How many of the tokens before it the longest context has that occurred; 0 where not even the last one did.

    At the beginning of a text it is 1 if any document began there."""
    times: NDArray[np.int64]
    """How often that context occurred."""
    kinds: NDArray[np.int64]
    """How many different tokens followed it."""
    quote: NDArray[np.float64]
    """The probability that the text is being quoted from the memory there."""
    familiarity: NDArray[np.float64]
    """How well the memory expected the last tokens before it: the mean natural logarithm of what it gave each."""
    best: NDArray[np.uint32]
    """The most probable next token."""
    probability: NDArray[np.float64]
    """Its probability."""
