"""What results can do besides having fields. The fields themselves are in `results.py`, which is generated."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

if TYPE_CHECKING:
    from .results import (
        Candidate,
        DocumentChange,
        DocumentMatches,
        Excerpt,
        Fact,
        GeneralCandidate,
        GeneralSource,
        Passage,
        SlotEvidence,
        Source,
        Version,
    )

R = TypeVar("R", bound="Result")


class Result:
    """Made from JSON; goes back to plain dicts by `to_dict`."""

    # Fields that hold other results, one or a list of them.
    _nested: ClassVar[Mapping[str, type[Result]]] = {}

    @classmethod
    def from_dict(cls: type[R], data: Mapping[str, Any]) -> R:
        """From a dict of its fields; others, which a newer module may have, are passed over."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # every subclass is a dataclass
        # One that is a keyword of Python, `class`, has an underscore after it.
        known = {name.removesuffix("_"): name for name in names}
        values = {known[name]: value for name, value in data.items() if name in known}
        for name, kind in cls._nested.items():
            value = values.get(name)
            if isinstance(value, list):
                values[name] = [kind.from_dict(each) for each in value]
            elif value is not None:
                values[name] = kind.from_dict(value)
        return cls(**values)

    @classmethod
    def read(cls: type[R], text: str) -> R:
        """From JSON."""
        return cls.from_dict(json.loads(text))

    @classmethod
    def read_all(cls: type[R], text: str) -> list[R]:
        """From a JSON list."""
        return [cls.from_dict(each) for each in json.loads(text)]

    def to_dict(self) -> dict[str, Any]:
        """As dicts, lists, strings and numbers: what `--json` and the server's API give."""
        return asdict(self, dict_factory=_plain)  # type: ignore[call-overload,no-any-return]


def _plain(values: list[tuple[str, Any]]) -> dict[str, Any]:
    return {name.removesuffix("_"): value for name, value in values}


@overload
def date_time(time: str) -> datetime: ...


@overload
def date_time(time: str | None) -> datetime | None: ...


def date_time(time: str | None) -> datetime | None:
    """A time of a result as a datetime."""
    # Before Python 3.11, UTC is not read as Z.
    return None if time is None else datetime.fromisoformat(time.replace("Z", "+00:00"))


class DocumentMixin(Result):
    """A document and all its versions."""

    if TYPE_CHECKING:

        @property
        def version(self) -> int | None: ...
        @property
        def versions(self) -> list[Version]: ...

    @property
    def current(self) -> Version | None:
        """The version that counts."""
        return next((version for version in self.versions if version.number == self.version), None)


class TransactionMixin(Result):
    """One change of a model."""

    if TYPE_CHECKING:

        @property
        def changes(self) -> list[DocumentChange]: ...

    @property
    def documents(self) -> list[str]:
        """The ids of the documents that it changed."""
        return [change.document for change in self.changes]


class TextMatchesMixin(Result):
    """Where a text occurs: also a collection of the documents that contain it."""

    if TYPE_CHECKING:

        @property
        def documents(self) -> list[DocumentMatches]: ...

    def __iter__(self) -> Iterator[DocumentMatches]:
        return iter(self.documents)

    def __len__(self) -> int:
        return len(self.documents)


class ClosestPassagesMixin(Result):
    """The passages that are closest to a text: also a sequence of them."""

    if TYPE_CHECKING:

        @property
        def passages(self) -> list[Passage]: ...

    def __iter__(self) -> Iterator[Passage]:
        return iter(self.passages)

    def __len__(self) -> int:
        return len(self.passages)


class FactMixin(Result):
    """Printed, it is subject, predicate and object with bars between."""

    if TYPE_CHECKING:

        @property
        def subject(self) -> str: ...
        @property
        def predicate(self) -> str: ...
        @property
        def object(self) -> str: ...

    def __str__(self) -> str:
        return f"{self.subject} | {self.predicate} | {self.object}"


class FactsMixin(Result):
    """Iterates over the facts."""

    if TYPE_CHECKING:

        @property
        def facts(self) -> list[Fact]: ...

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)


