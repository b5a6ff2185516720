"""Lexicons: which words are alike."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, Union

from . import _memo, inputs
from ._memo import InvalidError
from .inputs import Path, string, whole
from .progress import Progress, watching

Classes = Union[str, Sequence[Optional[str]]]
"""The class of a word, or its classes level by level, the finest first; None where it has none."""

Format = Literal["lexicon", "table", "csv", "jsonl", "turtle", "ntriples", "wordnet"]


class Lexicon:
    """Which words are alike, on one level or on several: on the first volvo is a car, on the next a vehicle.

    >>> cars = Lexicon({"Volvo": ["car", "vehicle"], "Fiat": ["car", "vehicle"], "train": [None, "vehicle"]})
    >>> cars.classes("FIAT"), cars.members("car"), "bicycle" in cars
    (['car', 'vehicle'], ['fiat', 'volvo'], False)

    Given to `Memo.create` or `Memo.rebuild`, it has the model expect of one word what was said of another. Words count
    in normal form, whatever their case; iterating gives them so. Two lexicons are equal if they say the same of the
    same words, and were induced from the same texts. Nothing changes a lexicon.
    """

    def __init__(self, words: Mapping[str, Classes] | Iterable[tuple[str, Classes]]) -> None:
        self._lexicon = _memo.Lexicon(list(map(_entry, _pairs(words))))

    @staticmethod
    def read(
        path: Path,
        *,
        format: Format | None = None,
        language: str | None = None,
        depth: int | Iterable[int] = (),
        levels: int = 1,
        on_conflict: Literal["first", "drop", "error"] | None = None,
        all_senses: bool = False,
        inflect: bool = False,
        max_bytes: int | str | None = None,
    ) -> Lexicon:
        """Reads a file, as `memo lexicon convert` does: a table of words and classes, CSV, JSONL, SKOS or RDFS in
        Turtle or N-Triples, what `save` wrote; or WordNet's folder, which "wordnet" names where Debian's package has
        it.

        format: if it does not follow from the name. language: of labels, such as "en". depth: where a hierarchy is cut,
        from its top; several are levels, the finest first. levels: without depth, how many concepts above a word are
        its classes. on_conflict: what becomes of a word with several classes. all_senses: of WordNet's words, not only
        the most frequent. inflect: whether regular English forms get the class of their word. max_bytes: of the largest
        file. What of the file is not in the lexicon, entries of several words for example, is a warning.
        """
        depths = list(depth) if isinstance(depth, Iterable) else [depth]
        options: _memo.LexiconOptions = {
            "format": inputs.optional("format", format),
            "language": inputs.optional("language", language),
            "depths": [whole("depth", each, 32) for each in depths],
            "levels": whole("levels", levels, 32),
            "on_conflict": inputs.optional("on_conflict", on_conflict),
            "all_senses": bool(all_senses),
            "inflect": bool(inflect),
            "max_bytes": inputs.size("max_bytes", max_bytes),
        }
        made, skipped = _memo.Lexicon.read(os.fspath(path), options)
        if skipped:
            each = (f"{count} {reason} ({', '.join(map(repr, some))})" for count, reason, some in skipped)
            warnings.warn(f"{os.fspath(path)}: left out: {'; '.join(each)}", stacklevel=2)
        return Lexicon._of(made)

    @staticmethod
    def induce(
        texts: str | Iterable[str],
        classes: int = 200,
        min_count: int = 2,
        *,
        rounds: int = 10,
        progress: Progress = None,
    ) -> Lexicon:
        """Induces a lexicon from texts: words that stand between the same words get the same class.

        classes: how many there are at most, up to 5,000; each is named by its most frequent words. min_count: how often
        a word must occur to get one; rarer words share a class of their own. rounds: how often all words are looked at,
        at most. The same texts give the same lexicon, in any order. It remembers which words stood together, and has a
        digest of each text: `is_from`.
        """
        if isinstance(texts, inputs.BYTES) or not isinstance(texts, Iterable):
            raise InvalidError(f"texts must be a str or several, not {type(texts).__name__}")
        given = [texts] if isinstance(texts, str) else texts
        read = [string("text", text, f"text {n}: ") for n, text in enumerate(given)]
        numbers = whole("classes", classes, 32), whole("min_count", min_count, 32), whole("rounds", rounds, 32)
        with watching(progress) as callback:
            made, _ = _memo.Lexicon.induce(read, *numbers, callback)
        return Lexicon._of(made)

    @staticmethod
    def _of(inner: _memo.Lexicon) -> Lexicon:
        made = Lexicon.__new__(Lexicon)
        made._lexicon = inner
        return made

    @property
    def core(self) -> _memo.Lexicon:
        """The compiled module's own."""
        return self._lexicon

    # What it says

    def classes(self, word: str) -> list[str | None]:
        """The classes of a word, level by level, None where it has none; an empty list if it has none at all."""
        return self._lexicon.classes(string("word", word))

    def members(self, class_: str, level: int | None = None) -> list[str]:
        """The words of a class, in normal form and in order; on the first level that has one of that name."""
        return self._lexicon.members(string("class", class_), whole("level", level, 32))

    def names(self, level: int = 0) -> list[str]:
        """The names of all classes of a level, in order."""
        return self._lexicon.names(whole("level", level, 32))

    def items(self) -> Iterator[tuple[str, list[str | None]]]:
        """All words with their classes, level by level: what another lexicon can be made of."""
        return ((word, self._lexicon.classes(word)) for word in self._lexicon.words())

    def __iter__(self) -> Iterator[str]:
        return iter(self._lexicon.words())

    def __len__(self) -> int:
        return len(self._lexicon)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and _is_text(word) and word in self._lexicon

    @property
    def levels(self) -> int:
        """How many levels it has."""
        return self._lexicon.levels

    # Where it comes from

    @property
    def sources(self) -> int:
        """How many texts it was induced from."""
        return self._lexicon.sources

    def is_from(self, text: str) -> bool:
        """Whether it was induced from this text, among others."""
        return self._lexicon.is_from(string("text", text))

    # What it is

    @property
    def digest(self) -> str:
        """Of all that it says: equal if and only if lexicons are."""
        return self._lexicon.digest

    def save(self, path: Path) -> None:
        """Writes it as text that every program of MeMo reads, in place of what is there: the whole, or nothing."""
        self._lexicon.save(os.fspath(path))

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Lexicon) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        classes = " and ".join(str(len(self.names(level))) for level in range(self.levels))
        return f"<memo_lm.Lexicon: {len(self)} words in {classes} classes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._lexicon.to_bytes(),)


