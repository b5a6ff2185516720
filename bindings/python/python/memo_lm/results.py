"""What a model answers with, as the Rust library defines it. Written by `generate_results.py`; not to be edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from .mixins import (
    ClosestPassagesMixin,
    CompletionMixin,
    DerivationStepMixin,
    DocumentMixin,
    ExplanationMixin,
    FactMixin,
    FactsMixin,
    TextMatchesMixin,
    TransactionMixin,
    VerifyReportMixin,
    date_time,
)
from .mixins import Result as Result

ContextUnit = Literal["tokens", "words", "skip"]
"""What a context is made of."""

TransactionKind = Literal["memorize", "forget", "retire", "restore", "replace", "edit", "merge", "rollback"]
"""What kind of change a transaction is."""

FinishReason = Literal["end", "stop", "length", "cancelled", "unknown", "loop"]
"""Why a completion ended."""

MatchKind = Literal["verbatim", "near", "general", "none"]
"""In what way a prompt is known."""

ContentKind = Literal["text", "edit", "graph", "rules"]
"""What a version holds."""

CopyKind = Literal["backup", "merged", "frozen", "exported", "original"]
"""The kind of a copy."""

DocumentState = Literal["live", "retired", "forgotten", "rolled back"]
"""Whether a document is in the memory."""


@dataclass(frozen=True)
class AddedGraph(Result):
    """What adding a graph did."""

    document: str
    """The document that holds it."""
    transaction: int | None
    """The transaction; none if the document held the same graph before."""
    facts: int
    """Facts by names, each counted once."""
    triples: int
    """Triples, each counted once."""
    blank: int
    """Triples that cannot be asked for because they have a blank node, which has no name."""
    same_name: list[str]
    """Names that several things share, at most ten: facts about these are taken as facts about one."""


@dataclass(frozen=True)
class Rule(Result):
    """Rules of a model, or of a file."""

    name: str
    """Its name."""
    kind: str
    """What it does: `text`, `extraction`, `inference` or `speech`."""
    document: str
    """The document that has it."""
    text: str
    """What it says, on one line."""
    facts: int
    """How many facts follow by it."""
    texts: int
    """How many texts follow by it."""


@dataclass(frozen=True)
class RulesPreview(Result):
    """What rules would derive. Nothing has changed."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"rules": Rule}

    rules: list[Rule]
    """The rules of the file, with what follows by each."""
    facts: int
    """Facts that would be new."""
    texts: int
    """Texts that would be new."""
    examples: list[str]
    """The first of the new ones: texts, and facts with bars between their parts."""


@dataclass(frozen=True)
class AddedRules(RulesPreview):
    """What adding rules did."""

    document: str
    """The document that holds them."""
    transaction: int | None
    """The transaction; none if the document held the same rules before."""


@dataclass(frozen=True)
class PromptToken(Result):
    """A token of a prompt."""

    token: int
    """The token."""
    text: str
    """Its text."""


@dataclass(frozen=True)
class CountedToken(Result):
    """A token that followed a context."""

    token: int
    """The token."""
    text: str
    """Its text; empty for the end of a document."""
    count: int
    """How often."""


