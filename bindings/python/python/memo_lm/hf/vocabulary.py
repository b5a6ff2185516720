"""The vocabularies of a memory and a language model: whether they are the same, and where the end of a document goes.

A memory and a model can be mixed if a number means the same token to both. A model often has more rows than its
tokenizer has tokens (embeddings padded to a round size, tokens added later): a memory knows nothing of these, and
leaves them to the model. A memory whose tokenizer has no safe end of a text has an end of its own, past the vocabulary:
that stands for the model's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from memo_lm import InvalidError, Memo

from .tokenizers import names_of

MOST_ROWS = 1024
"""Rows that a model may have beyond a memory's vocabulary without anybody asking: padding and added tokens."""

REMEDY = (
    "make the memory with the model's tokenizer: "
    "Memo.create(path, tokenizer=AutoTokenizer.from_pretrained(…)), and memorize again"
)


class Vocabulary:
    """How a memory's tokens are those of a model with so many rows.

    tokenizer: that of the model, which is compared token by token. Without it only the sizes can be.
    """

    def __init__(
        self,
        memo: Memo,
        rows: int,
        eos_token_id: int | None = None,
        bos_token_id: int | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
    ) -> None:
        self.rows = rows
        self.size = memo.vocab_size
        self.end = memo.eos
        self.bos = bos_token_id
        own = _vocabulary(memo)
        # Whether the end is one that the memory made up.
        self.appended = own is not None and memo.eos not in own
        self.eos = eos_token_id if self.appended else None
        tokens = self.size - self.appended
        if tokens > rows:
            raise InvalidError(
                f"the memory has a vocabulary of {tokens:,} tokens and the model one of {rows:,}, so they do not have "
                f"the same tokenizer; {REMEDY}"
            )
        if tokenizer is not None:
            _compare(memo, own, tokenizer)
        elif rows - tokens > MOST_ROWS:
            raise InvalidError(
                f"the memory has a vocabulary of {tokens:,} tokens and the model one of {rows:,}, which is more than "
                f"padding explains; {REMEDY}. If it was, give the tokenizer as tokenizer=…, and they are compared"
            )

    def text(self, tokens: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Tokens of the model as the memory reads them: a first token that says that a text begins is left out, and
        what the memory does not know is where a text begins anew."""
        if len(tokens) and self.bos is not None and tokens[0] == self.bos != self.end:
            tokens = tokens[1:]
        if len(tokens) and (int(tokens.min()) < 0 or int(tokens.max()) >= self.rows):
            raise InvalidError(f"token ids must be from 0 to {self.rows - 1}, the model's vocabulary")
        known = tokens < self.size
        if self.appended:
            known &= tokens != self.end
            if self.eos is not None:
                known &= tokens != self.eos
        return np.where(known, tokens, self.end).astype(np.uint32)

    def begins(self, tokens: NDArray[np.int64]) -> int:
        """How many tokens of a text are left out by `text`."""
        return int(len(tokens) > 0 and self.bos is not None and int(tokens[0]) == self.bos != self.end)

    def token(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens of the memory as the model has them; -1 for an end that it does not have."""
        if not self.appended:
            return tokens
        return torch.where(tokens == self.end, -1 if self.eos is None else self.eos, tokens)

    def logs(self, logs: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the memory's tokens as those of the model's, [positions, rows]."""
        if not self.appended:
            rest = self.rows - self.size
            return torch.nn.functional.pad(logs, (0, rest), value=-torch.inf) if rest else logs
        end, logs = logs[:, self.end], logs[:, : self.end]
        logs = torch.nn.functional.pad(logs, (0, self.rows - logs.shape[1]), value=-torch.inf)
        if self.eos is None:
            # A model without an end goes on: so much more have the others.
            return logs - torch.log1p(-end.exp())[:, None]
        logs[:, self.eos] = torch.logaddexp(logs[:, self.eos], end)
        return logs


def _vocabulary(memo: Memo) -> dict[int, str] | None:
    """The names of a memory's tokens, if it has a tokenizer.json; the names of built-in ones are made when needed."""
    if memo.tokenizer != "huggingface" or memo.tokenizer_json is None:
        return None
    parts: Mapping[str, Any] = json.loads(memo.tokenizer_json)
    vocabulary = parts["model"].get("vocab", {})
    if isinstance(vocabulary, Mapping):
        names = {int(token): str(name) for name, token in vocabulary.items()}
    else:
        # Unigram: pairs of a name and a score, in order.
        names = {token: str(each[0]) for token, each in enumerate(vocabulary)}
    names.update({int(added["id"]): str(added["content"]) for added in parts.get("added_tokens", ())})
    return names


def _compare(memo: Memo, own: dict[int, str] | None, tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuses a memory with a token that is another one for the model's tokenizer."""
    names = own if own is not None else dict(enumerate(names_of(memo)))
    theirs = {token: name for name, token in tokenizer.get_vocab().items()}
    for token, name in names.items():
        other = theirs.get(token)
        # The end has no text, and its name may differ.
        if other is not None and other != name and token != memo.eos:
            raise InvalidError(
                f"token {token} is {name!r} for the memory and {other!r} for the model's tokenizer; {REMEDY}"
            )
    missing = sum(token not in theirs for token in names if token != memo.eos)
    if missing:
        raise InvalidError(f"the model's tokenizer has no name for {missing:,} tokens of the memory; {REMEDY}")
