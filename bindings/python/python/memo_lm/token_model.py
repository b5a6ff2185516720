"""What models that are no directory have in common: their tokens, as ids or, with a tokenizer, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from . import _memo, inputs
from ._memo import InvalidError
from .inputs import Text, Tokenizer, Tokens, whole

Watcher = Optional[Callable[[str, int, int], object]]
"""Called with what is done, how much of it, and how much there is to do."""


class TokenModel:
    """A model of token ids. With a tokenizer, wherever ids are asked for a text will do.

    With a tokenizer, what is memorized or forgotten ends with `eos`, whether it is given as text or as ids: so that a
    completion ends where the text did.
    """

    def __init__(self, vocab: int | None, tokenizer: Tokenizer | None, words_from: Iterable[str] | None) -> None:
        self._tokenizer = _tokenizer(tokenizer, words_from)
        if self._tokenizer is None:
            if vocab is None:
                raise InvalidError("give vocab, the number of tokens, or a tokenizer")
            self._vocab = whole("vocab", vocab)
            return
        self._vocab = self._tokenizer.vocab_size
        if vocab not in (None, self._vocab):
            raise InvalidError(
                f"vocab={vocab!r}, but the tokenizer {self._tokenizer.name} has {self._vocab} tokens; leave vocab out"
            )

    @property
    def vocab_size(self) -> int:
        """n, how many token ids there are; a tokenizer's end of a document is one of them."""
        return self._vocab

    @property
    def tokenizer(self) -> str | None:
        """The tokenizer's name, if there is one."""
        return None if self._tokenizer is None else self._tokenizer.name

    @property
    def tokenizer_json(self) -> str | None:
        """The tokenizer as it is kept with the model, if it did not come with the package."""
        return None if self._tokenizer is None else self._tokenizer.json

    @property
    def eos(self) -> int | None:
        """The tokenizer's end of a document, which is no text's token."""
        return None if self._tokenizer is None else self._tokenizer.eos

    def encode(self, text: str) -> NDArray[np.uint32]:
        """The token ids of a text."""
        if not isinstance(text, str):
            raise InvalidError(f"encode takes a str, not {type(text).__name__}")
        return self._ids(text)

    def decode(self, tokens: Tokens) -> str:
        """The text of token ids."""
        return self._need_tokenizer().decode(inputs.token_ids(tokens, self._vocab))

    def _need_tokenizer(self) -> _memo.Tokenizer:
        if self._tokenizer is None:
            kind = type(self).__name__
            kind = f"an {kind}" if kind.startswith("O") else f"a {kind}"
            raise InvalidError(f"{kind} has no tokenizer; give token ids, or make one with tokenizer=…")
        return self._tokenizer

    def _ids(self, given: Text, watcher: Watcher = None) -> NDArray[np.uint32]:
        """The ids of one text or context."""
        return self._encoded([self._content(given)], watcher)[0]

    def _all_ids(self, given: Iterable[Text], watcher: Watcher = None) -> list[NDArray[np.uint32]]:
        """The ids of several."""
        if isinstance(given, str) or (inputs.is_tokens(given) and getattr(given, "ndim", 1) < 2):
            raise InvalidError("several texts are needed, and this is one; give a list of texts")
        return self._encoded([self._content(each, f"text {n}: ") for n, each in enumerate(given)], watcher)

    def _ended(self, text: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """A text as it is memorized."""
        eos = self.eos
        if eos is None or (len(text) > 0 and text[-1] == eos):
            return text
        return np.append(text, np.uint32(eos))

    def _text(self, given: Text, watcher: Watcher = None) -> list[NDArray[np.uint32]]:
        """One text to memorize or forget."""
        return [self._ended(self._ids(given, watcher))]

    def _texts(self, given: Iterable[Text], watcher: Watcher = None) -> list[NDArray[np.uint32]]:
        """Several texts to memorize or forget."""
        return [self._ended(text) for text in self._all_ids(given, watcher)]

    def _content(self, given: Text, where: str = "") -> str | NDArray[np.uint32]:
        if isinstance(given, str):
            self._need_tokenizer()
            try:
                given.encode()
            except UnicodeEncodeError as error:
                why = f"character {error.start} is half of a surrogate pair, which no text can have"
                raise InvalidError(where + why) from None
        return inputs.content(list(given) if isinstance(given, range) else given, self._vocab, where)

    def _encoded(self, contents: list[str | NDArray[np.uint32]], watcher: Watcher = None) -> list[NDArray[np.uint32]]:
        texts = [content for content in contents if isinstance(content, str)]
        ids = iter(self._need_tokenizer().encode_all(texts, watcher) if texts else [])
        return [next(ids) if isinstance(content, str) else content for content in contents]


def _tokenizer(given: Tokenizer | None, words_from: Iterable[str] | None) -> _memo.Tokenizer | None:
    if words_from is not None:
        if given not in (None, "words"):
            raise InvalidError("words_from makes a tokenizer of its own; leave tokenizer out")
        return _memo.Tokenizer("words", None, [words_from] if isinstance(words_from, str) else list(words_from))
    if given is None:
        return None
    return _memo.Tokenizer(*inputs.tokenizer(given))
