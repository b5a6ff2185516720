"""What users give, made into what the compiled module takes: token ids, documents, tokenizers, sizes.

A text is never taken for an iterable of documents, nor a list of numbers for one.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from numbers import Number, Real
from typing import TYPE_CHECKING, Any, Optional, Protocol, Union, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._memo import InvalidError

if TYPE_CHECKING:
    from ._memo import CompletionOptions, ForgetOptions, ModelOptions
    from .lexicon import Lexicon

Path = Union[str, "os.PathLike[str]"]
Tokens = Union[Sequence[int], NDArray[np.integer[Any]]]
"""Token ids: a list, a 1-d array of any integer type."""
Text = Union[str, Tokens]
"""A text, or its token ids."""
Labels = Mapping[str, str]
Document = Union[Text, tuple[Optional[str], Text], Mapping[str, Any]]
"""A text or its token ids, alone or as (id, text) or {"text": …, "id": …, "labels": …}; "tokens" in place of "text"."""
Given = tuple[Optional[str], Union[str, NDArray[np.uint32]], Optional[dict[str, str]]]


BYTES = (bytes, bytearray, memoryview)


class Serialized(Protocol):
    """A `tokenizers.Tokenizer`."""

    def to_str(self) -> str: ...


class Fast(Protocol):
    """A `PreTrainedTokenizerFast`."""

    @property
    def backend_tokenizer(self) -> Any: ...


Tokenizer = Union[Path, Serialized, Fast]
"""A name, the path of a tokenizer.json, or an object of `tokenizers` or `transformers`."""


def token_ids(given: ArrayLike | Iterable[int], vocabulary: int) -> NDArray[np.uint32]:
    """Token ids as the compiled module takes them; what cannot be one is refused, with where it stands."""
    try:
        array = np.asarray(given)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidError(f"token ids must be one list of whole numbers: {error}") from None
    if array.ndim != 1:
        raise InvalidError(f"token ids must be a 1-d array; this one has {array.ndim} dimensions: {array.shape}")
    if array.size == 0:
        return np.empty(0, np.uint32)
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "O" and all(isinstance(each, int) for each in array))
    if not whole:
        raise InvalidError(f"token ids must be whole numbers; these are of type {_type(array)}")
    least, most = int(array.min()), int(array.max())
    if least < 0:
        position = int((array < 0).argmax())
        raise InvalidError(f"token {array[position]} at position {position} is negative; ids begin with 0")
    if most >= vocabulary:
        position = int((array >= vocabulary).argmax())
        raise InvalidError(f"token {array[position]} at position {position} is outside the vocabulary of {vocabulary}")
    return np.ascontiguousarray(array, np.uint32)


def _type(array: NDArray[Any]) -> str:
    return type(array[0]).__name__ if array.dtype.kind == "O" else str(array.dtype)


def is_tokens(given: object) -> bool:
    """Whether this is a list or array of numbers, rather than of documents."""
    if hasattr(given, "__array__") and not isinstance(given, str):
        array = np.asarray(given)
        return array.ndim != 1 or array.dtype.kind not in "OSTU" or _is_number(array[:1])
    return isinstance(given, Sequence) and not isinstance(given, (str, *BYTES)) and _is_number(given)


def _is_number(given: Sequence[object] | NDArray[Any]) -> bool:
    return len(given) > 0 and isinstance(given[0], Number)


def content(given: object, vocabulary: int, where: str = "") -> str | NDArray[np.uint32]:
    """A text, or checked token ids."""
    if isinstance(given, str):
        return string("text", given, where)
    empty = isinstance(given, (list, tuple)) and not given
    if not (empty or is_tokens(given)):
        raise InvalidError(f"{where}text must be a str or token ids, not {type(given).__name__}{_hint(given)}")
    try:
        return token_ids(given, vocabulary)  # type: ignore[arg-type]  # it is an array or a sequence
    except InvalidError as error:
        raise InvalidError(f"{where}{error}") from None


def string(name: str, given: object, where: str = "") -> str:
    """A text that can be stored; a surrogate is no character."""
    if not isinstance(given, str):
        raise InvalidError(f"{where}{name} must be a str, not {type(given).__name__}")
    if not given.isascii():
        try:
            given.encode()
        except UnicodeEncodeError as error:
            surrogate = f"{given[error.start]!r} at position {error.start}"
            why = "a surrogate, which is no character; decode the text with errors='replace'"
            raise InvalidError(f"{where}{name} has {surrogate}, {why}") from None
    return str(given)


def optional(name: str, given: object) -> str | None:
    """A text that can be stored, or None."""
    return None if given is None else string(name, given)


def ids(given: str | Iterable[str]) -> list[str]:
    """The ids of documents: one, or several."""
    if not isinstance(given, Iterable):
        raise InvalidError(f"ids must be a str or several, not {type(given).__name__}")
    return [string("id", each) for each in ([given] if isinstance(given, str) else given)]


def forget_options(
    named: str | Iterable[str] | None,
    text: str | None,
    labels: Labels | None,
    glob: str | None,
    older_than: str | timedelta | None,
    facts: tuple[str | None, str | None, str | None] | None = None,
) -> ForgetOptions:
    """What to forget, given in one way."""
    fitting = bool(labels) or glob is not None or older_than is not None
    if (named is not None) + (text is not None) + (facts is not None) + fitting != 1:
        raise InvalidError("forget takes the ids of documents, or text=…, or any of labels=…, glob=… and older_than=…")
    if isinstance(older_than, timedelta):
        seconds = math.ceil(older_than.total_seconds())
        if seconds < 0:
            raise InvalidError(f"older_than must not be in the future: {older_than}")
        older_than = f"{seconds}s"
    return {
        "ids": None if named is None else ids(named),
        "text": None if text is None else string("text", text),
        "facts": facts,
        "labels": {string("label", key): string("label", value) for key, value in (labels or {}).items()},
        "glob": glob,
        "older_than": older_than,
    }


def _hint(given: object) -> str:
    if isinstance(given, BYTES):
        return "; decode it first"
    if isinstance(given, os.PathLike):
        return "; memorize_files reads files"
    return ""


def documents(given: object, vocabulary: int, id: str | None, labels: Labels | None) -> list[Given]:
    """One document, or those of an iterable."""
    common = _labels(labels, "")
    if isinstance(given, (str, Mapping)) or is_tokens(given):
        items: list[object] = [given]
        single = True
    elif isinstance(given, tuple) and len(given) == 2 and all(isinstance(each, str) for each in given):
        raise InvalidError("is this an id and a text, or two texts? Give the id as id=…, or the texts as a list")
    else:
        items = _listed(given, vocabulary)
        # An iterator of numbers is a text too.
        single = is_tokens(items)
        items = [items] if single else items
    if id is not None and len(items) != 1:
        raise InvalidError(f"id names one document, and there are {len(items)}")
    found = [_document(item, vocabulary, "" if single else f"document {n}: ") for n, item in enumerate(items)]
    return [_named(each, id, common) for each in found]


def _document(given: object, vocabulary: int, where: str) -> Given:
    if isinstance(given, Mapping):
        unknown = sorted(str(key) for key in given if key not in ("text", "tokens", "id", "labels"))
        if unknown:
            raise InvalidError(f"{where}a document has text or tokens, id and labels, but no {unknown[0]!r}")
        if ("text" in given) == ("tokens" in given):
            raise InvalidError(f"{where}a document needs one of text and tokens")
        inside = content(given["text"] if "text" in given else given["tokens"], vocabulary, where)
        return _id(given.get("id"), where), inside, _labels(given.get("labels"), where)
    if isinstance(given, tuple) and len(given) == 2 and (given[0] is None or isinstance(given[0], str)):
        return _id(given[0], where), content(given[1], vocabulary, where), None
    return None, content(given, vocabulary, where), None


def _named(document: Given, id: str | None, labels: dict[str, str] | None) -> Given:
    own, inside, its = document
    return (own if id is None else _id(id, "")), inside, ({**(labels or {}), **(its or {})} or None)


def _id(given: object, where: str) -> str | None:
    return None if given is None else string("an id", given, where)


def _labels(given: object, where: str) -> dict[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InvalidError(f"{where}labels must be a dict of str, not {type(given).__name__}")
    for key, value in given.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise InvalidError(f"{where}label {key!r} must be a str with a str for a value, not {value!r}")
        string("label", key, where)
        string(f"label {key!r}", value, where)
    return dict(given)


def _listed(given: object, vocabulary: int) -> list[object]:
    """All that an iterable has; what is none is refused."""
    if not isinstance(given, (*BYTES, os.PathLike)):
        try:
            return list(given)  # type: ignore[call-overload,no-any-return]  # if it is none, that is what we ask
        except TypeError:
            if hasattr(given, "__iter__"):
                raise
    return [content(given, vocabulary)]


def texts(given: Text | Iterable[Text], vocabulary: int) -> list[str | NDArray[np.uint32]]:
    """One text, or those of an iterable."""
    if isinstance(given, str) or is_tokens(given):
        return [content(given, vocabulary)]
    items = _listed(given, vocabulary)
    if is_tokens(items):
        return [content(items, vocabulary)]
    return [content(item, vocabulary, f"text {n}: ") for n, item in enumerate(items)]


def tokenizer(given: Tokenizer) -> tuple[str, bytes | None]:
    """A tokenizer's name, and its JSON if it is an object of `tokenizers` or `transformers`; neither is imported."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given), None
    backend = getattr(given, "backend_tokenizer", given)
    serialize = getattr(backend, "to_str", None)
    if callable(serialize):
        return "huggingface", str(serialize()).encode()
    raise InvalidError(
        f"a model cannot keep a {type(given).__name__} as its tokenizer; give a name (gpt2, cl100k, o200k, bytes), "
        "the path of a tokenizer.json, a tokenizers.Tokenizer or a PreTrainedTokenizerFast"
    )