@dataclass(frozen=True)
class ContextBreakdown(Result):
    """What a context says."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"successors": CountedToken}

    unit: ContextUnit
    """What it is made of."""
    length: int
    """How many of them."""
    span: int
    """How many of the last tokens of the prompt it sees."""
    from_start: bool
    """Whether they are all that a document began with."""
    total: int
    """How often it occurred; 0 if it never did."""
    kinds: int
    """How many different tokens followed it."""
    successors: list[CountedToken]
    """What followed it most often, up to five tokens; none of a context of words that sees no further than one of
    tokens."""
    weight: float
    """How much of all probability it shares out."""


@dataclass(frozen=True)
class CandidateShares(Result):
    """A token that may follow, and the terms that its probability is the sum of."""

    token: int
    """The token."""
    text: str
    """Its text; empty for the end of a document."""
    probability: float
    """Its probability."""
    prior: float
    """What it gets before any context."""
    contexts: list[float]
    """What each context adds, in their order."""
    quote: float
    """What it gets because it followed the longest context, which is probably quoted."""
    general: float
    """What generalised contexts add."""
    recent: float
    """What the text itself adds."""


@dataclass(frozen=True)
class Breakdown(Result):
    """What a memory says after a prompt, and the parts that it is the sum of. Of all probability, contexts share out
    their `weight`, and `prior`, `quote`, `general` and `recent` the rest."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {
        "tokens": PromptToken,
        "contexts": ContextBreakdown,
        "candidates": CandidateShares,
    }

    tokens: list[PromptToken]
    """The last tokens of the prompt, as many as contexts can see."""
    whole: bool
    """Whether these are all: then a document may begin with them."""
    contexts: list[ContextBreakdown]
    """The contexts that there is text for, the shortest first: those of tokens, then those of words that occurred."""
    prior: float
    """What is shared out as tokens are before any context."""
    quote: float
    """What is shared out by what followed the longest context, because the prompt is probably a quote."""
    general: float
    """What contexts share out that are generalised by the lexicon."""
    recent: float
    """What the text itself shares out."""
    candidates: list[CandidateShares]
    """The most probable tokens, the likeliest first."""


@dataclass(frozen=True)
class SlotEvidence(Result):
    """What one slot remembers of a token."""

    unit: ContextUnit
    """What the slot's context is made of."""
    length: int
    """How many of them."""
    from_start: bool
    """Whether they are all that a document began with."""
    count: int
    """How often the token followed that context."""
    total: int
    """How often the context occurred at all."""


@dataclass(frozen=True)
class GeneralUnit(Result):
    """A unit of a generalised context: a word, or a run of symbols."""

    text: str
    """Its text in the prompt."""
    class_: str | None
    """The class that it counts as, if it has one."""


@dataclass(frozen=True)
class Excerpt(Result):
    """The text around a place, in reading order."""

    before: str
    """What stands before the matching part."""
    match: str
    """What is also the end of the context."""
    token: str
    """The token."""
    after: str
    """What follows it."""


@dataclass(frozen=True)
class Source(Result):
    """A place in a document where the end of the context is followed by the token."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"excerpt": Excerpt}

    document: str
    """The document."""
    version: int
    """Its version."""
    offset: int
    """The token's position in the document."""
    match_tokens: int
    """How many tokens before it are the end of the context."""
    excerpt: Excerpt
    """The text around it."""


@dataclass(frozen=True)
class GeneralSource(Result):
    """A place that a generalised context matches."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"place": Source}

    differences: list[list[str]]
    """The units of the prompt that are others there, as they are in the prompt and as they are there: Fiat as Volvo."""
    place: Source
    """The place."""


@dataclass(frozen=True)
class GeneralCandidate(Result):
    """What a generalised context says of a token."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"context": GeneralUnit, "sources": GeneralSource}

    level: int
    """The level of the lexicon."""
    context: list[GeneralUnit]
    """The context, unit by unit."""
    class_: str | None
    """The class of the unit that the token begins, if what followed was counted as that."""
    count: int
    """How often that class, or the token, followed the context."""
    total: int
    """How often the context occurred."""
    sources: list[GeneralSource]
    """Places in live documents that the context is generalised from; nothing if the model is frozen and has no texts.
    """


@dataclass(frozen=True)
class DerivationStep(DerivationStepMixin):
    """A step of a derivation. What it follows from is what comes next and is one deeper."""

    depth: int
    """How deep it is: 0 is what was asked for."""
    statement: str
    """The statement: a text, or subject, predicate and object with bars between."""
    rule: str | None
    """The rule that it follows by; none if a document states it."""
    rule_text: str | None
    """The rule, as it is written."""
    documents: list[str]
    """The documents that state it, or have the sentence."""
    sentence: str | None
    """The sentence that the rule found it in."""


