"""The paper's model in float32, with its matrices open to be looked at: E, W_V, Prj and C."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _memo, inputs
from ._memo import InvalidError
from .inputs import Tokens, whole
from .results import Result


class Prediction(NamedTuple):
    """A token that the memory returns, and its weight."""

    token: int
    weight: float


@dataclass(frozen=True)
class Weighted(Result):
    """A candidate of a trace."""

    token: int
    weight: float


@dataclass(frozen=True)
class Block(Result):
    """One block of a window."""

    tokens: list[int]
    """Fewer than its length where the context does not reach that far back."""
    cosine: float
    """Between the code that the inner memory returned for it and the computed one: 1 is perfect recall, 0 none."""


@dataclass(frozen=True)
class Layer(Result):
    """What one layer contributes."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"blocks": Block, "candidates": Weighted}

    layer: int
    """From 1."""
    blocks: list[Block]
    """The h blocks of the window at the end of the context, oldest first."""
    candidates: list[Weighted]
    """The tokens that this layer's key returns with the largest weights."""
    noise: float
    """The deviation of those weights, predicted from the load of the last memory."""


@dataclass(frozen=True)
class Trace(Result):
    """What retrieval did with a context, layer by layer."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"layers": Layer, "candidates": Weighted}

    layers: list[Layer]
    candidates: list[Weighted]
    """The tokens with the largest weights in all."""
    noise: float


class DenseMemo:
    """A model of n tokens, dimension d, h heads and l layers; layer i sees windows of hⁱ tokens.

    Texts are token ids. Layers are counted from 1, as in the paper. The matrices are arrays: `E`, `W_V(layer)`,
    `Prj(layer)` and `C(layer)`. Those that are stored are views of the model's own memory: C changes as it memorizes.
    """

    def __init__(
        self,
        vocab: int,
        dim: int,
        heads: int,
        layers: int,
        *,
        seed: int = 0,
        codes: Literal["gaussian", "hadamard"] = "gaussian",
        composition: Literal["jlt", "bind"] = "jlt",
        recall: Literal["stored", "computed"] | float = "stored",
        distiller: Literal["memory", "exact", "off"] = "memory",
        stride: Literal["token", "block"] = "token",
        edges: Literal["inside", "padded"] = "inside",
        update_rows: int = 1024,
        threads: int = 0,
        memory_limit: int | str | None = None,
    ) -> None:
        """The defaults are the paper's equations.

        recall: where retrieval takes codes of inner sequences from: the inner memories, the composition, or a blend,
        by the share α of the stored ones. distiller: how inner memories avoid storing a sequence twice. stride: whether
        a window ends at every token, or windows tile the text. edges: whether windows may reach before the beginning.
        memory_limit: refuse to take more bytes, as in "2GiB".
        """
        self._vocab = vocab
        # The compiled model is changed by one thread at a time, and refuses others meanwhile.
        self._lock = threading.Lock()
        self._memo = _memo.DenseMemo(
            whole("vocab", vocab),
            whole("dim", dim),
            whole("heads", heads),
            whole("layers", layers),
            seed=whole("seed", seed),
            codes=codes,
            composition=composition,
            recall=recall,
            distiller=distiller,
            stride=stride,
            edges=edges,
            update_rows=whole("update_rows", update_rows),
            threads=whole("threads", threads),
            memory_limit=inputs.size("memory_limit", memory_limit),
        )

    def __repr__(self) -> str:
        config = self.config
        sizes = ", ".join(f"{name}={config[name]}" for name in ("vocab", "dim", "heads", "layers"))
        return f"<memo_lm.DenseMemo {sizes}>"

    @property
    def config(self) -> dict[str, Any]:
        """Everything that defines the model: `DenseMemo(**memo.config)` makes another, empty one."""
        with self._lock:
            config: dict[str, Any] = json.loads(self._memo.config)
        for name, value in config.items():
            if isinstance(value, str):
                config[name] = value.lower()
        if isinstance(config["recall"], dict):
            config["recall"] = config["recall"]["Blend"]
        return config

    @property
    def parameters(self) -> int:
        """Cells of all memories."""
        with self._lock:
            return self._memo.parameters

    @property
    def nbytes(self) -> int:
        """Bytes of codes, projections and memories."""
        with self._lock:
            return self._memo.nbytes

    @property
    def window(self) -> int:
        """hˡ, the longest window."""
        with self._lock:
            return self._memo.window

    # The model

    def memorize(self, text: Tokens) -> None:
        """Memorizes a text. Nothing is stored across its ends."""
        with self._lock:
            self._memo.memorize(self._ids(text))

    def memorize_all(self, texts: Iterable[Tokens]) -> None:
        """Memorizes texts: the same as one after the other, and faster where they are short."""
        given = [self._ids(text) for text in texts]
        with self._lock:
            self._memo.memorize_all(given)

    def forget(self, text: Tokens, *, completely: bool = False) -> None:
        """Subtracts what memorizing a text added to the last memory. Nothing checks that it was memorized.

        completely: also the inner sequences that no other text uses, which needs the exact distiller.
        """
        with self._lock:
            self._memo.forget(self._ids(text), completely)

    def weights(self, context: Tokens) -> NDArray[np.float32]:
        """The weight of every token after a context."""
        with self._lock:
            return self._memo.weights(self._ids(context))

    def predict(self, context: Tokens) -> Prediction:
        """The token with the largest weight after a context."""
        with self._lock:
            return Prediction(*self._memo.predict(self._ids(context)))

    def predict_along(self, text: Tokens) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """What comes after the first token, the first two, and so on: tokens, and their weights."""
        with self._lock:
            return self._memo.predict_along(self._ids(text))

    def trace(self, context: Tokens, top: int = 5) -> Trace:
        """Follows a context up the layers, with the top candidates of each."""
        with self._lock:
            return Trace.read(self._memo.trace(self._ids(context), whole("top", top)))

    # Its matrices

    @property
    def E(self) -> NDArray[np.float32]:
        """The codes of all tokens, (n, d). Hadamard codes are not stored and are made here."""
        with self._lock:
            return self._memo.codes()

    def codes(self, first: int = 0, last: int | None = None) -> NDArray[np.float32]:
        """Rows of E from first to before last."""
        with self._lock:
            return self._memo.codes(whole("first", first), whole("last", last))

    def W_V(self, layer: int) -> NDArray[np.float32]:
        """What reduces a code to one head of a key, (d/h, d)."""
        with self._lock:
            return self._memo.reduction(whole("layer", layer))

    def Prj(self, layer: int) -> NDArray[np.float32]:
        """What makes one code of h codes, (d, h·d)."""
        with self._lock:
            matrix = self._memo.projection(whole("layer", layer))
        if matrix is None:
            last = layer == self.config["layers"]
            why = "the last layer has none" if last else "composition='bind' is not linear"
            raise InvalidError(f"there is no Prj of layer {layer}: {why}")
        return matrix

    def C(self, layer: int) -> NDArray[np.float32]:
        """A memory, (d, d), its rows keys: a read-only view, which changes as the model does."""
        with self._lock:
            cells = self._memo.memory(whole("layer", layer))
        if cells is None:
            why = "with recall='computed' only the last layer has a memory"
            raise InvalidError(f"there is no C of layer {layer}: {why}")
        return cells

    def set_C(self, layer: int, cells: ArrayLike) -> None:
        """Puts other cells in place of a memory's."""
        with self._lock:
            self._memo.set_memory(whole("layer", layer), _matrix(cells))

    def compose(self, layer: int, codes: ArrayLike) -> NDArray[np.float32]:
        """The code of h codes, (h, d)."""
        with self._lock:
            return self._memo.compose(whole("layer", layer), _matrix(codes))

    def _ids(self, text: Tokens) -> NDArray[np.uint32]:
        if isinstance(text, str):
            raise InvalidError("a DenseMemo has no tokenizer; give token ids")
        return inputs.token_ids(text, self._vocab)


def _matrix(given: ArrayLike) -> NDArray[np.float32]:
    matrix = np.asarray(given, np.float32)
    if matrix.ndim != 2:
        raise InvalidError(f"a matrix is needed; this array has {matrix.ndim} dimensions: {matrix.shape}")
    return matrix
