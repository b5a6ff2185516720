"""Knowledge: facts are asked both ways, follow by rule, are explained, corrected, and forgotten with what follows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from memo_lm import DerivationStep, Fact, InvalidError, Memo, NotFoundError, ReadOnlyError, StateError

TABLE = "Ada\tborn in\tLondon\nLondon\tcountry\tEngland\nGrace\tborn in\tNew York\n"
RULES = """
[templates]
nationality = "{subject} is from {object}."

[[rule]]
name = "nationality"
when = [["{x}", "born in", "{y}"], ["{y}", "country", "{z}"]]
then = ["{x}", "nationality", "{z}"]
"""
CITIES = """
@prefix x: <http://x.example/> .
@prefix r: <http://www.w3.org/2000/01/rdf-schema#> .
x:p r:label "Parigi"@it, "Paris"@en ; x:country x:France .
"""


@pytest.fixture
def people(memo: Memo) -> Iterator[Memo]:
    """A model that knows where two people were born."""
    added = memo.add_graph(TABLE, format="table", id="people.tsv")
    assert (added.document, added.facts, added.transaction) == ("people.tsv", 3, 1)
    yield memo


def test_facts_are_asked_from_both_ends(people: Memo) -> None:
    assert [str(fact) for fact in people.ask("Ada", "born in")] == ["Ada | born in | London"]
    assert [fact.subject for fact in people.ask(None, "born in", "London")] == ["Ada"]
    assert [fact.object for fact in people.ask("ada")] == ["London"]
    first = people.ask(most=2)
    assert (len(first), first.total, first.facts[0].documents) == (2, 3, ["people.tsv"])
    assert not people.ask("Nobody").facts


def test_rules_are_tried_added_and_taken_back(people: Memo) -> None:
    before = people.digest()
    preview = people.preview_rules(RULES)
    assert (preview.facts, preview.texts, preview.examples[0]) == (1, 1, "Ada is from England.")
    assert (people.digest(), people.rules()) == (before, [])
    added = people.add_rules(RULES, id="people.toml", reason="to begin with")
    assert (added.document, added.examples) == ("people.toml", preview.examples)
    assert people.log()[-1].reason == "to begin with"
    assert {rule.document for rule in people.rules()} == {"people.toml"}
    assert people.complete("Ada is from") == " England."
    assert people.completion("Ada is from", sources=True).sources[0].derivation[0].statement == "Ada is from England."
    assert people.add_rules(RULES, id="people.toml").transaction is None
    people.forget("people.toml")
    assert people.digest() == before


def test_why_shows_what_a_fact_follows_from(people: Memo) -> None:
    people.add_rules(RULES)
    steps = people.why(("Ada", "nationality", "England"))
    assert steps == people.why("Ada | nationality | England") == people.why(people.ask("Ada", "nationality").facts[0])
    assert [str(step) for step in steps] == [
        "Ada | nationality | England  (by nationality)",
        "  Ada | born in | London  (stated in people.tsv)",
        "  London | country | England  (stated in people.tsv)",
    ]
    assert isinstance(steps[0], DerivationStep)
    assert [step.depth for step in people.why("Ada is from")] == [0, 1, 2, 2]
    assert people.why("Nobody knows") == []
    explained = people.explain("Ada is from", candidates=1)
    assert explained.candidates[0].derivation[0].statement == "Ada is from England."
    assert "by nationality" in str(explained)
    assert "by nationality" in explained._repr_html_()


def test_facts_are_stated_and_forgotten_with_what_follows(people: Memo) -> None:
    people.add_rules(RULES)
    people.state([("New York", "country", "USA"), ("Ada", "born in", "New York")], reason="as of May")
    assert sorted(fact.subject for fact in people.ask(None, "nationality", "USA")) == ["Ada", "Grace"]
    people.state(("Ada", "born in", "London"))
    assert [fact.object for fact in people.ask("Ada", "nationality")] == ["England"]
    with pytest.raises(InvalidError, match="known already"):
        people.state(people.ask("London", "country"))
    preview = people.forget_facts("Grace", dry_run=True)
    assert (preview.places, [each.document for each in preview.documents]) == (1, ["people.tsv"])
    receipt = people.forget_facts("Grace", reason="it was asked for")
    assert receipt.documents == ["people.tsv"]
    assert not people.ask("Grace").facts
    assert not people.ask("Grace", "nationality").facts
    with pytest.raises(NotFoundError):
        people.forget_facts("Grace")
    with pytest.raises(InvalidError, match="a subject, a predicate or an object"):
        people.forget_facts()


def test_graphs_come_from_files_and_go_to_others(memo: Memo, tmp_path: Path) -> None:
    file = tmp_path / "cities.ttl"
    file.write_text(CITIES, encoding="utf-8")
    assert memo.add_graph(file, language="it").document == "cities.ttl"
    assert memo.add_graph(str(file), language="it").transaction is None
    assert [str(fact) for fact in memo.ask()] == ["Parigi | country | France"]
    assert [(graph.document, graph.facts, graph.triples) for graph in memo.graphs()] == [("cities.ttl", 1, 3)]
    other = tmp_path / "rules.toml"
    other.write_text("speak = true\n", encoding="utf-8")
    assert memo.add_rules(other).document == "rules.toml"
    written = memo.export_graph("cities.ttl", format="n-triples")
    memo.forget("cities.ttl")
    assert memo.add_graph(written, format="n-triples", language="it", id="again").facts == 1
    assert memo.export_graph(format="ntriples") == written


@pytest.mark.parametrize(
    ("graph", "options", "why"),
    [
        ("a\tb\n", {"format": "table"}, "line 1"),
        (TABLE, {}, "format= says how a text is read"),
        (TABLE, {"format": "docx"}, "format must be one of turtle"),
        (TABLE, {"format": "table", "language": "no such"}, "is no language"),
    ],
)
def test_what_is_no_graph_is_refused_in_words(memo: Memo, graph: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        memo.add_graph(graph, **options)  # type: ignore[arg-type]
    assert len(memo) == 0


def test_other_mistakes_are_refused_in_words(people: Memo, tmp_path: Path) -> None:
    people.memorize("The owl reads.", id="owl")
    (tmp_path / "odd.docx").write_text("x")
    with pytest.raises(InvalidError, match="does not say what format it has"):
        people.add_graph(tmp_path / "odd.docx")
    with pytest.raises(StateError, match="is no graph"):
        people.export_graph("owl")
    with pytest.raises(InvalidError, match="format must be a format that is written"):
        people.export_graph("people.tsv", format="rdf-xml")
    with pytest.raises(InvalidError, match="line 3"):
        people.add_rules('[[rule]]\nwhen = "{x} sleeps."\nthen = ["{y}", "is", "asleep"]')
    with pytest.raises(InvalidError, match="line 2"):
        people.preview_rules("[[rule]]\nwhen = [")
    for wrong in ("Ada", [("Ada", "born in")], [("Ada", "born in", 5)], [("Ada", "", "x")], []):
        with pytest.raises(InvalidError):
            people.state(wrong)  # type: ignore[arg-type]


def test_a_reader_asks_and_changes_nothing(people: Memo) -> None:
    with Memo.open(people.path, read_only=True) as reader:
        assert [fact.object for fact in reader.ask("Ada", "born in")] == ["London"]
        assert reader.preview_rules(RULES).facts == 1
        assert reader.forget_facts("Ada", dry_run=True).places == 1
        for change in (
            lambda: reader.state(("a", "b", "c")),
            lambda: reader.add_rules(RULES),
            lambda: reader.add_graph(TABLE, format="table"),
            lambda: reader.forget_facts("Ada"),
        ):
            with pytest.raises(ReadOnlyError):
                change()
    fact = people.ask("Ada", "born in").facts[0]
    assert fact == Fact("Ada", "born in", "London", 1, ["people.tsv"], None)
