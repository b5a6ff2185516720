"""What a model knows by facts and by rules: the part of `Memo` that asks, states and derives."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, Union, overload

from . import inputs
from ._memo import InvalidError
from .inputs import optional, string, whole
from .progress import Progress, watching
from .results import (
    AddedGraph,
    AddedRules,
    ChangeReport,
    DerivationStep,
    Fact,
    Facts,
    ForgetPreview,
    GraphStats,
    Receipt,
    Rule,
    RulesPreview,
)

if TYPE_CHECKING:
    from . import _memo

Triple = tuple[str, str, str]
"""Subject, predicate and object."""
TextOrFile = Union[str, "os.PathLike[str]"]
"""A text, or the path of a file that holds it."""


class Knowledge:
    """Facts, graphs and rules of a model. Graphs and rules are documents, listed and forgotten like any other."""

    if TYPE_CHECKING:
        _memo: _memo.Memo

    def ask(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        most: int = 20,
    ) -> Facts:
        """Facts that fit, at most so many: those that graphs state, and those that follow by rule. None is anything.

        With a predicate and one of subject and object, the memory itself is asked; else its documents are. Names are
        taken as they are written or, where there is none such, in any case.
        """
        return Facts.read(self._memo.ask(_pattern(subject, predicate, object), whole("most", most)))

    def state(self, facts: Triple | Iterable[Triple | Fact], *, reason: str | None = None) -> ChangeReport:
        """States facts in one transaction: each is what is said of its subject and predicate from then on.

        Graphs that say something else get a new version. A fact that none has a place for goes to the graph "facts".
        """
        return ChangeReport.read(self._memo.state(_facts(facts), optional("reason", reason)))

    @overload
    def forget_facts(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        reason: str | None = None,
        dry_run: Literal[False] = False,
    ) -> Receipt: ...

    @overload
    def forget_facts(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        reason: str | None = None,
        dry_run: Literal[True],
    ) -> ForgetPreview: ...

    def forget_facts(
        self,
        subject: str | None = None,
        predicate: str | None = None,
        object: str | None = None,
        *,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> Receipt | ForgetPreview:
        """Forgets the facts of graphs that fit, and with them what follows. None is anything. Nothing undoes that.

        dry_run: says what would go, and changes nothing.
        """
        what = inputs.forget_options(None, None, None, None, None, _pattern(subject, predicate, object))
        if dry_run:
            return ForgetPreview.read(self._memo.preview_forget(what))
        return Receipt.read(self._memo.forget(what, optional("reason", reason)))

    def add_graph(
        self,
        graph: TextOrFile,
        *,
        format: str | None = None,
        language: str | None = None,
        id: str | None = None,
        reason: str | None = None,
        progress: Progress = None,
    ) -> AddedGraph:
        """Adds a graph as a document, or a new version of it: its facts can be asked for, and what follows is known.

        graph: the path of a file; or, with a format, a text.
        format: turtle, n-triples, n-quads, json-ld, rdf-xml, or table (subject, predicate and object with tabs or
        commas between them); by default what the file's name says.
        language: the language of labels to call things by.
        id: by default the file's name or, of a text, one from its content.
        """
        if isinstance(graph, str) and format is not None:
            data, name = string("graph", graph).encode(), None
        elif isinstance(graph, str) and "\n" in graph:
            raise InvalidError("format= says how a text is read: turtle, n-triples, n-quads, json-ld, rdf-xml or table")
        else:
            path = pathlib.Path(graph)
            data, name = path.read_bytes(), path.name
        options = (optional("format", format), optional("language", language), optional("id", id) or name)
        with watching(progress) as watch:
            return AddedGraph.read(self._memo.add_graph(data, name or "", *options, optional("reason", reason), watch))

    def graphs(self) -> list[GraphStats]:
        """The live graphs, and how much each says."""
        return GraphStats.read_all(self._memo.graphs())

    def export_graph(self, id: str | None = None, *, format: str = "turtle") -> str:
        """A graph, or all live ones, for other programs: as turtle, n-triples, n-quads, json-ld or table."""
        return self._memo.export_graph(optional("id", id), string("format", format))

    def add_rules(
        self,
        rules: TextOrFile,
        *,
        id: str | None = None,
        reason: str | None = None,
        progress: Progress = None,
    ) -> AddedRules:
        """Adds rules as a document, or a new version of it, and says what follows from them.

        rules: a text in TOML or, as a `pathlib.Path`, a file of it.
        id: by default the file's name or, of a text, "rules".
        """
        text, name = _rules(rules, id)
        with watching(progress) as watch:
            return AddedRules.read(self._memo.add_rules(name, text, optional("reason", reason), watch))

    def preview_rules(
        self, rules: TextOrFile, *, id: str | None = None, examples: int = 10, progress: Progress = None
    ) -> RulesPreview:
        """What would follow from rules, with so many examples. Nothing changes; a read-only model has it too."""
        text, name = _rules(rules, id)
        with watching(progress) as watch:
            return RulesPreview.read(self._memo.preview_rules(name, text, whole("examples", examples), watch))

    def rules(self) -> list[Rule]:
        """The rules, and how much follows by each."""
        return Rule.read_all(self._memo.rules())

    def why(self, statement: str | Triple | Fact) -> list[DerivationStep]:
        """Why a text that rules say, or a fact, is known: rules, sentences and facts, step by step.

        A text may be given by its beginning. Nothing if no rule and no graph says it.
        """
        if not isinstance(statement, str):
            statement = " | ".join(_fact(statement))
        return DerivationStep.read_all(self._memo.why(string("statement", statement)))


def _pattern(
    subject: str | None, predicate: str | None, object: str | None
) -> tuple[str | None, str | None, str | None]:
    return optional("subject", subject), optional("predicate", predicate), optional("object", object)


def _fact(given: object) -> Triple:
    if isinstance(given, Fact):
        return given.subject, given.predicate, given.object
    if isinstance(given, (tuple, list)) and len(given) == 3:
        subject, predicate, what = given
        return string("subject", subject), string("predicate", predicate), string("object", what)
    raise InvalidError(f"a fact is (subject, predicate, object), not {given!r}")


def _facts(given: Triple | Iterable[Triple | Fact]) -> list[Triple]:
    """One fact, or several."""
    if isinstance(given, Fact) or (isinstance(given, tuple) and len(given) == 3 and isinstance(given[0], str)):
        return [_fact(given)]
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidError(f"a fact is (subject, predicate, object), not {given!r}")
    return [_fact(each) for each in given]


def _rules(given: TextOrFile, id: str | None) -> tuple[str, str]:
    """The text of rules, and the document's id."""
    if isinstance(given, os.PathLike):
        path = pathlib.Path(given)
        return path.read_text(encoding="utf-8"), optional("id", id) or path.name
    return string("rules", given), optional("id", id) or "rules"