@dataclass(frozen=True)
class Candidate(Result):
    """A token that may follow."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {
        "evidence": SlotEvidence,
        "general": GeneralCandidate,
        "sources": Source,
        "derivation": DerivationStep,
    }

    token: int
    """The token."""
    text: str
    """Its text."""
    probability: float
    """Its probability."""
    evidence: list[SlotEvidence]
    """What each slot remembers of it."""
    general: list[GeneralCandidate]
    """What contexts say of it that are generalised by the lexicon, the longest of each level."""
    sources: list[Source]
    """Where it stands in live documents; nothing if the model is frozen and has no texts."""
    derivation: list[DerivationStep]
    """Why rules say it, if they do."""


@dataclass(frozen=True)
class ChangeReport(Result):
    """A change of documents that were there."""

    transaction: int
    """The transaction."""
    kind: TransactionKind
    """What kind of change it is."""
    documents: list[str]
    """The documents that changed, by name."""
    digest_after: str
    """The digest of the memory afterwards."""


@dataclass(frozen=True)
class ClassMembers(Result):
    """The words of a class."""

    level: int
    """The level of the lexicon."""
    class_: str
    """The name of the class."""
    total: int
    """How many words it has."""
    words: list[str]
    """The first of them, in normal form and in order."""


@dataclass(frozen=True)
class Passage(Result):
    """A part of a live document that shares words with a text."""

    document: str
    """The document."""
    version: int
    """Its version."""
    offset: int
    """The bytes of the document's text before the passage."""
    character: int
    """The characters before it."""
    line: int
    """The line that it begins in, from 1."""
    excerpt: str
    """The passage."""
    score: float
    """The share of the weight of the text's words that the shared ones have: 1 if it shares all."""
    words: list[str]
    """The words of the text that it shares, the rarest first."""


@dataclass(frozen=True)
class ClosestPassages(ClosestPassagesMixin):
    """The passages that are closest to a text."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"passages": Passage}

    passages: list[Passage]
    """The passages, the closest first."""


@dataclass(frozen=True)
class MixtureShares(Result):
    """What a memory and a neural model beside it each gave a token."""

    weight: float
    """How much the memory counted there: from 0, not at all, to 1, alone."""
    memory: float
    """The probability that the memory gave it."""
    model: float | None
    """The probability that the model gave it; none where the model did not answer."""


@dataclass(frozen=True)
class CompletionToken(Result):
    """A token of a completion, or of a text that is scored."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"mixture": MixtureShares}

    token: int
    """The token."""
    text: str
    """The text that became whole with it."""
    probability: float | None
    """Its probability, if that was asked for."""
    best: bool | None
    """Whether it was the most probable one, if probabilities were asked for."""
    layer: int | None
    """The layer, from 1, of the longest context that knew it; none if none did, or if that was not asked for."""
    context_tokens: int | None
    """The tokens of that context."""
    mixture: MixtureShares | None
    """What the memory and its partner each gave it, if it was chosen from both together."""


@dataclass(frozen=True)
class PromptMatch(Result):
    """How a prompt was found in the memory."""

    kind: MatchKind
    """In what way."""
    tokens: int
    """How many of the prompt's last tokens stand together in the memory."""
    of: int
    """The prompt's tokens."""
    typed: str | None
    """Where the prompt differs from what the memory has: what was typed."""
    remembered: str | None
    """What the memory has in its place."""


@dataclass(frozen=True)
class ContinuedPrompt(Result):
    """A prompt as it was continued, where that is not as it was typed: put right as the memory has it, or without the
    word that it ends in, which the memory then says whole."""

    text: str
    """The text after which the completion's first token was chosen: what explains the completion explains what follows
    this."""
    tokens: list[int]
    """Its tokens."""
    next: str
    """That first token, as it stands in the memory. The completion shows it without what was typed of it already, and
    after the rest of a word that was only begun."""


@dataclass(frozen=True)
class StretchSource(Result):
    """Where a stretch of a completion stands."""

    document: str
    """The document."""
    version: int
    """Its version."""
    offset: int
    """The position of the first token in the document."""
    line: int
    """The line that it begins in, from 1."""
    match_tokens: int
    """How many tokens before it are the end of what was said before."""


