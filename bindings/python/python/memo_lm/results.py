"""What a model answers with: the fields of the Rust library's structs, under the same names.

The compiled module hands these over as JSON. Fields that this package does not know are passed over, so that a newer
module can say more than an older package reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from typing import Any, ClassVar, TypeVar

R = TypeVar("R", bound="Result")


class Result:
    """Made from JSON; goes back to plain dicts by `to_dict`."""

    # Fields that hold other results, one or a list of them.
    _nested: ClassVar[Mapping[str, type[Result]]] = {}

    @classmethod
    def of(cls: type[R], data: Mapping[str, Any]) -> R:
        """From a dict of its fields; others are passed over."""
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]  # every subclass is a dataclass
        values = {name: value for name, value in data.items() if name in known}
        for name, kind in cls._nested.items():
            value = values.get(name)
            if isinstance(value, list):
                values[name] = [kind.of(each) for each in value]
            elif value is not None:
                values[name] = kind.of(value)
        return cls(**values)

    @classmethod
    def read(cls: type[R], text: str) -> R:
        """From JSON."""
        return cls.of(json.loads(text))

    @classmethod
    def read_all(cls: type[R], text: str) -> list[R]:
        """From a JSON list."""
        return [cls.of(each) for each in json.loads(text)]

    def to_dict(self) -> dict[str, Any]:
        """As dicts, lists, strings and numbers."""
        return asdict(self)  # type: ignore[call-overload,no-any-return]


def _when(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc)


# Documents and transactions


@dataclass(frozen=True)
class Place(Result):
    """Where a document is."""

    version: int
    """Which of its versions counts, from 1."""
    live: bool
    """Whether that version is in the memory; if not, the document is retired."""


@dataclass(frozen=True)
class Role(Result):
    """What is written of a version: all of it but the first `prompt` tokens, `weight` times."""

    name: str
    """`text`, or `edit`."""
    prompt: int = 0
    weight: int = 1

    @classmethod
    def of(cls, data: Mapping[str, Any] | str) -> Role:
        """From the way a Rust enum is written."""
        if isinstance(data, str):
            return cls(data.lower())
        ((name, inside),) = data.items()
        return cls(name.lower(), inside.get("prompt", 0), inside.get("weight", 1))


@dataclass(frozen=True)
class Version(Result):
    """One version of a document."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"role": Role}

    number: int
    """From 1."""
    time: int
    """When it came, in milliseconds since 1970."""
    tokens: int
    digest: str
    """Of its tokens, under the model's secret key."""
    transaction: int
    """The transaction that brought it."""
    parts: list[int]
    """The tokens of each part; more than one where text was cut out."""
    role: Role
    """What is written of it."""
    forgotten: int | None
    """The transaction that scrubbed its tokens, if one did."""

    @property
    def when(self) -> datetime:
        """When it came, in UTC."""
        return _when(self.time)


@dataclass(frozen=True)
class Document(Result):
    """A document and all its versions."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"versions": Version, "place": Place}

    id: str
    labels: dict[str, str]
    versions: list[Version]
    place: Place | None
    """Where it is now; None if what brought it here was rolled back, or if it was forgotten."""

    @property
    def state(self) -> str:
        """In a word: `live`, `retired`, `forgotten`, or `rolled back`."""
        if self.place is not None:
            return "live" if self.place.live else "retired"
        return "forgotten" if all(version.forgotten is not None for version in self.versions) else "rolled back"

    @property
    def current(self) -> Version | None:
        """The version that counts."""
        place = self.place
        return next((v for v in self.versions if place is not None and v.number == place.version), None)


@dataclass(frozen=True)
class Op(Result):
    """What a transaction did to one document."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"before": Place, "after": Place}

    document: str
    before: Place | None
    after: Place | None


@dataclass(frozen=True)
class Forgotten(Result):
    """All that is left of a forgotten text."""

    document: str
    version: int
    digest: str
    """Of the version's tokens, under the model's secret key."""


@dataclass(frozen=True)
class Transaction(Result):
    """One change of a model."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"ops": Op, "forgotten": Forgotten}

    id: int
    """Its number, from 1."""
    time: int
    """When, in milliseconds since 1970."""
    kind: str
    """memorize, forget, retire, restore, replace, edit, merge or rollback."""
    reason: str | None
    ops: list[Op]
    undoes: int | None
    """The transaction that this one rolled back."""
    undone_by: int | None
    """The transaction that rolled this one back."""
    forgotten: list[Forgotten]

    @property
    def when(self) -> datetime:
        """When, in UTC."""
        return _when(self.time)

    @property
    def documents(self) -> list[str]:
        """The documents that it changed."""
        return [op.document for op in self.ops]


# What came of a change


@dataclass(frozen=True)
class Memorized(Result):
    """What came of memorizing."""

    transaction: int | None
    """None if nothing had to change."""
    added: list[str]
    """Documents that are new."""
    updated: list[str]
    """Documents that got a new version."""
    unchanged: list[str]
    """Documents that were here with the same content."""
    tokens: int
    """Tokens that were memorized."""


@dataclass(frozen=True)
class Copy(Result):
    """A copy of the model that was made, and may hold what was forgotten later."""

    kind: str
    """backup, merged, frozen or exported."""
    path: str
    time: int
    """When, in milliseconds since 1970."""
    transaction: int
    """The last transaction that it contains."""

    @property
    def when(self) -> datetime:
        """When, in UTC."""
        return _when(self.time)


@dataclass(frozen=True)
class Receipt(Result):
    """What a forget did, and what it could not reach."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"forgotten": Forgotten, "copies": Copy}

    transaction: int
    documents: list[str]
    """The documents that were forgotten, or from which text was cut."""
    tokens: int
    """Tokens that left the memory."""
    digest_after: str
    """The digest of the memory afterwards."""
    forgotten: list[Forgotten]
    """For each version that was scrubbed, what is left of it."""
    shared: list[str]
    """Live documents that share a passage with what was forgotten; they still know it."""
    copies: list[Copy]
    """Copies made earlier, which still contain it."""
    subtracting: float
    """Seconds to record the intent and to subtract."""
    scrubbing: float
    """Seconds to write the checkpoint and to copy the ledger."""