@overload
def whole(name: str, given: int, bits: int = 63) -> int: ...


@overload
def whole(name: str, given: int | None, bits: int = 63) -> int | None: ...


def whole(name: str, given: int | None, bits: int = 63) -> int | None:
    """A whole number, from 0."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
        raise InvalidError(f"{name}={given!r} must be a whole number that is not negative")
    if given >= 1 << bits:
        raise InvalidError(f"{name}={given!r} is too large; it must be below 2**{bits}")
    return int(given)


def number(name: str, given: object) -> float:
    """A number."""
    if isinstance(given, bool) or not isinstance(given, Real):
        raise InvalidError(f"{name}={given!r} must be a number")
    return float(given)


def completion_options(
    max_tokens: int,
    temperature: float,
    top_k: int,
    top_p: float,
    seed: int | None,
    stop: str | Iterable[str],
    *,
    text: bool,
    frequency_penalty: float = 0.0,
    presence_penalty: float = 0.0,
    probabilities: bool = False,
    contexts: bool = False,
    guess: bool = False,
    find: bool | None = None,
    generalize: float = 1.0,
) -> CompletionOptions:
    """How a prompt is continued. What the numbers may be is checked where the completion begins.

    text: whether the prompt is text, which is looked for in the memory and put right, and whose last tokens may be
    chosen again; or tokens, which are meant as they are. All interfaces take a prompt so.
    guess: whether to go on where the memory does not know how.
    find: whether the prompt is looked for, if that is not to follow from what it is.
    generalize: how much the lexicon counts.
    """
    return {
        "max_tokens": whole("max_tokens", max_tokens),
        "stop": [string("stop", each) for each in ([stop] if isinstance(stop, str) else stop)],
        "temperature": number("temperature", temperature),
        "top_k": whole("top_k", top_k),
        "top_p": number("top_p", top_p),
        "frequency_penalty": number("frequency_penalty", frequency_penalty),
        "presence_penalty": number("presence_penalty", presence_penalty),
        "seed": None if seed is None else whole("seed", seed),
        "probabilities": bool(probabilities),
        "contexts": bool(contexts),
        "heal": text,
        "find": text if find is None else bool(find),
        "guess": bool(guess),
        "generalize": number("generalize", generalize),
    }


_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_UNITS.update({"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "": 1})


def size(name: str, given: int | str | None) -> int | None:
    """Bytes: a number, or as in 64MiB, 1.5GiB, 2GB."""
    if given is None:
        return None
    if isinstance(given, str):
        unit = next(unit for unit in _UNITS if given.strip().endswith(unit))
        try:
            count = float(given.strip()[: len(given.strip()) - len(unit)]) * _UNITS[unit]
        except ValueError:
            raise InvalidError(f"{name}={given!r} must be a size such as 512MiB or 2GiB") from None
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        count = int(given)
    else:
        raise InvalidError(f"{name}={given!r} must be a number of bytes, or a size such as 512MiB or 2GiB")
    if not 1 << 16 <= count <= 5 * 10**11:
        raise InvalidError(f"{name}={given!r} must be between 64KiB and 500GB")
    return int(count)


_GONE = {
    **dict.fromkeys(("memory", "parameters", "params", "tokens", "size"), "a memory has no size any more; it grows"),
    **dict.fromkeys(("heads", "layers", "older", "slots"), "all memories see the same contexts now"),
    "bits": "a frozen model is packed in one way now",
    "force": "a memory has no size any more, and is never too full",
}


def refuse_gone(method: str, given: Mapping[str, object]) -> None:
    """Refuses arguments that a method does not have, and says why it has them no more."""
    for name in given:
        if name in _GONE:
            raise InvalidError(f"{name}: {_GONE[name]}; leave {name} out of {method}")
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")


def options(
    given: Tokenizer,
    words_from: Iterable[str] | None,
    words: bool,
    seed: int,
    lexicon: Lexicon | None,
) -> ModelOptions:
    """What the compiled part is told of a new memory."""
    name, serialized = tokenizer(given)
    texts = None
    if words_from is not None:
        if name not in ("gpt2", "words"):
            raise InvalidError("words_from makes a tokenizer of its own; leave tokenizer out")
        texts = [string("words_from", each) for each in ([words_from] if isinstance(words_from, str) else words_from)]
        name = "words"
    if not isinstance(words, bool):
        raise InvalidError(f"words={words!r} must be True or False")
    return {
        "tokenizer": name,
        "tokenizer_json": serialized,
        "words_from": texts,
        "words": words,
        "seed": whole("seed", seed),
        "lexicon": None if lexicon is None else lexicon.core,
    }