LexiconLike = Union[Lexicon, Path, Mapping[str, Classes]]
"""A lexicon, the path of one in any format, or words with their classes."""


def lexicon_of(given: LexiconLike | None) -> Lexicon | None:
    """What was given as a lexicon, if anything was."""
    if given is None or isinstance(given, Lexicon):
        return given
    if isinstance(given, (str, os.PathLike)):
        return Lexicon.read(given)
    if isinstance(given, Mapping):
        return Lexicon(given)
    raise InvalidError(f"lexicon must be a Lexicon, a path, or a dict of words, not {type(given).__name__}")


def _restored(data: bytes) -> Lexicon:
    """A lexicon that was pickled."""
    return Lexicon._of(_memo.Lexicon.from_bytes(data))


def _pairs(words: object) -> Iterable[object]:
    if isinstance(words, Mapping):
        return words.items()
    if isinstance(words, (str, os.PathLike)):
        raise InvalidError("a Lexicon is made of words and their classes; Lexicon.read(path) reads a file")
    if isinstance(words, inputs.BYTES) or not isinstance(words, Iterable):
        raise InvalidError(f"words must be a dict of words and their classes, not {type(words).__name__}")
    return words


def _entry(pair: object) -> tuple[str, list[str | None]]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidError(f"{pair!r} must be a word and its class, or its classes")
    word, classes = string("word", pair[0]), pair[1]
    where = f"{word!r}: "
    if classes is None or isinstance(classes, str):
        classes = [classes]
    if isinstance(classes, inputs.BYTES) or not isinstance(classes, Sequence):
        raise InvalidError(f"{where}a class must be a str, or a list of them, not {type(classes).__name__}")
    return word, [None if each is None else string("class", each, where) for each in classes]


def _is_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True