@dataclass(frozen=True)
class Edited(Result):
    """An edit that was made."""

    transaction: int | None
    """None if the target won without it."""
    document: str | None
    """The document that holds the edit."""
    weight: int
    """The weight that was needed."""


@dataclass(frozen=True)
class Merged(Result):
    """What came of merging."""

    transaction: int | None
    """None if nothing had to change."""
    added: list[str]
    """Documents that came in under their own id."""
    same: list[str]
    """Documents that were here with the same content: they count once."""
    conflicts: list[str]
    """Documents of ours that were kept, or replaced by theirs."""
    renamed: list[tuple[str, str]]
    """Documents that came in under another id: theirs, ours."""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Merged:
        """From a dict of its fields."""
        return super().of({**data, "renamed": [(theirs, ours) for theirs, ours in data["renamed"]]})


@dataclass(frozen=True)
class Frozen(Result):
    """What freezing cost."""

    bits: int
    """Bits a cell."""
    bytes: int
    """Bytes of the frozen memory."""
    positions: int
    """Positions of live documents at which recall was tried."""
    recall_before: float
    """The share of them that the model recalls."""
    recall_after: float
    """The share of them that the frozen model recalls."""


# What is in a model


@dataclass(frozen=True)
class Found(Result):
    """A document that contains a text."""

    document: str
    version: int
    live: bool
    """Whether it is in the memory."""
    offsets: list[int]
    """The bytes of the document's text before each occurrence."""


@dataclass(frozen=True)
class Stats(Result):
    """A model in figures."""

    engine: str
    tokenizer: str
    heads: int
    layers: int
    parameters: int
    """Cells."""
    bytes: int
    """Bytes held in all."""
    cell_bytes: int
    table_bytes: int
    """Bytes of tables, which grow with the text, or of codes."""
    documents: int
    """Live documents."""
    tokens: int
    """Their tokens."""
    parameters_per_token: float | None
    bytes_per_token: float | None
    load: float | None
    """Tokens over those that fit at 92 cells each."""
    noise: float | None
    """The deviation of a count read from all long contexts together."""
    predicted_recall: float | None
    """The share of tokens that should be recalled."""


@dataclass(frozen=True)
class Verified(Result):
    """What was checked, and what is wrong."""

    documents: int
    versions: int
    digest: str
    damage: list[str]
    """What is wrong, in words; empty if nothing is."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damage


# Reading


@dataclass(frozen=True)
class Heard(Result):
    """What one slot of the memory remembers of a token."""

    layer: int
    """From 1."""
    head: int
    """From 0, the newest."""
    context_tokens: int
    """Tokens of its block."""
    count: float
    """How often the token followed that block, as far as the cells tell."""
    noise: float
    """The standard deviation of that."""
    total: int
    """How often the block occurred at all, exactly."""


@dataclass(frozen=True)
class Origin(Result):
    """A place in a document where the end of the context is followed by the token."""

    document: str
    version: int
    offset: int
    """The token's position in the document."""
    match_tokens: int
    """How many tokens before it are the end of the context."""


@dataclass(frozen=True)
class Candidate(Result):
    """A token that may follow."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"evidence": Heard, "sources": Origin}

    token: int
    text: str
    probability: float
    evidence: list[Heard]
    """What each slot remembers of it."""
    sources: list[Origin]
    """Where it stands in live documents."""


@dataclass(frozen=True)
class Explanation(Result):
    """Why a memory says what it says. Printed, it reads like `memo explain`."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"candidates": Candidate}

    prediction: str
    """The most probable token, as text."""
    candidates: list[Candidate]
    """The most probable tokens, the likeliest first."""

    def __str__(self) -> str:
        lines = []
        for candidate in self.candidates:
            lines.append(f"{json.dumps(candidate.text, ensure_ascii=False):<18}{100 * candidate.probability:.2f} %")
            for heard in candidate.evidence:
                place = "last" if heard.head == 0 else "older"
                block = "token" if heard.context_tokens == 1 else "tokens"
                times = f"{heard.count:.1f} ± {heard.noise:.2f} of {heard.total} times"
                lines.append(f"    {place} {heard.context_tokens} {block}: {times}")
            for origin in candidate.sources:
                lines.append(f"    {origin.document} token {origin.offset}, {origin.match_tokens} match")
        return "\n".join(lines)


@dataclass(frozen=True)
class Recalled(Result):
    """How much of texts a model knows, each token from those before it."""

    tokens: int
    evaluated: int
    """Tokens that have others before them."""
    correct: int
    recall: float
    """The share of those evaluated that were correct."""
