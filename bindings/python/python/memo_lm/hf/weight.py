"""How much a memory counts beside a language model, position by position.

`weight="auto"` is one rule, `AUTO`: a logistic function of what is known at the position. That is how far back the
memory has seen the text before, how often and with how many continuations, whether it is being quoted, how well the
memory expected the last tokens, and how sure each of the two is.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Union

import numpy as np
from numpy.typing import NDArray

from memo_lm import InvalidError, _memo
from memo_lm.inputs import number
from memo_lm.matches import Matches

_AUTO = dict(_memo.auto())


@dataclass(frozen=True)
class Auto:
    """The rule: the log-odds of the memory are a sum, each constant times what it is for. The library computes it.

    The constants were fitted, by likelihood, to six texts of which four fifths were memorized (two libraries' sources,
    prose of three kinds, short facts): memorized and held-out parts alike, with unrelated text held to .2 % above the
    model alone at sixty times the price. docs/experiments/partner.md has how they do on others.
    """

    offset: float = _AUTO["offset"]
    """Always."""
    matched: float = _AUTO["matched"]
    """ln(1 + tokens of the longest context that occurred)."""
    times: float = _AUTO["times"]
    """ln(1 + times that it did)."""
    kinds: float = _AUTO["kinds"]
    """ln(1 + different tokens that followed it)."""
    quote: float = _AUTO["quote"]
    """Log-odds that the memory is being quoted, from -9.2 to 9.2."""
    familiarity: float = _AUTO["familiarity"]
    """The mean ln of what the memory gave the last tokens."""
    memory: float = _AUTO["memory"]
    """ln of the memory's doubt: 1.001 − the probability of its best token."""
    model: float = _AUTO["model"]
    """ln of the model's doubt, the same."""
    agreed: float = _AUTO["agreed"]
    """ln of what the model gives the memory's best token, at least −15."""

    def weights(self, seen: Matches, model: NDArray[np.float64], agreed: NDArray[np.float64]) -> NDArray[np.float64]:
        """The memory's weight at each position.

        seen: how well the memory knows them.
        model: the log-probability of the model's best token.
        agreed: the log-probability that the model gives the memory's best token.
        """
        known = (seen.matched, seen.times, seen.kinds, seen.quote, seen.familiarity)
        if not len(seen.matched) == len(model) == len(agreed):
            raise InvalidError(f"{len(seen.matched)}, {len(model)} and {len(agreed)} positions must be as many")
        return _memo.weights(astuple(self), *known, np.log(seen.probability), model, agreed)


AUTO = Auto()
"""The rule of `weight="auto"`."""

Weight = Union[str, float, Auto]
"""How much a memory counts: "auto", a number from 0 to 1, or a rule."""


def which(given: Weight) -> float | Auto:
    """The rule or the number that is meant."""
    if isinstance(given, Auto):
        return given
    if given == "auto":
        return AUTO
    if isinstance(given, str):
        raise InvalidError(f'weight={given!r} must be "auto" or a number from 0 to 1')
    weight = number("weight", given)
    if not 0.0 <= weight <= 1.0:
        raise InvalidError(f"weight={given!r} must be from 0, the model alone, to 1, the memory alone")
    return weight
