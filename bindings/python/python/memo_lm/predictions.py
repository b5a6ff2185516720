"""What a memory says comes next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Prediction(NamedTuple):
    """A token that the memory returns, and its weight."""

    token: int
    weight: float

    @classmethod
    def first(cls, tokens: NDArray[np.uint32], weights: NDArray[np.float32]) -> Prediction:
        """The first of several."""
        return cls(int(tokens[0]), float(weights[0]))
