"""A memory as a causal language model of transformers.

Logits are log-probabilities, at every position, of any length. A memory has no weights of torch's: nothing here can be
trained, moved to a GPU or cast. It learns by `model.memo.memorize`, and the next call knows.

A saved directory holds config.json and generation_config.json, the tokenizer, and the model itself under memory.memo.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

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
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from memo_lm import InvalidError, Memo
from memo_lm.inputs import number, token_ids

from .batches import kept_positions, real_tokens
from .files import MEMORY, Directory, copy, memory_of
from .reading import Reading, Request
from .tokenizers import MemoTokenizer, tokenizer


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
        self._reading = Reading(memo, number("generalize", config.generalize))
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
        memory = memory_of(directory)
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
        copy(self.memo, folder / MEMORY)
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
        mask = real_tokens(attention_mask, ids.shape)
        kept = kept_positions(logits_to_keep, ids.shape[1])
        rows = self._read([(row[real], np.cumsum(real)[kept]) for row, real in zip(ids, mask)])
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

    def _read(self, rows: list[tuple[NDArray[np.int64], NDArray[np.intp]]]) -> list[NDArray[np.float32]]:
        """For each row, the log-probabilities after so many of its tokens, for each of several numbers of them."""
        share = number("generalize", self.config.generalize)
        if self._reading.generalize != share:
            self._reading = Reading(self.memo, share)
        requests: list[Request] = []
        for tokens, known in rows:
            first, last = (int(known.min()), int(known.max()) + 1) if len(known) else (0, 0)
            requests.append((token_ids(tokens, self.config.vocab_size), first, last))
        read = self._reading.rows(requests)
        return [logs[known - first] for (logs, _), (_, known), (_, first, _) in zip(read, rows, requests)]

    def prepare_inputs_for_generation(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """All tokens so far: what was read of them before is known by them. Only what follows the last is wanted."""
        kept = kwargs.get("logits_to_keep") or 1
        return {"input_ids": input_ids, "attention_mask": attention_mask, "logits_to_keep": kept}

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        """There are no keys and values to keep: `Reading` keeps what was read, whatever `use_cache` says."""
        return False

    @property
    def device(self) -> torch.device:
        """Where it works."""
        return torch.device("cpu")

    @property
    def dtype(self) -> torch.dtype:
        """Of logits."""
        return torch.float32


AutoConfig.register("memo", MemoConfig, exist_ok=True)
AutoModelForCausalLM.register(MemoConfig, MemoForCausalLM, exist_ok=True)
AutoTokenizer.register(MemoConfig, slow_tokenizer_class=MemoTokenizer, exist_ok=True)