@dataclass(frozen=True)
class Stretch(Result):
    """Tokens of a completion that come from one place, or that no document has there."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"source": StretchSource, "derivation": DerivationStep}

    text: str
    """The text."""
    tokens: int
    """How many tokens of the completion it is."""
    source: StretchSource | None
    """Where it stands; none if no live document has its first token after the last one of what was said before."""
    derivation: list[DerivationStep]
    """Why rules say it, if they do."""


@dataclass(frozen=True)
class Completion(CompletionMixin):
    """A continuation of a prompt."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {
        "tokens": CompletionToken,
        "matched": PromptMatch,
        "continued": ContinuedPrompt,
        "sources": Stretch,
        "closest": Passage,
    }

    completion: str
    """The continuation, without the prompt."""
    tokens: list[CompletionToken]
    """Its tokens."""
    finish_reason: FinishReason
    """Why it ended."""
    tokens_per_second: float
    """How fast it came."""
    seed: int | None
    """The seed of its draws, which draws it again; none if nothing was drawn."""
    matched: PromptMatch | None
    """How the prompt was found in the memory, if that was looked for."""
    continued: ContinuedPrompt | None
    """What was continued, if that is not the prompt as it was typed."""
    sources: list[Stretch] | None
    """Where its stretches stand in the documents; none if that was not asked for, or if the model is frozen."""
    closest: list[Passage] | None
    """The passages that share the most with the prompt, the closest first, if the memory does not know it or only its
    last few tokens; none if it does, if that was not looked for, or if the model is frozen."""


@dataclass(frozen=True)
class DigestReport(Result):
    """The digest of a memory."""

    digest: str
    """The digest: the same for every model of these settings that knows the same texts."""
    transaction: int
    """The last transaction that the memory contains."""


@dataclass(frozen=True)
class Version(Result):
    """One version of a document."""

    number: int
    """From 1."""
    time: str
    """When it came."""
    tokens: int
    """The number of its tokens."""
    digest: str
    """The digest of its tokens under the model's secret key."""
    transaction: int
    """The transaction that brought it."""
    parts: list[int]
    """The tokens of each part; more than one where text was cut out."""
    kind: ContentKind
    """What it holds."""
    prompt_tokens: int | None
    """The tokens of an edit's prompt."""
    weight: int | None
    """How often an edit's continuation is written."""
    forgotten: int | None
    """The transaction that scrubbed its tokens, if one did."""

    @property
    def when(self) -> datetime:
        """The time as a datetime, in UTC."""
        return date_time(self.time)


@dataclass(frozen=True)
class Document(DocumentMixin):
    """A document and all its versions."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"versions": Version}

    id: str
    """Its name, unique in the model."""
    state: DocumentState
    """Whether it is in the memory."""
    kind: ContentKind
    """What it holds: of the version that counts or, if none does, of the last one."""
    version: int | None
    """The version that counts; none if it was forgotten or rolled back."""
    tokens: int
    """Tokens of that version."""
    time: str | None
    """When that version came."""
    labels: dict[str, str]
    """Labels given by the user."""
    versions: list[Version]
    """All versions, in order."""

    @property
    def when(self) -> datetime | None:
        """The time as a datetime, in UTC."""
        return date_time(self.time)


@dataclass(frozen=True)
class Place(Result):
    """Where a document is."""

    version: int
    """Which of its versions counts, from 1."""
    live: bool
    """Whether that version is in the memory; if not, the document is retired."""


@dataclass(frozen=True)
class DocumentChange(Result):
    """What a transaction did to one document."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"before": Place, "after": Place}

    document: str
    """The document."""
    before: Place | None
    """Where it was; none if it was not there."""
    after: Place | None
    """Where it is afterwards; none if it is gone."""


@dataclass(frozen=True)
class TextMatch(Result):
    """One occurrence of a text, and what stands around it."""

    offset: int
    """The bytes of the document's text before it."""
    line: int
    """The line that it begins in, from 1."""
    before: str
    """The beginning of its line, and lines before that if they were asked for; of long lines, the end."""
    match: str
    """The occurrence itself."""
    after: str
    """The rest of its line, and lines after that if they were asked for; of long lines, the beginning."""


