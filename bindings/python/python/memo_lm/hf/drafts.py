"""Drafts: the memory proposes the next tokens, and the model checks them all in one pass.

What comes out is the model's own greedy text; where it says what is memorized, it comes several tokens at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import DynamicCache, GenerationConfig, LogitsProcessorList, PreTrainedModel, StoppingCriteriaList

from memo_lm import InvalidError, Memo
from memo_lm.inputs import number, whole

from .partner import WithMemory, vocabulary_of
from .reading import Reading
from .vocabulary import Vocabulary

SHORTEST, LONGEST = 3, 16
"""How many of the last tokens must, and may, stand in the text before for it to propose what followed them there."""


@dataclass(frozen=True)
class Drafted:
    """A text that was generated with drafts."""

    sequences: torch.Tensor
    """Prompt and continuation, [1, length]."""
    steps: int
    """Passes of the model."""
    tokens: int
    """Tokens that they made."""
    proposed: int
    """Tokens that were proposed."""
    accepted: int
    """Those of them that the model would have said."""

    @property
    def accepted_per_step(self) -> float:
        """Accepted tokens a pass; the model adds one of its own to each."""
        return self.accepted / max(self.steps, 1)


class Drafts:
    """Greedy generation with drafts of a memory, for one prompt: `lm.generate(…, custom_generate=Drafts(memo))`.

    most: how many tokens are proposed at once, at most. Fewer are, as long as the model refuses them.
    least: how probable the memory must find a token to propose it.
    repeats: whether the text so far proposes, too, where the memory does not: what followed its last tokens before.
    """

    def __init__(self, memo: Memo, *, most: int = 12, least: float = 0.4, repeats: bool = True) -> None:
        self.memo = memo
        self.most = whole("most", most)
        self.least = number("least", least)
        self.repeats = bool(repeats)
        self._reading = Reading(memo)
        self.last: Drafted | None = None

    def __call__(
        self,
        model: PreTrainedModel,
        input_ids: torch.Tensor,
        logits_processor: LogitsProcessorList,
        stopping_criteria: StoppingCriteriaList,
        generation_config: GenerationConfig,
        **model_kwargs: Any,
    ) -> torch.Tensor:
        """Prompt and continuation, as the greedy search of the model makes them."""
        _check(model, input_ids, generation_config, model_kwargs)
        cache = model_kwargs.get("past_key_values")
        if cache is None:
            cache = DynamicCache(config=model.config.get_text_config(decoder=True))
        vocabulary = vocabulary_of(self.memo, model)
        text, length = input_ids, input_ids.shape[1]
        steps = proposed = accepted = 0
        # How many tokens are proposed: more after all were right, fewer after some were not.
        pace = min(4, self.most)
        ended = False
        while not ended:
            room = max(generation_config.max_length - text.shape[1] - 1, 0)
            draft = self._propose(text[0].cpu().numpy(), min(pace, room), vocabulary)
            asked = torch.cat([text, torch.tensor([draft], dtype=text.dtype, device=text.device)], 1)
            new = asked[:, cache.get_seq_length() :]
            outputs = model(
                input_ids=new,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=len(draft) + 1,
                return_dict=True,
                **({"memory_ids": asked} if isinstance(model, WithMemory) else {}),
            )
            logits = outputs.logits[:, -len(draft) - 1 :].float()
            right = 0
            for place in range(len(draft) + 1):
                token = logits_processor(text, logits[:, place]).argmax(-1, keepdim=True)
                text = torch.cat([text, token.to(text.dtype)], 1)
                ended = bool(stopping_criteria(text, None).all())
                if place == len(draft) or int(token) != draft[place]:
                    break
                right += 1
                if ended:
                    break
            steps, proposed, accepted = steps + 1, proposed + len(draft), accepted + right
            if draft:
                pace = min(2 * pace, self.most) if right == len(draft) else max(right + 1, 2)
            # The last token has not been read; nor has what was refused.
            if refused := cache.get_seq_length() - text.shape[1] + 1:
                cache.crop(-refused)
        self.last = Drafted(text, steps, text.shape[1] - length, proposed, accepted)
        return text

    def _propose(self, text: NDArray[np.int64], most: int, vocabulary: Vocabulary) -> list[int]:
        """What may come next: what the memory would say, or what came before in the text itself."""
        if most <= 0:
            return []
        draft, _ = self._reading.propose(vocabulary.text(text[-self.memo.window - 1 :]), most, self.least)
        if not draft and self.repeats:
            draft = _repeated(text, most)
        return draft


def _repeated(text: NDArray[np.int64], most: int) -> list[int]:
    """What followed the last tokens of a text where they stood before, after the longest match; the last of equals."""
    if len(text) <= SHORTEST:
        return []
    # Places where the last token stood before, the nearest first.
    ends = np.flatnonzero(text[:-1] == text[-1])[::-1]
    longest, place = SHORTEST - 1, -1
    for end in ends:
        limit = min(LONGEST, int(end) + 1)
        equal = text[end + 1 - limit : end + 1][::-1] == text[len(text) - limit :][::-1]
        match = limit if equal.all() else int(equal.argmin())
        if match > longest:
            longest, place = match, int(end)
    return [] if place < 0 else [int(token) for token in text[place + 1 : place + 1 + most]]


def draft_generate(
    lm: PreTrainedModel,
    memo: Memo,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor | None = None,
    *,
    most: int = 12,
    least: float = 0.4,
    repeats: bool = True,
    **options: Any,
) -> Drafted:
    """The greedy text of a model, with drafts of a memory: what it is, and how much of it was proposed.

    lm: a causal model, or a `WithMemory`. options: those of its `generate`. What else: see `Drafts`.
    """
    drafts = Drafts(memo, most=most, least=least, repeats=repeats)
    lm.generate(input_ids, attention_mask=attention_mask, custom_generate=drafts, **{"do_sample": False, **options})
    if drafts.last is None:
        raise InvalidError("nothing was generated; give max_new_tokens=…")
    return drafts.last


def _check(
    model: PreTrainedModel, input_ids: torch.Tensor, generation: GenerationConfig, given: dict[str, Any]
) -> None:
    """Refuses what cannot be checked in one pass."""
    mask = given.get("attention_mask")
    if input_ids.shape[0] != 1:
        raise InvalidError(f"drafts are for one prompt at a time, and this is a batch of {input_ids.shape[0]}")
    if mask is not None and not bool((mask == 1).all()):
        raise InvalidError("drafts are for a prompt without padding; leave masked tokens away")
    if generation.do_sample or (generation.num_beams or 1) > 1:
        raise InvalidError("drafts are checked against greedy search; leave do_sample and num_beams away")
    if getattr(model, "_is_stateful", False):
        raise InvalidError(f"{type(model).__name__} cannot take back what it has read, so drafts cannot be checked")
