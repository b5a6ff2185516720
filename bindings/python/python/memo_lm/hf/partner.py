"""A memory beside a language model that you have: `MemoryProcessor` for its `generate`, and `WithMemory`, a model whose
logits are the mixture."""

from __future__ import annotations

import copy
import inspect
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoModelForCausalLM,
    GenerationMixin,
    LogitsProcessor,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.modeling_outputs import CausalLMOutputWithPast

from memo_lm import InvalidError, Memo

from .batches import kept_positions, real_tokens
from .mixture import Mixture
from .vocabulary import Vocabulary
from .weight import Weight

REMEMBERED = "_memo_text"
"""Where in a cache of the model's the tokens are that it is of."""


class MemoryProcessor(LogitsProcessor):
    """Mixes a memory into a model's `generate`: `lm.generate(…, logits_processor=[MemoryProcessor(memo)])`.

    weight: how much the memory counts: "auto", a number from 0 to 1, or an `Auto` of your own.
    tokenizer: the model's, which is compared with the memory's, and says which tokens begin, end and pad a text.
    pad_token_id: the token that prompts are padded with on the left, for batches without a tokenizer.
    generalize: how much the memory's lexicon counts, from 0 to 1.
    """

    def __init__(
        self,
        memo: Memo,
        weight: Weight = "auto",
        *,
        tokenizer: PreTrainedTokenizerBase | None = None,
        pad_token_id: int | None = None,
        generalize: float = 1.0,
    ) -> None:
        self.memo = memo
        self.weight = weight
        self.generalize = generalize
        self.tokenizer = tokenizer
        self.pad = pad_token_id if pad_token_id is not None else getattr(tokenizer, "pad_token_id", None)
        self._mixture: Mixture | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """The log-probabilities of both together, from the scores of the model."""
        mixture = self._mixture
        if mixture is None or mixture.vocabulary.rows != scores.shape[-1]:
            begin, end = (getattr(self.tokenizer, name, None) for name in ("bos_token_id", "eos_token_id"))
            vocabulary = Vocabulary(self.memo, scores.shape[-1], end, begin, self.tokenizer)
            mixture = self._mixture = Mixture(self.memo, vocabulary, self.weight, self.generalize)
        rows = []
        for row in input_ids.detach().cpu().numpy():
            real = row[self._padding(row) :]
            rows.append((real, np.array([len(real)])))
        return mixture.mixed(scores[:, None], rows)[0][:, 0]

    def _padding(self, row: NDArray[np.int64]) -> int:
        """How many tokens a row begins with that pad it."""
        if self.pad is None:
            return 0
        real = np.flatnonzero(row != self.pad)
        return int(real[0]) if len(real) else len(row)


class PartnerConfig(PretrainedConfig):
    """What pipelines know `WithMemory` by; a model with a memory has the settings of the model."""

    model_type = "memo_partner"


