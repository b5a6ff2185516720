"""How much a memory counts beside a language model, position by position.

`weight="auto"` is one rule, `AUTO`: a logistic function of what is known at the position. That is how far back the
memory has seen the text before, how often and with how many continuations, whether it is being quoted, how well the
memory expected the last tokens, and how sure each of the two is.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Union

import torch

from memo_lm import InvalidError
from memo_lm.inputs import number

MOST = 9.0
"""The most that the log-odds of the memory can be: the model always has a say, also on tokens that only it has."""


@dataclass(frozen=True)
class Known:
    """What is known at some positions: a tensor of one value a position each."""

    matched: torch.Tensor
    """Tokens of the longest context that occurred in the memory."""
    times: torch.Tensor
    """How often it did."""
    kinds: torch.Tensor
    """How many different tokens followed it."""
    quote: torch.Tensor
    """The probability that the memory is being quoted."""
    familiarity: torch.Tensor
    """How well the memory expected the last tokens: a mean logarithm."""
    memory: torch.Tensor
    """The log-probability of the memory's best token."""
    model: torch.Tensor
    """The log-probability of the model's best token."""
    agreed: torch.Tensor
    """The log-probability that the model gives the memory's best token."""


@dataclass(frozen=True)
class Auto:
    """The rule: the log-odds of the memory are a sum, each constant times what it is for.

    The constants were fitted, by likelihood, to six texts of which four fifths were memorized (two libraries' sources,
    prose of three kinds, short facts): memorized and held-out parts alike, with unrelated text held to .2 % above the
    model alone at sixty times the price. docs/experiments/partner.md has how they do on others.
    """

    offset: float = 1.516
    """Always."""
    matched: float = 0.256
    """ln(1 + tokens of the longest context that occurred)."""
    times: float = 0.306
    """ln(1 + times that it did)."""
    kinds: float = -0.201
    """ln(1 + different tokens that followed it)."""
    quote: float = 0.468
    """Log-odds that the memory is being quoted, from -9.2 to 9.2."""
    familiarity: float = 0.237
    """The mean ln of what the memory gave the last tokens."""
    memory: float = -1.729
    """ln of the memory's doubt: 1.001 − the probability of its best token."""
    model: float = 0.984
    """ln of the model's doubt, the same."""
    agreed: float = 0.131
    """ln of what the model gives the memory's best token, at least −15."""

    def weights(self, known: Known) -> torch.Tensor:
        """The memory's weight at each position."""
        quote = torch.logit(known.quote.clamp(1e-4, 1 - 1e-4))
        agreed = known.agreed.clamp(min=-15.0)
        parts = [
            torch.ones_like(quote),
            torch.log1p(known.matched),
            torch.log1p(known.times),
            torch.log1p(known.kinds),
            quote,
            known.familiarity,
            _doubt(known.memory),
            _doubt(known.model),
            agreed,
        ]
        odds = sum((each * part for each, part in zip(astuple(self), parts)), torch.zeros_like(quote))
        return torch.sigmoid(odds.clamp(max=MOST))


def _doubt(best: torch.Tensor) -> torch.Tensor:
    return torch.log(1.001 - best.exp())


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


def weights(weight: float | Auto, known: Known) -> torch.Tensor:
    """The memory's weight at each position."""
    if isinstance(weight, Auto):
        return weight.weights(known)
    return torch.full_like(known.matched, weight)