@dataclass(frozen=True)
class DocumentMatches(Result):
    """Where a document contains a text."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"matches": TextMatch}

    document: str
    """The document."""
    version: int
    """The version that counts."""
    live: bool
    """Whether it is in the memory."""
    count: int
    """How often it contains the text."""
    matches: list[TextMatch]
    """Where: the first thousand occurrences."""


@dataclass(frozen=True)
class DocumentText(Document):
    """A document with the text of one of its versions."""

    text: str | None
    """The text; none if that version was forgotten, or no version counts."""


@dataclass(frozen=True)
class EditReport(Result):
    """What an edit did."""

    transaction: int | None
    """The transaction; none if the target won without it."""
    document: str | None
    """The document that holds the edit."""
    weight: int
    """The weight that was needed."""
    space_added: bool
    """Whether a space was put between prompt and target, which are words."""
    replaced: str | None
    """The old text that the target stands in place of, where a document has the prompt."""
    goes_on: str | None
    """How that document's text goes on after it: what the edit says after the target."""
    digest_after: str
    """The digest of the memory afterwards."""


@dataclass(frozen=True)
class Explanation(ExplanationMixin):
    """Why a memory says what it says after a prompt."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"candidates": Candidate}

    prompt: str
    """The text whose continuation is explained."""
    prediction: str
    """The most probable token, as text."""
    candidates: list[Candidate]
    """The most probable tokens, the likeliest first."""


@dataclass(frozen=True)
class Fact(FactMixin):
    """A fact, and where it is from."""

    subject: str
    """What it is about."""
    predicate: str
    """What is said of it."""
    object: str
    """What that is."""
    count: int
    """How often the memory was told: by how many documents, or once if it follows by rule."""
    documents: list[str]
    """The documents that say so; none if it follows by rule, or if the model is frozen."""
    rule: str | None
    """The rule that it follows by."""


@dataclass(frozen=True)
class Facts(FactsMixin):
    """Facts that answer a question."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"facts": Fact}

    facts: list[Fact]
    """The facts, those that were stated most often first."""
    total: int
    """How many there are in all."""
    noise: float
    """The probability that the memory took another question's answer for one of these; 0 if documents were asked
    instead."""


@dataclass(frozen=True)
class PreviewDocument(Result):
    """What a forget would do to a document."""

    document: str
    """The document."""
    state: DocumentState
    """Whether it is in the memory."""
    kind: ContentKind
    """What it holds."""
    versions: list[int]
    """The versions that would be scrubbed."""
    whole: bool
    """Whether nothing of it would be left."""
    places: int
    """How often the newest of these versions contains the text; 0 if whole documents would go."""
    tokens: int
    """Tokens that would leave the memory."""
    excerpts: list[str]
    """The first places with what stands around them or, if whole documents would go, how it begins."""


@dataclass(frozen=True)
class ModelCopy(Result):
    """A copy of a model, or the original that this one is a copy of: it may hold what was forgotten later."""

    kind: CopyKind
    """What kind of copy."""
    path: str
    """Where it was when the copy was made."""
    time: str
    """When the copy was made."""
    transaction: int
    """The last transaction that both contain."""

    @property
    def when(self) -> datetime:
        """The time as a datetime, in UTC."""
        return date_time(self.time)