class DerivationStepMixin(Result):
    """Printed, it is the statement and why it is known, further in the deeper it is."""

    if TYPE_CHECKING:

        @property
        def depth(self) -> int: ...
        @property
        def statement(self) -> str: ...
        @property
        def rule(self) -> str | None: ...
        @property
        def documents(self) -> list[str]: ...
        @property
        def sentence(self) -> str | None: ...

    def __str__(self) -> str:
        documents = ", ".join(self.documents)
        if self.rule is None:
            why = f"stated in {documents}"
        elif self.sentence is None:
            why = f"by {self.rule}"
        else:
            why = f"by {self.rule}, from {_quoted(self.sentence)} in {documents}"
        return f"{'  ' * self.depth}{self.statement}  ({why})"


class VerifyReportMixin(Result):
    """What was checked, and what is wrong."""

    if TYPE_CHECKING:

        @property
        def damage(self) -> list[str]: ...

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damage


class CompletionMixin(Result):
    """A continuation of a prompt. Printed, it is its text."""

    if TYPE_CHECKING:

        @property
        def completion(self) -> str: ...

    def __str__(self) -> str:
        return self.completion


class ExplanationMixin(Result):
    """Why a memory says what it says. It can be printed, and a notebook shows it as a table."""

    if TYPE_CHECKING:

        @property
        def candidates(self) -> list[Candidate]: ...

    def __str__(self) -> str:
        lines = []
        for candidate in self.candidates:
            lines.append(f"{_quoted(candidate.text):<18}{_percent(candidate.probability)}")
            lines.extend(f"    {_evidence(slot)}" for slot in candidate.evidence)
            for general in candidate.general:
                lines.append(f"    {_general(general)}")
                lines.extend(f"    {_general_place(source)}" for source in general.sources)
            lines.extend(f"    {_place(source)}" for source in candidate.sources)
            lines.extend(f"    {step}" for step in candidate.derivation)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for candidate in self.candidates:
            contexts = [*map(_evidence, candidate.evidence), *map(_general, candidate.general)]
            evidence = "<br>".join(map(html.escape, contexts))
            alike = [source for general in candidate.general for source in general.sources]
            places = [_marked(_general_place(source), source.place.excerpt) for source in alike]
            places.extend(_marked(_place(source), source.excerpt) for source in candidate.sources)
            places.extend(html.escape(str(step)) for step in candidate.derivation)
            sources = "<br>".join(places)
            token = f"<code>{html.escape(_quoted(candidate.text))}</code>"
            cells = (token, _percent(candidate.probability), evidence, sources)
            rows.append("".join(f'<td style="text-align: left; vertical-align: top">{cell}</td>' for cell in cells))
        head = "".join(f"<th>{name}</th>" for name in ("token", "probability", "contexts", "sources"))
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _percent(probability: float) -> str:
    return f"{100 * probability:.2f} %"


def _evidence(slot: SlotEvidence) -> str:
    if slot.unit == "skip":
        return f"last token but one, whatever the last is: {slot.count} of {slot.total}"
    unit = slot.unit[:-1] if slot.length == 1 else slot.unit
    start = ", from the start" if slot.from_start else ""
    return f"last {slot.length} {unit}{start}: {slot.count} of {slot.total}"


def _place(source: Source) -> str:
    tokens = "token matches" if source.match_tokens == 1 else "tokens match"
    return f"{source.document}, token {source.offset}: {source.match_tokens} {tokens}"


def _general(general: GeneralCandidate) -> str:
    """A context as the lexicon generalised it: matched as "Anna drives a ‹car› to": 1 of 1."""
    units = (unit.text if unit.class_ is None else f"‹{unit.class_}›" for unit in general.context)
    level = f", level {general.level}" if general.level else ""
    what = "" if general.class_ is None else f" ‹{general.class_}›,"
    return f"matched as {_quoted(' '.join(units))}{level}:{what} {general.count} of {general.total}"


def _general_place(source: GeneralSource) -> str:
    """Where that stands, and which words are others there."""
    differ = ", ".join(f"{ours} as {theirs}" for ours, theirs in source.differences)
    return f"{source.place.document}, token {source.place.offset}{': ' if differ else ''}{differ}"


def _marked(place: str, excerpt: Excerpt) -> str:
    before, match, token, after = map(html.escape, (excerpt.before, excerpt.match, excerpt.token, excerpt.after))
    return f"{html.escape(place)}: {before}<u>{match}</u><b>{token}</b>{after}"
