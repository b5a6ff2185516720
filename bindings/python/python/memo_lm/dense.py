"""The paper's model in float32, with its matrices open to be looked at: E, W_V, Prj and C."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _memo, inputs
from ._memo import DamagedError, InvalidError
from .inputs import Path, Text, Tokenizer, whole
from .oracle import Oracle
from .predictions import Prediction
from .progress import Progress, watching
from .results import Result
from .token_model import TokenModel


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


class DenseMemo(TokenModel):
    """A model of n tokens, dimension d, h heads and l layers; layer i sees windows of hⁱ tokens.

    Texts are token ids or, with a tokenizer, str. Layers are counted from 1, as in the paper. The matrices are arrays:
    `E`, `W_V(layer)`, `Prj(layer)` and `C(layer)`. Those that are stored are views of the model's own memory: C changes
    as it memorizes. Methods may be called from any thread. Ctrl-C ends a long call by KeyboardInterrupt; nothing has
    changed then.
    """

    def __init__(
        self,
        vocab: int | None = None,
        dim: int = 2048,
        heads: int = 4,
        layers: int = 3,
        *,
        tokenizer: Tokenizer | None = None,
        words_from: Iterable[str] | None = None,
        seed: int = 0,
        codes: Literal["gaussian", "hadamard"] = "gaussian",
        composition: Literal["jlt", "bind", "product"] = "jlt",
        recall: Literal["stored", "computed"] | float = "stored",
        distiller: Literal["memory", "unclamped", "exact", "off"] = "memory",
        stride: Literal["token", "block"] = "token",
        edges: Literal["inside", "padded"] = "inside",
        update_rows: int = 1024,
        threads: int = 0,
        memory_limit: int | str | None = None,
    ) -> None:
        """The defaults are the paper's equations; vocab or a tokenizer must be given.

        tokenizer, words_from: as in `Memo.create`; vocab is then the tokenizer's. composition: how codes of a block
        become one, by the paper's Prj, by binding, or by the authors' product, which ignores order. recall: where
        retrieval takes codes of inner sequences from: the inner memories, the composition, or a blend, by the share α
        of the stored ones. distiller: how inner memories avoid storing a sequence twice; "unclamped" is the paper's Φ
        as printed. stride: whether a window ends at every token, or windows tile the text. edges: whether windows may
        reach before the beginning. memory_limit: refuse to take more bytes, as in "2GiB".
        """
        super().__init__(vocab, tokenizer, words_from)
        self._memo = _memo.DenseMemo(
            self._vocab,
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
        sizes = [f"{name}={config[name]}" for name in ("vocab", "dim", "heads", "layers")]
        tokenizer = [] if self.tokenizer is None else [f"tokenizer={self.tokenizer}"]
        return f"<memo_lm.DenseMemo {', '.join(sizes + tokenizer)}>"

    @property
    def config(self) -> dict[str, Any]:
        """Everything that defines the model but its tokenizer: `DenseMemo(**memo.config)` makes another, empty one."""
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
        return self._memo.parameters

    @property
    def nbytes(self) -> int:
        """Bytes of codes, projections and memories."""
        return self._memo.nbytes

    @property
    def window(self) -> int:
        """hˡ, the longest window."""
        return self._memo.window

    # Files

    def save(self, path: Path, *, progress: Progress = None) -> None:
        """Writes the model to a safetensors file, its tokenizer included: the whole file or, if that fails, nothing."""
        with watching(progress) as told:
            self._memo.save(os.fspath(path), self._notes(), told)

    @classmethod
    def load(
        cls, path: Path, *, threads: int = 0, memory_limit: int | str | None = None, progress: Progress = None
    ) -> DenseMemo:
        """Reads a model from its file. It predicts what the saved one did, bit for bit."""
        limit = inputs.size("memory_limit", memory_limit)
        with watching(progress) as told:
            inner, notes = _memo.DenseMemo.load(os.fspath(path), whole("threads", threads), limit, told)
        return cls._of(inner, notes)

    def __reduce__(self) -> tuple[Any, ...]:
        # As bytes: in another process a file may be another, or none.
        return _unpickled, (type(self), self._memo.to_bytes(self._notes()), self._memo.threads)

    def _notes(self) -> dict[str, str]:
        notes = {"tokenizer": self.tokenizer, "tokenizer.json": self.tokenizer_json}
        return {name: note for name, note in notes.items() if note is not None}

    @classmethod
    def _of(cls, inner: _memo.DenseMemo, notes: Mapping[str, str]) -> DenseMemo:
        memo = cls.__new__(cls)
        memo._memo = inner
        memo._vocab = memo.config["vocab"]
        name, kept = notes.get("tokenizer"), notes.get("tokenizer.json")
        memo._tokenizer = None if name is None else _memo.Tokenizer(name, None if kept is None else kept.encode())
        if memo._tokenizer is not None and memo._tokenizer.vocab_size != memo._vocab:
            raise DamagedError(f"the tokenizer {name} does not have the {memo._vocab} tokens of the model in the file")
        return memo

    # The model

    def memorize(self, text: Text, *, progress: Progress = None) -> None:
        """Memorizes a text. Nothing is stored across its ends."""
        with watching(progress) as told:
            self._memo.memorize_all(self._text(text, told), told)

    def memorize_all(self, texts: Iterable[Text], *, progress: Progress = None) -> None:
        """Memorizes texts: the same as one after the other, and faster where they are short."""
        with watching(progress) as told:
            self._memo.memorize_all(self._texts(texts, told), told)

    def forget(self, text: Text, *, completely: bool = False, progress: Progress = None) -> None:
        """Subtracts what memorizing a text added to the last memory. Nothing checks that it was memorized.

        Inner memories keep the text's sequences, from which it can be read again.
        completely: from the inner memories too, which needs the distiller "exact" or "off", or computed recall.
        """
        with watching(progress) as told:
            self._memo.forget_all(self._text(text, told), completely, told)

    def forget_all(self, texts: Iterable[Text], *, completely: bool = False, progress: Progress = None) -> None:
        """Forgets texts: all of them or, if one is refused, none."""
        with watching(progress) as told:
            self._memo.forget_all(self._texts(texts, told), completely, told)

    def expected_recall(self) -> float:
        """The share of memorized tokens that the model should still predict, from its load and dimension.

        It assumes that texts repeat little, are much longer than a window, and that recall is computed.
        """
        return self._memo.expected_recall()

    def weights(self, context: Text) -> NDArray[np.float32]:
        """The weight of every token after a context."""
        weights: NDArray[np.float32] = self._memo.weights_all([self._ids(context)])[0]
        return weights

    def weights_all(self, contexts: Iterable[Text], *, progress: Progress = None) -> NDArray[np.float32]:
        """The same for many contexts: a row each."""
        with watching(progress) as told:
            return self._memo.weights_all(self._all_ids(contexts, told), told)

    def predict(self, context: Text) -> Prediction:
        """The token with the largest weight after a context."""
        return Prediction.first(*self._memo.predict_all([self._ids(context)]))

    def predict_all(
        self, contexts: Iterable[Text], *, progress: Progress = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """The same for many contexts: tokens, and their weights."""
        with watching(progress) as told:
            return self._memo.predict_all(self._all_ids(contexts, told), told)

    def predict_along(self, text: Text, *, progress: Progress = None) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        """What comes after the first token, the first two, and so on: tokens, and their weights."""
        with watching(progress) as told:
            return self._memo.predict_along(self._ids(text, told), told)

    def trace(self, context: Text, top: int = 5) -> Trace:
        """Follows a context up the layers, with the top candidates of each."""
        return Trace.read(self._memo.trace(self._ids(context), whole("top", top)))

    def complete(self, prompt: Text, max_tokens: int = 64, *, progress: Progress = None) -> str:
        """What follows a prompt up to the end of a text: each time the token with the largest weight."""
        tokenizer, ids = self._need_tokenizer(), self._ids(prompt)
        return tokenizer.decode_after(ids, self.complete_tokens(ids, max_tokens, progress=progress))

    def complete_all(self, prompts: Iterable[Text], max_tokens: int = 64, *, progress: Progress = None) -> list[str]:
        """The same for many prompts."""
        tokenizer = self._need_tokenizer()
        with watching(progress) as told:
            ids = self._all_ids(prompts, told)
            new = self._memo.complete_all(ids, whole("max_tokens", max_tokens), self.eos, told)
        return [tokenizer.decode_after(prompt, tokens) for prompt, tokens in zip(ids, new)]

    def complete_tokens(self, prompt: Text, max_tokens: int = 64, *, progress: Progress = None) -> NDArray[np.uint32]:
        """The same as token ids, with or without a tokenizer."""
        with watching(progress) as told:
            ids = self._ids(prompt, told)
            return self._memo.complete_all([ids], whole("max_tokens", max_tokens), self.eos, told)[0]

    def oracle(self) -> Oracle:
        """An empty oracle with the options of this model: what it would say without noise."""
        config = {name: value for name, value in self.config.items() if name in _ORACLES}
        oracle = Oracle(**config)
        oracle._tokenizer = self._tokenizer
        return oracle

    # Its matrices

    @property
    def E(self) -> NDArray[np.float32]:
        """The codes of all tokens, (n, d). Hadamard codes are not stored and are made here."""
        return self._memo.codes()

    def codes(self, first: int = 0, last: int | None = None) -> NDArray[np.float32]:
        """Rows of E from first to before last."""
        return self._memo.codes(whole("first", first), whole("last", last))

    def W_V(self, layer: int) -> NDArray[np.float32]:
        """What reduces a code to one head of a key, (d/h, d)."""
        return self._memo.reduction(whole("layer", layer))

    def Prj(self, layer: int) -> NDArray[np.float32]:
        """What makes one code of h codes, (d, h·d)."""
        matrix = self._memo.projection(whole("layer", layer))
        if matrix is None:
            last = layer == self.config["layers"]
            why = "the last layer has none" if last else f"composition='{self.config['composition']}' is not linear"
            raise InvalidError(f"there is no Prj of layer {layer}: {why}")
        return matrix

    def C(self, layer: int) -> NDArray[np.float32]:
        """A memory, (d, d), its rows keys: a read-only view, which changes as the model does."""
        cells = self._memo.memory(whole("layer", layer))
        if cells is None:
            why = "with recall='computed' only the last layer has a memory"
            raise InvalidError(f"there is no C of layer {layer}: {why}")
        return cells

    def set_C(self, layer: int, cells: ArrayLike) -> None:
        """Puts other cells in place of a memory's."""
        self._memo.set_memory(whole("layer", layer), _matrix(cells))

    def compose(self, layer: int, codes: ArrayLike) -> NDArray[np.float32]:
        """The code of h codes, (h, d)."""
        return self._memo.compose(whole("layer", layer), _matrix(codes))


# The options that an oracle has too.
_ORACLES = ("vocab", "heads", "layers", "composition", "recall", "distiller", "stride", "edges")


def _unpickled(kind: type[DenseMemo], data: bytes, threads: int) -> DenseMemo:
    return kind._of(*_memo.DenseMemo.from_bytes(data, threads))


def _matrix(given: ArrayLike) -> NDArray[np.float32]:
    matrix = np.asarray(given, np.float32)
    if matrix.ndim != 2:
        raise InvalidError(f"a matrix is needed; this array has {matrix.ndim} dimensions: {matrix.shape}")
    return matrix
