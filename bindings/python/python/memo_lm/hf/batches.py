"""Batches of token ids: what of them is real, and which positions are asked for."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from memo_lm import InvalidError


def real_tokens(given: torch.Tensor | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which tokens of a batch are not masked."""
    if given is None:
        return np.ones(shape, bool)
    mask = np.atleast_2d(given.detach().cpu().numpy())
    if mask.shape != shape:
        raise InvalidError(f"attention_mask must be of the shape of input_ids, {list(shape)}, not {list(mask.shape)}")
    return mask.astype(bool)


def kept_positions(which: int | torch.Tensor, length: int) -> NDArray[np.intp]:
    """The positions that `logits_to_keep` asks for: the last ones, all (0), or those that a tensor selects."""
    positions = np.arange(length)
    if isinstance(which, torch.Tensor):
        return positions[which.detach().cpu().numpy()]
    return positions[-which:] if which else positions
