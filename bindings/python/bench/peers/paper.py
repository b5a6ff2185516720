"""The paper's model, its equations one by one in NumPy: for those who want to read it in a page.

As in docs/errata.md, windows slide, D stays in {0, 1}, and rows of I are keys already. Layers are counted from 1 in the
paper and from 0 here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .texts import Ids

Matrix = NDArray[np.float32]

# Rows of an update, over which the paper's Φ sums.
ROWS = 1024


class Paper:
    """MeMo with dimension d, h heads and l layers, for the tokens that a text has."""

    def __init__(self, ids: Ids, d: int, h: int, layers: int, seed: int = 1) -> None:
        self.tokens = np.unique(ids)
        self.h, self.layers = h, layers
        draw = np.random.default_rng(seed)

        def gaussian(rows: int, columns: int, length: int) -> Matrix:
            return draw.standard_normal((rows, columns), np.float32) / np.float32(np.sqrt(length))

        self.E = gaussian(len(self.tokens), d, d)
        # W_V keeps 1/h of a code's length, so that a key of h of them has length 1.
        self.W_V = [gaussian(d, d // h, d) for _ in range(layers)]
        self.Prj = [gaussian(h * d, d, h * d) for _ in range(layers - 1)]
        self.C = [np.zeros((d, d), np.float32) for _ in range(layers)]

    def _codes(self, ids: Ids | list[int]) -> Matrix:
        return self.E[np.searchsorted(self.tokens, np.asarray(ids))]

    def _flat(self, X: Matrix, layer: int) -> Matrix:
        """Flat_h: h codes side by side, of windows that end at every position from the first whole one on."""
        step, span = self.h**layer, self.h ** (layer + 1)
        count = len(X) - (span - step)
        return np.hstack([X[k * step : k * step + count] for k in range(self.h)])

    def _keys(self, X: Matrix, layer: int) -> Matrix:
        """I⁽ⁱ⁾ = Flat_h(X⁽ⁱ⁾ W_V⁽ⁱ⁾ᵀ)."""
        return self._flat(X @ self.W_V[layer], layer)

    def memorize(self, ids: Ids, sign: int = 1) -> None:
        """MM_m, or MM_f if the sign is -1, which leaves the inner memories as they are."""
        span = self.h**self.layers
        # The first windows of an update reach into the one before, and what is written belongs to one update alone.
        for start in range(0, len(ids), ROWS):
            first = max(0, start - span + 1)
            X = self._codes(ids[first : start + ROWS])
            after = self._codes(ids[start + 1 : start + ROWS + 1])
            skip = start - first
            for layer in range(self.layers):
                keys = self._keys(X, layer)
                # Rows whose window ends in this update.
                own = max(0, skip - (self.h ** (layer + 1) - 1))
                if len(keys) <= own:
                    break
                ends = self.h ** (layer + 1) - 1 + own - skip
                keys, Y = keys[own:], after[ends:]
                self.C[-1] += sign * (keys[: len(Y)].T @ Y)
                if layer + 1 < self.layers:
                    X = self._flat(X, layer) @ self.Prj[layer]
                    if sign > 0:
                        self.C[layer] += keys.T @ (self._distil(keys, X[own:], layer)[:, None] * X[own:])

    def _distil(self, keys: Matrix, X: Matrix, layer: int) -> Matrix:
        """Φ = D F: what is stored already, and how often a sequence is in the update."""
        total = X.sum(axis=0)
        D = np.clip(1 - np.round(keys @ (self.C[layer] @ total)), 0, 1)
        F = 1 / np.maximum(np.round(X @ total), 1)
        return (D * F).astype(np.float32)

    def weights(self, context: list[int]) -> Matrix:
        """MM_r: E ŷ, the weights of all tokens after a context."""
        X = self._codes([token for token in context if token in self])
        said = np.zeros(self.E.shape[1], np.float32)
        for layer in range(self.layers):
            if len(X) < self.h ** (layer + 1) - self.h**layer + 1:
                break
            keys = self._keys(X, layer)
            said += keys[-1] @ self.C[-1]
            X = keys @ self.C[layer]
        return self.E @ said

    def __contains__(self, token: int) -> bool:
        at = int(np.searchsorted(self.tokens, token))
        return at < len(self.tokens) and int(self.tokens[at]) == token

    def predict(self, context: list[int]) -> int:
        """argmax of the weights."""
        return int(self.tokens[int(np.argmax(self.weights(context)))])