@dataclass(frozen=True)
class ForgetPreview(Result):
    """What a forget would do. Nothing has changed."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"documents": PreviewDocument, "copies": ModelCopy}

    documents: list[PreviewDocument]
    """The documents that would go, or lose a text."""
    places: int | None
    """How often the text stands in them; none if whole documents would go."""
    tokens: int
    """Tokens that would leave the memory."""
    shared: list[str]
    """Live documents that share a passage with documents that would go; they would still know it."""
    copies: list[ModelCopy]
    """Copies made earlier, and originals, which would still contain it."""
    bytes_needed: int
    """Bytes that must be free on the disk meanwhile, about."""
    bytes_free: int | None
    """Bytes that are free on the disk, if the system says so."""
    transaction: int
    """The last transaction of the model that was looked at."""


@dataclass(frozen=True)
class ForgottenVersion(Result):
    """All that is left of a forgotten version."""

    document: str
    """The document it was in."""
    version: int
    """The version."""
    digest: str
    """The digest of the version's tokens under the model's secret key."""


@dataclass(frozen=True)
class FreezeReport(Result):
    """What freezing cost."""

    bytes: int
    """Bytes of the frozen memory."""
    positions: int
    """Positions of live documents at which recall was tried."""
    recall_before: float
    """The share of them that the model recalls."""
    recall_after: float
    """The share of them that the frozen model recalls."""


@dataclass(frozen=True)
class GraphStats(Result):
    """A graph in figures."""

    document: str
    """The document that holds it."""
    facts: int
    """Facts by names, each counted once."""
    triples: int
    """Triples, labels among them."""


@dataclass(frozen=True)
class LexiconStats(Result):
    """A lexicon in figures."""

    words: int
    """How many words have a class."""
    classes: list[int]
    """How many classes each level has."""
    sources: int
    """How many texts it was induced from."""
    digest: str
    """Its digest."""


@dataclass(frozen=True)
class MemorizeReport(Result):
    """What memorizing did."""

    transaction: int | None
    """The transaction; none if nothing had to change."""
    documents: int
    """Documents that were given."""
    added: list[str]
    """Documents that are new."""
    updated: list[str]
    """Documents that got a new version."""
    unchanged: list[str]
    """Documents that were here with the same content."""
    tokens: int
    """Tokens that were memorized."""
    seconds: float
    """How long it took."""
    tokens_per_second: float
    """How fast it was."""


@dataclass(frozen=True)
class SlotStats(Result):
    """How full the matrix of a slot is."""

    unit: ContextUnit
    """What the slot's contexts are made of."""
    length: int
    """How many of them."""
    table: str
    """The table that holds the matrix: `pairs`, `successors` or `events`."""
    rows: int | None
    """Rows in use: different contexts or, in `events`, contexts with the token after them. None if the model is frozen,
    which does not keep which slot a row is of."""
    cells: int | None
    """Cells that are not zero."""
    exact: bool
    """Whether rows and cells were counted; those of a large memory are estimated from a part of it."""
    false_match: float
    """The probability that a context that never occurred is found all the same, because it shares a row with one that
    did."""


@dataclass(frozen=True)
class MemoryFill(Result):
    """How full the memory is, and how noisy, slot by slot."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"slots": SlotStats}

    rows: int
    """Rows of each slot's matrix that contexts are hashed to."""
    slots: list[SlotStats]
    """The slots of tokens and words, the shortest first."""


@dataclass(frozen=True)
class RenamedDocument(Result):
    """A document that came in under another id."""

    theirs: str
    """Its id in the other model."""
    ours: str
    """Its id here."""


@dataclass(frozen=True)
class MergeReport(Result):
    """What merging did."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"renamed": RenamedDocument}

    transaction: int | None
    """The transaction; none if nothing had to change."""
    added: list[str]
    """Documents that came in under their own id."""
    same: list[str]
    """Documents that were here with the same content: they count once."""
    conflicts: list[str]
    """Documents of ours that were kept, or replaced by theirs."""
    renamed: list[RenamedDocument]
    """Documents that came in under another id."""
    digest_after: str
    """The digest of the memory afterwards."""


@dataclass(frozen=True)
class Proof(Result):
    """Whether a memory is one that never saw some documents, bit for bit."""

    without: list[str]
    """The documents that it never saw; none if the model is compared as it is."""
    documents: int
    """The documents that the memory which never saw them was made of."""
    tokens: int
    """The tokens of those documents."""
    digest: str
    """The digest of the model's memory, which a proof leaves as it is."""
    digest_after: str
    """The digest of that memory once the documents are forgotten."""
    digest_never_saw: str
    """The digest of a memory made from nothing of all other live documents."""
    equal: bool
    """Whether the last two are equal."""


@dataclass(frozen=True)
class RebuildReport(Result):
    """A memory that was made again."""

    bytes: int
    """Its bytes."""
    digest: str
    """Its digest."""


@dataclass(frozen=True)
class RecallReport(Result):
    """How much of texts a model recalls, each token from those before it."""

    tokens: int
    """Tokens of the texts."""
    evaluated: int
    """Tokens that have others before them."""
    correct: int
    """Those of them that were the most probable ones."""
    recall: float
    """The share of those evaluated that were correct."""
    tokens_per_second: float
    """How fast that went."""