class WithMemory(PreTrainedModel, GenerationMixin):
    """A causal language model with a memory: its logits are log(w·p(memory) + (1 − w)·p(model)).

    `generate`, pipelines, recipes for perplexity and the evaluation harness take it as they take the model. `lm` and
    `memo` are what it was made of; what `memo` memorizes or forgets, the next call knows.

    weight: how much the memory counts: "auto", a number from 0 to 1, or an `Auto` of your own.
    tokenizer: the model's, which is compared with the memory's token by token; without it only their sizes are.
    generalize: how much the memory's lexicon counts, from 0 to 1.
    """

    config_class = PartnerConfig
    main_input_name = "input_ids"
    base_model_prefix = ""
    _no_split_modules: ClassVar[list[str]] = []
    # What the model's attention does is the model's business.
    _supports_sdpa = _supports_flash_attn = _supports_flex_attn = _supports_attention_backend = True

    def __init__(
        self,
        lm: PreTrainedModel,
        memo: Memo,
        weight: Weight = "auto",
        *,
        tokenizer: PreTrainedTokenizerBase | None = None,
        generalize: float = 1.0,
    ) -> None:
        if getattr(lm.config, "is_encoder_decoder", False):
            raise InvalidError(
                f"{type(lm).__name__} reads and writes different texts; a memory goes with a causal model"
            )
        super().__init__(lm.config)
        vocabulary = vocabulary_of(memo, lm, tokenizer)
        self.lm = lm
        self.memo = memo
        self.mixture = Mixture(memo, vocabulary, weight, generalize)
        self.last_weights: torch.Tensor | None = None
        generation = copy.deepcopy(getattr(lm, "generation_config", None))
        if generation is not None:
            ends = _ends(lm)
            if not vocabulary.appended and memo.eos not in ends:
                # Where a document of the memory ends, so does what is generated.
                generation.eos_token_id = [*ends, memo.eos]
            self.generation_config = generation
        self.train(lm.training)

    @property
    def weight(self) -> Weight:
        """How much the memory counts; it may be set between two calls."""
        return self.mixture.weight

    @weight.setter
    def weight(self, given: Weight) -> None:
        self.mixture = Mixture(self.memo, self.mixture.vocabulary, given, self.mixture.reading.generalize)

    def forward(
        self,
        input_ids: torch.Tensor | None = None,
        attention_mask: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        past_key_values: Any = None,
        labels: torch.Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int | torch.Tensor = 0,
        memory_ids: torch.Tensor | None = None,
        memory_mask: torch.Tensor | None = None,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> CausalLMOutputWithPast | tuple[Any, ...]:
        """Log-probabilities of both together, [batch, length, vocab], in single precision.

        With a cache, `input_ids` are only the new tokens; the cache remembers those before, or memory_ids has all of
        them and memory_mask says which are real. `last_weights` then has the memory's weight at each position.
        """
        if input_ids is None:
            raise InvalidError("a memory reads tokens: give input_ids, not inputs_embeds")
        given = {
            "attention_mask": attention_mask,
            "position_ids": position_ids,
            "past_key_values": past_key_values,
            "use_cache": use_cache,
            **kwargs,
        }
        past = 0 if past_key_values is None else past_key_values.get_seq_length()
        text = self._text(input_ids, memory_ids, past_key_values, past)
        if _takes(self.lm, "logits_to_keep"):
            given["logits_to_keep"] = logits_to_keep
        passed = {name: value for name, value in given.items() if value is not None}
        outputs = self.lm(input_ids=input_ids, return_dict=True, **passed)
        kept = kept_positions(logits_to_keep, input_ids.shape[1])
        logits = outputs.logits
        if logits.shape[1] != len(kept):
            logits = logits[:, torch.from_numpy(kept).to(logits.device)]
        if memory_mask is None and attention_mask is not None and attention_mask.ndim == 2:
            memory_mask = attention_mask
        ids = text.detach().cpu().numpy()
        mask = real_tokens(memory_mask, ids.shape)
        rows = [(row[real], np.cumsum(real)[past + kept]) for row, real in zip(ids, mask)]
        logs, self.last_weights = self.mixture.mixed(logits, rows)
        if getattr(outputs, "past_key_values", None) is not None:
            setattr(outputs.past_key_values, REMEMBERED, text)
        loss = None
        if labels is not None:
            if len(kept) != input_ids.shape[1]:
                raise InvalidError("labels need the logits of every position; leave logits_to_keep away")
            expected = labels[:, 1:].reshape(-1).to(logs.device)
            loss = torch.nn.functional.nll_loss(logs[:, :-1].reshape(len(expected), -1), expected, ignore_index=-100)
        mixed = CausalLMOutputWithPast(
            loss=loss,
            logits=logs,
            past_key_values=getattr(outputs, "past_key_values", None),
            hidden_states=getattr(outputs, "hidden_states", None),
            attentions=getattr(outputs, "attentions", None),
        )
        return tuple(mixed.to_tuple()) if return_dict is False else mixed

    def _text(self, new: torch.Tensor, whole: torch.Tensor | None, cache: Any, past: int) -> torch.Tensor:
        """All tokens so far, those that a cache is of among them."""
        length = past + new.shape[1]
        if whole is not None and whole.shape[1] == length:
            return whole
        if not past:
            return new
        before = getattr(cache, REMEMBERED, None)
        if before is None or before.shape[1] < past or before.shape[0] != new.shape[0]:
            raise InvalidError(
                "the memory does not know the text that this cache is of; let WithMemory fill it from the beginning, "
                "or give all tokens as memory_ids=…"
            )
        # What the cache has been cut to.
        return torch.cat([before[:, :past].to(new.device), new], 1)

    def prepare_inputs_for_generation(self, input_ids: torch.Tensor, **kwargs: Any) -> dict[str, Any]:
        """What the model wants, and for the memory all tokens so far."""
        prepared = self.lm.prepare_inputs_for_generation(input_ids, **kwargs)
        mask = kwargs.get("attention_mask")
        return {**prepared, "memory_ids": input_ids, "memory_mask": mask}

    # What is the model's

    def get_input_embeddings(self) -> torch.nn.Module:
        """Those of the model."""
        return self.lm.get_input_embeddings()

    def get_output_embeddings(self) -> torch.nn.Module:
        """Those of the model."""
        return self.lm.get_output_embeddings()

    def tie_weights(self, *args: Any, **kwargs: Any) -> None:
        """As the model does."""
        self.lm.tie_weights(*args, **kwargs)

    @classmethod
    def from_pretrained(cls, *args: Any, **kwargs: Any) -> WithMemory:
        """Refused: the parts are loaded each in its own way."""
        raise InvalidError("a model and its memory are loaded apart: WithMemory(lm, Memo.open(…))")

    def save_pretrained(self, *args: Any, **kwargs: Any) -> None:
        """Refused: the parts are saved each in its own way."""
        raise InvalidError(
            "a model and its memory are saved apart: lm.save_pretrained(…), and the memory is a directory already "
            f"({self.memo.path}; memo.backup(…) copies it)"
        )


def vocabulary_of(memo: Memo, lm: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None = None) -> Vocabulary:
    """How the tokens of a memory are those of a model."""
    ends = _ends(lm)
    return Vocabulary(memo, _rows(lm), ends[0] if ends else None, getattr(lm.config, "bos_token_id", None), tokenizer)


def _ends(lm: PreTrainedModel) -> list[int]:
    """The tokens that end a text of a model's."""
    generation = getattr(lm, "generation_config", None)
    ends = getattr(generation, "eos_token_id", None)
    ends = getattr(lm.config, "eos_token_id", None) if ends is None else ends
    return [ends] if isinstance(ends, int) else list(ends or [])


def _rows(lm: PreTrainedModel) -> int:
    """How many logits a model has a position."""
    head = lm.get_output_embeddings()
    weight = getattr(head, "weight", None)
    return int(weight.shape[0]) if weight is not None else int(lm.config.get_text_config(decoder=True).vocab_size)


def _takes(lm: PreTrainedModel, name: str) -> bool:
    return name in inspect.signature(lm.forward).parameters


AutoModelForCausalLM.register(PartnerConfig, WithMemory, exist_ok=True)
