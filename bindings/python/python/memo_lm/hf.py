"""MeMo in Hugging Face's transformers: `MemoForCausalLM`, `MemoConfig` and `MemoTokenizer`, known to the Auto classes.

    import memo_lm.hf
    from transformers import AutoModelForCausalLM, pipeline

    memo_lm.hf.MemoForCausalLM.from_pretrained("notes.memo").save_pretrained("notes-hf")
    model = AutoModelForCausalLM.from_pretrained("notes-hf")
    pipeline("text-generation", model="notes-hf")("The owl reads")

Logits are log-probabilities, at every position, of any length. A memory has no weights of torch's: nothing here can be
trained, moved to a GPU or cast. It learns by `model.memo.memorize`, and the next call knows.

A saved directory holds config.json and generation_config.json, the tokenizer, and the model itself under memory.memo.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Union

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    GenerationConfig,
    GenerationMixin,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from memo_lm import InvalidError, Memo
from memo_lm.inputs import number, token_ids

Directory = Union[str, "PathLike[str]"]

MEMORY = "memory.memo"
"""Where in a saved directory the model is."""


def _memory(directory: Directory) -> Path:
    """The model of a saved directory, or the directory itself if it is a model."""
    inside = Path(directory) / MEMORY
    return inside if inside.exists() else Path(directory)


def _saved_generalize(directory: Directory) -> float:
    """How much the lexicon counted in a saved directory; a model directory says nothing of it."""
    saved = Path(directory) / "config.json"
    return float(json.loads(saved.read_text()).get("generalize", 1.0)) if saved.exists() else 1.0


class MemoConfig(PretrainedConfig):
    """What transformers wants to know of a memory. It follows from the model, but for `generalize`: how much its
    lexicon counts, from 0 to 1."""

    model_type = "memo"

    def __init__(
        self, vocab_size: int = 0, eos_token_id: int = 0, window: int = 0, generalize: float = 1.0, **kwargs: Any
    ) -> None:
        self.vocab_size = vocab_size
        # How many of the last tokens can matter.
        self.window = window
        self.generalize = generalize
        # The end stands for the beginning too, and pads: a masked token is as if it were not there.
        for name in ("bos_token_id", "pad_token_id"):
            kwargs.setdefault(name, eos_token_id)
        for name in ("use_cache", "tie_word_embeddings"):
            kwargs.setdefault(name, False)
        super().__init__(eos_token_id=eos_token_id, **kwargs)

    @classmethod
    def of(cls, memo: Memo, generalize: float = 1.0) -> MemoConfig:
        """That of a model."""
        return cls(memo.vocab_size, memo.eos, memo.window, generalize, architectures=["MemoForCausalLM"])


class MemoForCausalLM(PreTrainedModel, GenerationMixin):
    """A memory as a causal language model of transformers. `memo` is the model itself, open."""

    config_class = MemoConfig
    base_model_prefix = ""
    main_input_name = "input_ids"
    _no_split_modules: ClassVar[list[str]] = []

    def __init__(self, config: MemoConfig, memo: Memo | None = None) -> None:
        if memo is None:
            raise InvalidError(
                "a MemoForCausalLM needs a memory: MemoForCausalLM.from_pretrained(directory), "
                "or MemoForCausalLM.of(memo) for an open model"
            )
        super().__init__(config)
        self.memo = memo
        self.post_init()
        self.generation_config = GenerationConfig(
            bos_token_id=memo.eos, eos_token_id=memo.eos, pad_token_id=memo.eos, do_sample=False, use_cache=False
        )

    # Loading and saving

    @classmethod
    def of(cls, memo: Memo, generalize: float = 1.0) -> MemoForCausalLM:
        """An open model, which stays the caller's to close. generalize: how much its lexicon counts, from 0 to 1."""
        return cls(MemoConfig.of(memo, generalize), memo)

    @classmethod
    def from_pretrained(
        cls,
        directory: Directory,
        *args: Any,
        read_only: bool = True,
        config: Any = None,
        generalize: float | None = None,
        **kwargs: Any,
    ) -> MemoForCausalLM:
        """Opens what `save_pretrained` wrote, or a model directory itself. `read_only=False` lets it memorize.

        generalize: how much the lexicon counts, from 0 to 1; as it was saved if nothing is said.
        What else transformers passes along (types, devices, revisions) means nothing to a memory.
        """
        memory = _memory(directory)
        if not memory.exists():
            raise InvalidError(f"{directory} does not exist; models of a hub must be downloaded first")
        memo = Memo.open(memory, read_only=read_only)
        if generalize is None:
            generalize = config.generalize if isinstance(config, MemoConfig) else _saved_generalize(directory)
        model = cls.of(memo, generalize)
        model.name_or_path = model.config.name_or_path = str(directory)
        if (Path(directory) / "generation_config.json").exists():
            model.generation_config = GenerationConfig.from_pretrained(directory)
        model.eval()
        return model

    def save_pretrained(self, save_directory: Directory, *args: Any, **kwargs: Any) -> None:
        """Writes a directory for `from_pretrained` and the Auto classes: settings, tokenizer, a copy of the model."""
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        _copy(self.memo, folder / MEMORY)
        self.config.save_pretrained(folder)
        self.generation_config.save_pretrained(folder)
        tokenizer(self.memo).save_pretrained(folder)

    # Reading

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        labels: torch.Tensor | None = None,
        logits_to_keep: int | torch.Tensor = 0,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast | tuple[torch.Tensor, ...]:
        """Log-probabilities [batch, length, vocab] of the token after each position.

        A masked token is as if it were not there, wherever it stands. `logits_to_keep` asks for the last ones only, or
        for given positions. `labels` gives the mean loss of the tokens that are not -100, each from those before it.
        """
        if input_ids is None:
            raise InvalidError("a memory reads input_ids; it has no embeddings")
        ids = np.atleast_2d(input_ids.detach().cpu().numpy())
        mask = _mask(attention_mask, ids.shape)
        kept = _kept(logits_to_keep, ids.shape[1])
        rows = [self._read(row[real], real, kept) for row, real in zip(ids, mask)]
        none = np.empty((0, len(kept), self.config.vocab_size), np.float32)
        logits = torch.from_numpy(np.stack(rows) if rows else none).to(input_ids.device)
        loss = None
        if labels is not None:
            if len(kept) != ids.shape[1]:
                raise InvalidError("labels need the logits of every position; leave logits_to_keep away")
            # Logits are log-probabilities already; to normalize them once more would only add rounding.
            expected = labels[:, 1:].reshape(-1).to(logits.device)
            loss = torch.nn.functional.nll_loss(logits[:, :-1].reshape(len(expected), -1), expected, ignore_index=-100)
        if return_dict is False:
            return (logits,) if loss is None else (loss, logits)
        return CausalLMOutputWithPast(loss=loss, logits=logits)

    def _read(self, tokens: NDArray[np.int64], real: NDArray[np.bool_], kept: NDArray[np.intp]) -> NDArray[np.float32]:
        """What follows each kept position of a row, given the real tokens up to it."""
        text = token_ids(tokens, self.config.vocab_size)
        known = np.cumsum(real)[kept]
        if not len(known):
            return np.empty((0, self.config.vocab_size), np.float32)
        first, last = int(known.min()), int(known.max())
        share = number("generalize", self.config.generalize)
        logs = self.memo.core.log_distributions(text, first, last + 1, share)
        # Single precision may make the best token equal to others. The best stays the best, as `Memo.complete` sees it.
        for p, row in enumerate(logs, first):
            best = row.max()
            if np.count_nonzero(row == best) > 1:
                row[self.memo.core.next_token(text[:p], share).argmax()] = np.nextafter(best, np.float32(np.inf))
        return logs[known - first]

    def prepare_inputs_for_generation(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """All tokens so far: a memory keeps no state between two steps. Only what follows the last is wanted."""
        return {"input_ids": input_ids, "attention_mask": attention_mask, "logits_to_keep": 1}

    @property
    def device(self) -> torch.device:
        """Where it works."""
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        """Of logits."""
        return torch.float32


def _copy(memo: Memo, place: Path) -> None:
    """A copy of a model, in place of the one that may be there. The model notes it; receipts of forgetting name it."""
    if not place.exists():
        return _backup(memo, place)
    if place.samefile(memo.path):
        return None
    Memo.open(place, read_only=True).close()  # what is no model is not replaced
    aside = place.with_name(f"{place.name}.replaced")
    place.rename(aside)
    try:
        _backup(memo, place)
    except BaseException:
        aside.rename(place)
        raise
    shutil.rmtree(aside)
    return None


def _backup(memo: Memo, place: Path) -> None:
    if not memo.read_only:
        memo.backup(place)
    elif (memo.path / "ledger.redb").exists():
        with Memo.open(memo.path) as writable:
            writable.backup(place)
    else:
        # Frozen: files that never change.
        shutil.copytree(memo.path, place)


def _mask(given: torch.Tensor | None, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    if given is None:
        return np.ones(shape, bool)
    mask = np.atleast_2d(given.detach().cpu().numpy())
    if mask.shape != shape:
        raise InvalidError(f"attention_mask must be of the shape of input_ids, {list(shape)}, not {list(mask.shape)}")
    return mask.astype(bool)


def _kept(which: int | torch.Tensor, length: int) -> NDArray[np.intp]:
    positions = np.arange(length)
    if isinstance(which, torch.Tensor):
        return positions[which.detach().cpu().numpy()]
    return positions[-which:] if which else positions


# Tokenizers


class MemoTokenizer(PreTrainedTokenizer):
    """A built-in tokenizer of a model, as transformers wants one. Its tokens are those of `Memo.encode`.

    What spells a special token in a text is text, and nothing is added to a text. A vocabulary of words has no spaces:
    there a continuation is to be decoded together with its prompt, which pipelines do not do.
    """

    vocab_files_names: ClassVar[dict[str, str]] = {}
    model_input_names: ClassVar[list[str]] = ["input_ids", "attention_mask"]

    def __init__(self, memo: Memo, **kwargs: Any) -> None:
        self.memo = memo
        names = _names(memo)
        self._ids = {name: token for token, name in enumerate(names)}
        self._names = names
        for name in ("bos_token", "eos_token", "pad_token"):
            kwargs.setdefault(name, memo.eos_text)
        kwargs.setdefault("split_special_tokens", True)
        kwargs.setdefault("clean_up_tokenization_spaces", False)
        kwargs.setdefault("padding_side", "left")
        super().__init__(**kwargs)

    @classmethod
    def from_pretrained(
        cls, directory: Directory, *args: Any, memo: Memo | None = None, **kwargs: Any
    ) -> MemoTokenizer:
        """That of a saved directory, or of a model directory."""
        memo = memo or Memo.open(_memory(directory), read_only=True)
        settings = Path(directory) / "tokenizer_config.json"
        if not settings.exists():
            return cls(memo, name_or_path=str(directory))
        return super().from_pretrained(directory, *args, memo=memo, **kwargs)

    @property
    def vocab_size(self) -> int:
        """All tokens, the end among them."""
        return self.memo.vocab_size

    def get_vocab(self) -> dict[str, int]:
        """Names of tokens, bytes spelled as GPT-2 does, and their numbers."""
        return dict(self._ids)

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return [self._names[token] for token in self.memo.encode(text)]

    def _convert_token_to_id(self, token: str) -> int | None:
        return self._ids.get(token)

    def _convert_id_to_token(self, index: int) -> str:
        return self._names[index]

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text of tokens that are given by name."""
        return self._decode([self._ids[token] for token in tokens])

    def _decode(self, token_ids: int | Sequence[int], skip_special_tokens: bool = False, **kwargs: Any) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else list(token_ids)
        pieces: list[list[int]] = [[]]
        for token in ids:
            if token == self.memo.eos:
                pieces.append([])
            else:
                pieces[-1].append(token)
        end = "" if skip_special_tokens else self.memo.eos_text
        return end.join(self.memo.decode(piece) for piece in pieces)

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Nothing: the tokenizer is in the model."""
        return ()


def tokenizer(memo: Memo) -> PreTrainedTokenizerBase:
    """The tokenizer of a model as transformers wants it, whose tokens are those of `Memo.encode`."""
    if memo.tokenizer != "huggingface" or memo.tokenizer_json is None:
        return MemoTokenizer(memo)
    from tokenizers import Tokenizer

    # What would add tokens to a text is left out, as the model does.
    parts = {**json.loads(memo.tokenizer_json), "post_processor": None, "truncation": None, "padding": None}
    end = memo.eos_text
    made = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(parts)),
        bos_token=end,
        eos_token=end,
        pad_token=end,
        padding_side="left",
        model_input_names=MemoTokenizer.model_input_names,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
    )
    if made.eos_token_id != memo.eos:
        raise InvalidError(f"the end of a document is token {memo.eos} here, and {made.eos_token_id} for transformers")
    return made


def _names(memo: Memo) -> list[str]:
    """A name for each token, no two the same."""
    alphabet = _alphabet()
    names: list[str] = []
    seen: set[str] = set()
    for token in range(memo.vocab_size):
        spelled = memo.core.token_bytes(token)
        name = memo.eos_text if token == memo.eos else "".join(alphabet[byte] for byte in spelled or b"")
        if not name or name in seen:
            name = f"<|token {token}|>"
        seen.add(name)
        names.append(name)
    return names


def _alphabet() -> list[str]:
    """A visible character for each byte, as byte-level vocabularies of Hugging Face spell them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    spelled = {**{byte: chr(byte) for byte in plain}, **{byte: chr(256 + n) for n, byte in enumerate(others)}}
    return [spelled[byte] for byte in range(256)]


AutoConfig.register("memo", MemoConfig, exist_ok=True)
AutoModelForCausalLM.register(MemoConfig, MemoForCausalLM, exist_ok=True)
AutoTokenizer.register(MemoConfig, slow_tokenizer_class=MemoTokenizer, exist_ok=True)