@dataclass(frozen=True)
class Receipt(Result):
    """What a forget did, and what it could not reach."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"forgotten": ForgottenVersion, "copies": ModelCopy}

    transaction: int
    """The transaction."""
    documents: list[str]
    """The documents that were forgotten, or from which text was cut."""
    tokens: int
    """Tokens that left the memory."""
    digest_after: str
    """The digest of the memory afterwards."""
    forgotten: list[ForgottenVersion]
    """For each version that was scrubbed, the digest of its tokens under the model's secret key."""
    shared: list[str]
    """Live documents that share a passage with what was forgotten; they still know it."""
    lexicon_sources: list[str]
    """Documents among them that the model's lexicon was induced from: it still remembers which of their words stood
    together, until the model is rebuilt with another."""
    copies: list[ModelCopy]
    """Copies made earlier and, if this model is a copy, its originals: they still contain it."""
    subtracting_seconds: float
    """How long it took to record the intent and to subtract."""
    scrubbing_seconds: float
    """How long it took to write the checkpoint and to copy the ledger."""


@dataclass(frozen=True)
class ScoreReport(Result):
    """How probable texts are."""

    tokens: int
    """Tokens of the texts, their ends included."""
    log_likelihood: float
    """The natural logarithm of their probability."""
    perplexity: float
    """Their perplexity a token."""
    perplexity_alone: float | None
    """What it is by the memory alone, if the context memory was read too."""


@dataclass(frozen=True)
class Stats(Result):
    """A model in figures."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"lexicon": LexiconStats}

    tokenizer: str
    """The tokenizer's name."""
    frozen: bool
    """Whether the model is frozen: a memory without texts, which cannot change."""
    context_tokens: list[int]
    """Lengths of the contexts that the memory sees, in tokens."""
    context_words: list[int]
    """Lengths of the contexts that it sees in words; none if it sees tokens alone."""
    lexicon: LexiconStats | None
    """The lexicon that contexts are generalised by, if there is one."""
    cells: int
    """Cells of the memory that are not zero."""
    bytes: int
    """Bytes of the memory."""
    documents: int | None
    """Live documents; none if the model is frozen, and so has no documents."""
    tokens: int
    """Tokens that are memorized."""
    bytes_per_token: float | None
    """Bytes for each token."""
    transaction: int
    """The last transaction."""


@dataclass(frozen=True)
class TextMatches(TextMatchesMixin):
    """Where a text occurs."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"documents": DocumentMatches}

    documents: list[DocumentMatches]
    """The documents that contain it."""
    count: int
    """How often it occurs in all."""


@dataclass(frozen=True)
class Transaction(TransactionMixin):
    """One change of the model."""

    _nested: ClassVar[Mapping[str, type[Result]]] = {"changes": DocumentChange, "forgotten": ForgottenVersion}

    id: int
    """Its number, from 1."""
    time: str
    """When it was made."""
    kind: TransactionKind
    """What kind of change it is."""
    reason: str | None
    """Why, in the user's words."""
    changes: list[DocumentChange]
    """What it did, document by document."""
    undoes: int | None
    """The transaction that this one rolled back."""
    undone_by: int | None
    """The transaction that rolled this one back."""
    forgotten: list[ForgottenVersion]
    """What it forgot: all that is left of it."""
    can_roll_back: bool
    """Whether it may be rolled back, if no later one depends on it."""
    unfinished: bool
    """Whether it is a forget whose text is still to be scrubbed: the disk was full, or the program was killed."""

    @property
    def when(self) -> datetime:
        """The time as a datetime, in UTC."""
        return date_time(self.time)


@dataclass(frozen=True)
class VerifyReport(VerifyReportMixin):
    """What was checked, and what is wrong."""

    documents: int
    """Documents that were checked; 0 if the model is frozen, and so has no documents."""
    versions: int
    """Versions whose tokens were compared with their digests."""
    digest: str
    """The digest of the memory."""
    damage: list[str]
    """What is wrong, in words; empty if nothing is."""


@dataclass(frozen=True)
class WordClass(Result):
    """A class of a word."""

    level: int
    """The level of the lexicon."""
    class_: str
    """The name of the class."""
