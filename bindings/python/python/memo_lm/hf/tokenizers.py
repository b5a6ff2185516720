"""Tokenizers of models, as transformers wants them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from transformers import PreTrainedTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from memo_lm import InvalidError, Memo

from .files import Directory, memory_of


class MemoTokenizer(PreTrainedTokenizer):
    """A built-in tokenizer of a model, as transformers wants one. Its tokens are those of `Memo.encode`.

    What spells a special token in a text is text, and nothing is added to a text. A vocabulary of words has no spaces:
    there a continuation is to be decoded together with its prompt, which pipelines do not do.
    """

    vocab_files_names: ClassVar[dict[str, str]] = {}
    model_input_names: ClassVar[list[str]] = ["input_ids", "attention_mask"]

    def __init__(self, memo: Memo, **kwargs: Any) -> None:
        self.memo = memo
        names = names_of(memo)
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
        memo = memo or Memo.open(memory_of(directory), read_only=True)
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


def names_of(memo: Memo) -> list[str]:
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
