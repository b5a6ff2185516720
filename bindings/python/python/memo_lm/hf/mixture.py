"""The mixture of a memory's distribution and a language model's: log(w·p(memory) + (1 − w)·p(model))."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from memo_lm import Memo
from memo_lm.inputs import number
from memo_lm.matches import Matches

from .reading import Reading, Request
from .vocabulary import Vocabulary
from .weight import Auto, Weight, which

POSITIONS = 256
"""Positions that are read at a time: a row is as long as the vocabulary."""


class Mixture:
    """A memory beside a language model of the same vocabulary."""

    def __init__(self, memo: Memo, vocabulary: Vocabulary, weight: Weight = "auto", generalize: float = 1.0) -> None:
        self.memo = memo
        self.vocabulary = vocabulary
        self.weight = which(weight)
        self.reading = Reading(memo, number("generalize", generalize))

    def mixed(
        self, logits: torch.Tensor, rows: Sequence[tuple[NDArray[np.int64], NDArray[np.intp]]]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of both together, [batch, positions, vocabulary], and the memory's weights.

        rows: for each text its tokens, and after how many of them each of its positions is.
        """
        logs = torch.log_softmax(logits.float(), -1)
        weight = torch.empty(logits.shape[:2])
        for first in range(0, logits.shape[1], POSITIONS):
            part = slice(first, first + POSITIONS)
            self._mix(logs[:, part], [(tokens, known[part]) for tokens, known in rows], weight[:, part])
        return logs, weight.to(logits.device)

    def _mix(
        self,
        logs: torch.Tensor,
        rows: Sequence[tuple[NDArray[np.int64], NDArray[np.intp]]],
        weight: torch.Tensor,
    ) -> None:
        requests: list[Request] = []
        places: list[NDArray[np.intp]] = []
        for tokens, known in rows:
            before = np.maximum(known - self.vocabulary.begins(tokens), 0)
            first, last = (int(before.min()), int(before.max()) + 1) if len(before) else (0, 0)
            requests.append((self.vocabulary.text(tokens), first, last))
            places.append(before - first)
        for row, ((read, seen), place) in enumerate(zip(self.reading.rows(requests), places)):
            model = logs[row]
            # A fancy index copies; most often the positions are all that were read, in order.
            whole = len(place) == len(read) and bool((np.diff(place) == 1).all())
            kept = read if whole else read[place]
            memory = self.vocabulary.logs(torch.from_numpy(kept)).to(model.device)
            weight[row] = self._weights(model, Matches._make(values[place] for values in seen))
            own = weight[row].to(model.device)[:, None]
            logs[row] = torch.logaddexp(memory + torch.log(own), model + torch.log1p(-own))

    def _weights(self, model: torch.Tensor, seen: Matches) -> torch.Tensor | float:
        """The memory's weight at each position."""
        if not isinstance(self.weight, Auto):
            return self.weight
        best = self.vocabulary.token(torch.from_numpy(seen.best.astype(np.int64))).to(model.device)
        agreed = model.gather(1, best.clamp(min=0)[:, None])[:, 0]
        agreed = torch.where(best < 0, -torch.inf, agreed)
        return torch.from_numpy(self.weight.weights(seen, _array(model.max(-1).values), _array(agreed)))


def _array(values: torch.Tensor) -> NDArray[np.float64]:
    return values.detach().double().cpu().numpy()
