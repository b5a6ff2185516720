"""The paper's model without vectors, and so without noise."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from . import _memo
from .inputs import Text, Tokenizer, whole
from .predictions import Prediction
from .token_model import TokenModel


class Oracle(TokenModel):
    """What a `DenseMemo` would say if it had infinitely many dimensions: exact counts of stored windows.

    It is slow, and for comparing: a `DenseMemo` must agree with it within the noise of its size. Texts are token ids
    or, with a tokenizer, str; layers are counted from 1.
    """

    def __init__(
        self,
        vocab: int | None = None,
        heads: int = 4,
        layers: int = 3,
        *,
        tokenizer: Tokenizer | None = None,
        words_from: Iterable[str] | None = None,
        composition: Literal["jlt", "bind", "product"] = "jlt",
        recall: Literal["stored", "computed"] | float = "stored",
        distiller: Literal["memory", "unclamped", "exact", "off"] = "memory",
        stride: Literal["token", "block"] = "token",
        edges: Literal["inside", "padded"] = "inside",
    ) -> None:
        """The options are those of `DenseMemo`; `memo.oracle()` makes one of the same options."""
        super().__init__(vocab, tokenizer, words_from)
        self._memo = _memo.Oracle(
            self._vocab,
            whole("heads", heads),
            whole("layers", layers),
            composition=composition,
            recall=recall,
            distiller=distiller,
            stride=stride,
            edges=edges,
        )

    def memorize(self, text: Text) -> None:
        """Memorizes a text."""
        self._memo.memorize_all(self._text(text))

    def memorize_all(self, texts: Iterable[Text]) -> None:
        """Memorizes several texts."""
        self._memo.memorize_all(self._texts(texts))

    def forget(self, text: Text, *, completely: bool = False) -> None:
        """Takes a text out again; completely: also its inner sequences that no other text uses."""
        self._memo.forget_all(self._text(text), completely)

    def forget_all(self, texts: Iterable[Text], *, completely: bool = False) -> None:
        """Takes several texts out again."""
        self._memo.forget_all(self._texts(texts), completely)

    def weights(self, context: Text) -> NDArray[np.float32]:
        """The exact weight of every token after a context: the sum over all layers."""
        weights: NDArray[np.float32] = self._memo.weights_all([self._ids(context)])[0]
        return weights

    def weights_all(self, contexts: Iterable[Text]) -> NDArray[np.float32]:
        """The same for many contexts: a row each."""
        return self._memo.weights_all(self._all_ids(contexts))

    def layer_weights(self, context: Text, layer: int) -> NDArray[np.float64]:
        """What one layer alone gives to every token after a context."""
        return self._memo.layer_weights(self._ids(context), whole("layer", layer))

    def predict(self, context: Text) -> Prediction:
        """The token with the largest weight after a context, the lowest id among equals."""
        return Prediction.first(*self.predict_all([self._ids(context)]))

    def predict_all(self, contexts: Iterable[Text]) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The same for many contexts: tokens, and their weights."""
        weights = self.weights_all(contexts)
        best = weights.argmax(axis=1)
        return best.astype(np.uint32), weights[np.arange(len(best)), best]
