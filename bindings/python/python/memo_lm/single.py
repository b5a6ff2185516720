"""The language model of a single memory: section 3.1 of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _memo, inputs
from ._memo import InvalidError
from .inputs import Text, Tokenizer, whole
from .predictions import Prediction
from .token_model import TokenModel

Windows = Union[Iterable[Text], NDArray[np.integer[Any]]]
"""Windows of h tokens: a list of them, or an array (m, h)."""


class SingleMemory(TokenModel):
    """One matrix from windows of h tokens to the token that follows. Windows that share k of h tokens count k/h.

    Texts and windows are token ids or, with a tokenizer, str.
    """

    def __init__(
        self,
        vocab: int | None = None,
        dim: int = 2048,
        heads: int = 4,
        *,
        tokenizer: Tokenizer | None = None,
        words_from: Iterable[str] | None = None,
        head_dim: int | None = None,
        codes: Literal["gaussian", "hadamard"] = "gaussian",
        seed: int = 0,
        symbols: ArrayLike | None = None,
    ) -> None:
        """Cells are (h·d_h, d); vocab or a tokenizer must be given.

        head_dim: d_h, the dimensions that each token of a window takes in a key; d/h if nothing is said. symbols:
        vectors of all tokens, (n, d_h), in place of W_V·x.
        """
        super().__init__(vocab, tokenizer, words_from)
        self._heads = whole("heads", heads)
        given = None if symbols is None else np.ascontiguousarray(symbols, np.float32)
        width = whole("head_dim", head_dim) if head_dim is not None else whole("dim", dim) // max(self._heads, 1)
        if given is not None and given.shape != (self._vocab, width):
            raise InvalidError(f"symbols of shape {given.shape}: those of all tokens are ({self._vocab}, {width})")
        self._memo = _memo.SingleMemory(
            self._vocab,
            whole("dim", dim),
            self._heads,
            head_dim=whole("head_dim", head_dim),
            codes=codes,
            seed=whole("seed", seed),
            symbols=given,
        )

    def memorize(self, text: Text) -> None:
        """Memorizes every window of a text with the token that follows it."""
        self._memo.memorize_all(self._text(text))

    def memorize_all(self, texts: Iterable[Text]) -> None:
        """Memorizes several texts."""
        self._memo.memorize_all(self._texts(texts))

    def forget(self, text: Text) -> None:
        """Subtracts what memorizing a text added."""
        self._memo.forget_all(self._text(text))

    def forget_all(self, texts: Iterable[Text]) -> None:
        """Subtracts what memorizing several texts added."""
        self._memo.forget_all(self._texts(texts))

    def memorize_pairs(self, windows: Windows, next: Text) -> None:
        """Memorizes windows and, for each, the token that follows."""
        self._memo.memorize_pairs(self._windows(windows), self._ids(next))

    def forget_pairs(self, windows: Windows, next: Text) -> None:
        """Subtracts what memorizing pairs added."""
        self._memo.forget_pairs(self._windows(windows), self._ids(next))

    def weights(self, window: Text) -> NDArray[np.float32]:
        """The weight of every token after a window."""
        weights: NDArray[np.float32] = self._memo.weights_all(self._window(self._ids(window)))[0]
        return weights

    def weights_all(self, windows: Windows) -> NDArray[np.float32]:
        """The same for many windows: a row each."""
        return self._memo.weights_all(self._windows(windows))

    def predict(self, window: Text) -> Prediction:
        """The token with the largest weight after a window."""
        return Prediction.first(*self._memo.predict_all(self._window(self._ids(window))))

    def predict_all(self, windows: Windows) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The same for many windows: tokens, and their weights."""
        return self._memo.predict_all(self._windows(windows))

    def expected_recall(self) -> float:
        """The share of memorized pairs that the memory should still return, from its load and shape."""
        return self._memo.expected_recall()

    @property
    def C(self) -> NDArray[np.float32]:
        """The memory, (h·d_h, d), its rows keys: a read-only view, which changes as the model does."""
        return self._memo.memory()

    @property
    def parameters(self) -> int:
        """Cells of the memory."""
        return int(self.C.size)

    def _windows(self, given: Windows) -> NDArray[np.uint32]:
        """Windows one after the other."""
        if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == self._heads:
            return inputs.token_ids(given.reshape(-1), self._vocab)
        windows = [self._window(window, f"window {n}: ") for n, window in enumerate(self._all_ids(given))]
        return np.concatenate(windows) if windows else np.empty(0, np.uint32)

    def _window(self, window: NDArray[np.uint32], where: str = "") -> NDArray[np.uint32]:
        if len(window) != self._heads:
            raise InvalidError(f"{where}{len(window)} tokens were given; a window has {self._heads}")
        return window
