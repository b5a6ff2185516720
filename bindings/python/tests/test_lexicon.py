"""Lexicons: what was said of one word is expected of its like, is seen at work, switched off and taken back."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memo_lm import (
    InvalidError,
    Lexicon,
    Memo,
    MergeError,
    NotFoundError,
    ReadOnlyError,
    StorageError,
    WordClass,
)

CARS = {"Volvo": "car", "Fiat": "car", "Saab": "car"}
VEHICLES = {
    "Volvo": ["car", "vehicle"],
    "Fiat": ["car", "vehicle"],
    "train": [None, "vehicle"],
}
DRIVES = [
    ("volvo", "Anna drives a Volvo to Rome"),
    ("ship", "Karl sails a ship to Oslo"),
    ("boat", "Karl sails a boat to Oslo"),
    ("way", "the way to Oslo"),
]
PROMPT = "Anna drives a Fiat to"


@pytest.fixture
def cars(tmp_path: Path) -> Iterator[Memo]:
    """A model that knows what cars are."""
    with Memo.create(tmp_path / "cars.memo", lexicon=CARS) as memo:
        memo.memorize(DRIVES)
        yield memo


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Memo]:
    """The same without."""
    with Memo.create(tmp_path / "plain.memo") as memo:
        memo.memorize(DRIVES)
        yield memo


# Lexicons themselves


def test_a_lexicon_says_which_words_are_alike() -> None:
    lexicon = Lexicon(VEHICLES)
    assert lexicon.classes("FIAT") == ["car", "vehicle"]
    assert lexicon.classes("train") == [None, "vehicle"]
    assert lexicon.classes("bicycle") == []
    assert lexicon.members("car") == ["fiat", "volvo"]
    assert lexicon.members("vehicle") == lexicon.members("vehicle", level=1) == ["fiat", "train", "volvo"]
    assert lexicon.names() == ["car"]
    assert lexicon.names(1) == ["vehicle"]
    assert (len(lexicon), lexicon.levels, lexicon.sources) == (3, 2, 0)
    assert list(lexicon) == ["fiat", "train", "volvo"]
    assert "Train" in lexicon
    assert "bicycle" not in lexicon
    assert 7 not in lexicon
    assert "\ud800" not in lexicon
    assert repr(lexicon) == "<memo_lm.Lexicon: 3 words in 1 and 1 classes>"
    for missing in (("boat", None), ("car", 1), ("car", 2)):
        with pytest.raises(NotFoundError):
            lexicon.members(*missing)
    with pytest.raises(NotFoundError, match="no level 2"):
        lexicon.names(2)


def test_what_says_the_same_is_equal(tmp_path: Path) -> None:
    lexicon = Lexicon(VEHICLES)
    lexicon.save(tmp_path / "vehicles.lexicon")
    table = tmp_path / "vehicles.tsv"
    table.write_text("train\t\tvehicle\nVOLVO\tcar\tvehicle\nfiat\tcar\tvehicle\n")
    others = [
        Lexicon(lexicon.items()),
        Lexicon(dict(reversed(VEHICLES.items()))),
        Lexicon.read(tmp_path / "vehicles.lexicon"),
        Lexicon.read(table),
        pickle.loads(pickle.dumps(lexicon)),
    ]
    assert {lexicon, *others} == {lexicon}
    assert {each.digest for each in others} == {lexicon.digest}
    assert lexicon != Lexicon(CARS)
    assert lexicon != VEHICLES
    # Written again, it is in place of what was there.
    Lexicon(CARS).save(tmp_path / "vehicles.lexicon")
    assert Lexicon.read(tmp_path / "vehicles.lexicon") == Lexicon(CARS)


TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<#vehicle> skos:prefLabel "vehicle"@en, "Fahrzeug"@de .
<#car> skos:broader <#vehicle> ; skos:prefLabel "car"@en, "Auto"@de .
<#volvo> skos:broader <#car> ; skos:prefLabel "Volvo"@en .
<#fiat> skos:broader <#car> ; skos:prefLabel "Fiat"@en .
"""


def test_files_of_other_formats_are_read(tmp_path: Path) -> None:
    thesaurus = tmp_path / "cars.ttl"
    thesaurus.write_text(TURTLE)
    two = Lexicon.read(thesaurus, language="en", levels=2)
    assert (two.classes("volvo"), "Auto" in two) == (["car", "vehicle"], False)
    assert Lexicon.read(thesaurus, language="en", depth=0).classes("volvo") == ["vehicle"]
    assert Lexicon.read(thesaurus, language="en", depth=[1, 0]).classes("volvo") == ["car", "vehicle"]
    lines = tmp_path / "cars"
    lines.write_text('{"word": "Volvo", "class": "car"}\n')
    assert Lexicon.read(lines, format="jsonl").members("car") == ["volvo"]
    assert "volvos" in Lexicon.read(lines, format="jsonl", inflect=True).members("car")


def test_what_is_left_out_of_a_file_is_said(tmp_path: Path) -> None:
    table = tmp_path / "cars.tsv"
    table.write_text("Volvo\tcar\nAlfa Romeo\tcar\n")
    with pytest.warns(UserWarning, match=r"1 entries of several words \('Alfa Romeo'\)"):
        assert list(Lexicon.read(table)) == ["volvo"]
    table.write_text("jar\tbox\njar\tthing\n")
    with pytest.raises(InvalidError, match='on_conflict="first"'):
        Lexicon.read(table)
    with pytest.warns(UserWarning, match="the first counts"):
        assert Lexicon.read(table, on_conflict="first").classes("jar") == ["box"]


TRAVELS = [
    "Anna drives a Volvo to Rome. Paul drives a Fiat to Bonn.",
    "Anna drives a Fiat to Bonn. Paul drives a Volvo to Rome.",
]


def test_a_lexicon_is_induced_from_texts() -> None:
    lexicon = Lexicon.induce(TRAVELS, classes=7)
    assert lexicon.classes("Volvo") == lexicon.classes("Fiat") != lexicon.classes("Rome")
    assert lexicon.classes("Anna") == ["anna paul"]
    assert lexicon == Lexicon.induce(reversed(TRAVELS), 7, 2)
    assert lexicon != Lexicon(lexicon.items()), "that one was induced from nothing"
    assert lexicon.sources == 2
    assert lexicon.is_from(TRAVELS[0])
    assert not lexicon.is_from("Anna")
    assert pickle.loads(pickle.dumps(lexicon)).is_from(TRAVELS[1])


def test_inducing_is_watched_and_can_be_stopped() -> None:
    texts = [" ".join(f"word{n * k % 4001}" for n in range(12_000)) for k in range(1, 6)]
    told: list[tuple[str, int, int]] = []
    Lexicon.induce(texts, 300, rounds=1, progress=lambda *how: told.append(how))
    assert {what for what, _, _ in told} <= {"counting", "inducing"}
    assert all(0 <= done <= whole for _, done, whole in told)

    def stop(what: str, done: int, whole: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Lexicon.induce(texts * 5, 1000, rounds=1000, progress=stop)


HOSTILE: list[tuple[Any, str]] = [
    ({}, "no word has a class"),
    ({"volvo": None}, "no word has a class"),
    ({"volvo": ""}, "car|empty|class"),
    ({"Alfa Romeo": "car"}, "Alfa Romeo"),
    ({"": "car"}, "single words"),
    ({"volvo": "a\nb"}, "class"),
    ({"volvo": " car"}, "class"),
    ({"volvo": "c" * 300}, "class"),
    ({"v" * 300: "car"}, "200"),
    ({"volvo": ["a"] * 5}, "levels"),
    ({"Volvo": "car", "VOLVO": "ship"}, "two classes"),
    ({"volvo": 7}, "'volvo': a class must be a str"),
    ({"volvo": ["car", 7]}, "'volvo': class must be a str"),
    ({"volvo": b"car"}, "bytes"),
    ({7: "car"}, "word must be a str"),
    ({"vol\ud800vo": "car"}, "surrogate"),
    ({"volvo": "\ud800"}, "surrogate"),
    ("cars.tsv", "Lexicon.read"),
    (Path("cars.tsv"), "Lexicon.read"),
    (b"volvo", "bytes"),
    (7, "int"),
    (None, "NoneType"),
    (["volvo"], "must be a word and its class"),
    ([("volvo", "car", "vehicle")], "must be a word and its class"),
]


@pytest.mark.parametrize(("words", "why"), HOSTILE)
def test_what_is_no_lexicon_is_refused(words: Any, why: str) -> None:
    with pytest.raises(InvalidError, match=why):
        Lexicon(words)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        b"\xff\xfeV\0",
        b"Volvo\t\xe9\n",
        b"no class at all\n",
        b"memo lexicon 2\n",
        b"memo lexicon 1\n1 levels",
    ],
)
def test_files_that_are_none_are_refused_with_their_names(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "some.lexicon"
    path.write_bytes(content)
    for read in (Lexicon.read, lambda path: Memo.create(tmp_path / "some.memo", lexicon=path)):
        with pytest.raises(InvalidError, match=r"some\.lexicon"):
            read(path)
    assert not (tmp_path / "some.memo").exists()


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    table = tmp_path / "cars.tsv"
    table.write_text("Volvo\tcar\n")
    wrong: list[dict[str, Any]] = [
        {"format": "word"},
        {"on_conflict": "last"},
        {"levels": 0},
        {"levels": 5},
        {"depth": [1] * 9},
        {"depth": -1},
        {"depth": 1.5},
        {"language": 7},
        {"max_bytes": "many"},
    ]
    for options in wrong:
        with pytest.raises(InvalidError):
            Lexicon.read(table, **options)
    with pytest.raises(StorageError, match="nowhere"):
        Lexicon.read(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="nowhere"):
        Lexicon(CARS).save(tmp_path / "nowhere" / "cars.lexicon")
    for given in ({"classes": 0}, {"classes": 5001}, {"classes": -1}, {"min_count": 99}, {"min_count": 1.5}):
        with pytest.raises(InvalidError):
            Lexicon.induce(TRAVELS, **given)  # type: ignore[arg-type]
    for texts in ([], "", [7], b"a", 7):
        with pytest.raises(InvalidError):
            Lexicon.induce(texts)  # type: ignore[arg-type]


# Models


def test_what_was_said_of_one_is_expected_of_its_like(cars: Memo, plain: Memo) -> None:
    first = {"max_tokens": 1, "guess": True, "find": False}
    assert cars.complete(PROMPT, **first) == " Rome"
    assert plain.complete(PROMPT, **first) == " Oslo"
    assert cars.complete(PROMPT, **first, generalize=0) == " Oslo"
    assert cars.completion(PROMPT, **first).completion == " Rome"
    assert cars.complete_all([PROMPT] * 2, **first) == [" Rome"] * 2
    assert cars.complete_all([PROMPT] * 2, **first, generalize=0) == [" Oslo"] * 2
    assert "".join(cars.generate(PROMPT, 1, stream=True, guess=True)).startswith(" Rome")
    # What is memorized as it is stays what it was.
    assert cars.complete("Karl sails a boat to") == " Oslo"


def test_switched_off_a_lexicon_changes_no_bit(cars: Memo, plain: Memo) -> None:
    text = f"{PROMPT} Rome"
    ways: list[Any] = [
        lambda memo, **how: memo.logprobs(text, **how).tolist(),
        lambda memo, **how: [logs.tolist() for logs in memo.logprobs_all([text, PROMPT], **how)],
        lambda memo, **how: memo.next_token(PROMPT, **how).tolist(),
        lambda memo, **how: memo.log_distributions(text, start=4, **how).tolist(),
        lambda memo, **how: memo.score(text, **how),
        lambda memo, **how: memo.recall([text, text], **how).correct,
        lambda memo, **how: memo.explain(PROMPT, **how),
        lambda memo, **how: memo.completion(PROMPT, 2, probabilities=True, guess=True, **how).tokens,
    ]
    for way in ways:
        assert way(cars, generalize=0) == way(plain) == way(plain, generalize=0.5)
        assert way(cars) != way(plain)
        assert way(cars) == way(cars, generalize=1.0)
    some = [cars.next_token(PROMPT, generalize=share)[cars.encode(" Rome")[0]] for share in (0, 0.3, 0.6, 1)]
    assert some == sorted(some)
    assert len(set(some)) == 4


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf"), "much", None, True])
def test_a_share_is_from_0_to_1(share: Any, cars: Memo) -> None:
    for way in (
        cars.complete,
        cars.completion,
        cars.generate,
        cars.generate_async,
        cars.logprobs,
        cars.next_token,
        cars.log_distributions,
        cars.score,
        cars.recall,
        cars.explain,
    ):
        with pytest.raises(InvalidError, match="generalize"):
            way(PROMPT, generalize=share)
    for many in (cars.complete_all, cars.logprobs_all):
        with pytest.raises(InvalidError, match="generalize"):
            many([PROMPT], generalize=share)


def test_an_explanation_shows_what_a_context_was_matched_as(cars: Memo) -> None:
    why = cars.explain(PROMPT, candidates=1)
    (general,) = why.candidates[0].general
    assert [(unit.text, unit.class_) for unit in general.context] == [
        ("drives", None),
        ("a", None),
        ("Fiat", "car"),
        ("to", None),
    ]
    assert (general.level, general.class_, general.count, general.total) == (0, None, 1, 1)
    (source,) = general.sources
    assert (source.place.document, source.differences) == ("volvo", [["Fiat", "Volvo"]])
    assert general.to_dict()["context"][2] == {"text": "Fiat", "class": "car"}
    lines = str(why).splitlines()
    assert '    matched as "drives a ‹car› to": 1 of 1' in lines
    assert "    volvo, token 5: Fiat as Volvo" in lines
    table = why._repr_html_()
    assert "matched as &quot;drives a ‹car› to&quot;: 1 of 1" in table
    assert "volvo, token 5: Fiat as Volvo: Anna drives a Volvo<u> to</u><b> Rome</b>" in table
    assert "matched as" not in str(cars.explain(PROMPT, generalize=0))


def test_a_page_is_safe_from_what_a_lexicon_says(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "x.memo", lexicon={"Volvo": "<b>", "Fiat": "<b>"}) as memo:
        memo.memorize("Anna drives a Volvo to Rome")
        table = memo.explain(PROMPT)._repr_html_()
    assert "‹&lt;b&gt;›" in table
    assert "‹<b>›" not in table


def test_classes_can_be_asked_for(cars: Memo, plain: Memo) -> None:
    assert cars.word_classes("FIAT") == [WordClass(level=0, class_="car")]
    assert cars.word_classes("Rome") == []
    members = cars.class_members("car")
    assert (members.level, members.class_, members.total, members.words) == (0, "car", 3, ["fiat", "saab", "volvo"])
    assert cars.class_members("car", 1).words == ["fiat"]
    with pytest.raises(NotFoundError, match="boat"):
        cars.class_members("boat")
    assert plain.word_classes("Fiat") == []
    with pytest.raises(NotFoundError, match=r"Memo\.rebuild\(lexicon="):
        plain.class_members("car")
    assert cars.lexicon == Lexicon(CARS)
    assert plain.lexicon is None
    stats = cars.stats().lexicon
    assert stats is not None
    assert (stats.words, plain.stats().lexicon) == (3, None)
    assert cars.settings["lexicon"]["digest"] == Lexicon(CARS).digest


def test_a_lexicon_is_given_in_many_ways(tmp_path: Path) -> None:
    Lexicon(CARS).save(tmp_path / "cars.lexicon")
    (tmp_path / "cars.csv").write_text("Volvo,car\nFiat,car\nSaab,car\n")
    digests = set()
    for n, given in enumerate((CARS, Lexicon(CARS), tmp_path / "cars.lexicon", str(tmp_path / "cars.csv"))):
        with Memo.create(tmp_path / f"{n}.memo", lexicon=given) as memo:
            memo.memorize(DRIVES)
            assert memo.lexicon == Lexicon(CARS)
            digests.add(memo.digest())
    assert len(digests) == 1
    for wrong in (7, ["volvo"], {"volvo": 7}, tmp_path / "nowhere"):
        with pytest.raises((InvalidError, StorageError)):
            Memo.create(tmp_path / "wrong.memo", lexicon=wrong)  # type: ignore[arg-type]
    assert not (tmp_path / "wrong.memo").exists()


def test_a_rebuild_changes_the_lexicon(cars: Memo, plain: Memo) -> None:
    with_cars, without = cars.digest(), plain.digest()
    assert cars.rebuild().digest == with_cars, "what is not given stays"
    assert plain.rebuild(lexicon=cars.lexicon).digest == with_cars
    assert plain.lexicon == Lexicon(CARS)
    assert plain.complete(PROMPT, 1, guess=True, find=False) == " Rome"
    assert plain.rebuild(lexicon=None).digest == without
    assert cars.rebuild(lexicon="none").digest == without
    assert (plain.lexicon, cars.lexicon) == (None, None)
    cars.rebuild(lexicon=VEHICLES)
    assert cars.lexicon == Lexicon(VEHICLES)
    with pytest.raises(InvalidError, match="lexicon"):
        cars.rebuild(lexicon=7)  # type: ignore[arg-type]
    assert cars.lexicon == Lexicon(VEHICLES)
    with Memo.open(cars.path, read_only=True) as reader, pytest.raises(ReadOnlyError):
        reader.rebuild(lexicon=None)


def test_forgetting_leaves_a_model_that_never_saw_it(tmp_path: Path) -> None:
    digests = []
    for name, texts in (("never", DRIVES[1:]), ("forgot", DRIVES)):
        with Memo.create(tmp_path / f"{name}.memo", lexicon=VEHICLES) as memo:
            memo.memorize(texts)
            if name == "forgot":
                receipt = memo.forget("volvo")
                assert receipt.lexicon_sources == []
                assert memo.prove().equal
            digests.append(memo.digest())
    assert digests[0] == digests[1]


def test_a_receipt_names_what_the_lexicon_was_induced_from(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "travels.memo", lexicon=Lexicon.induce(TRAVELS, 5)) as memo:
        memo.memorize([("first", TRAVELS[0]), ("second", TRAVELS[1]), ("other", "Karl sails.")])
        assert memo.forget(["first", "other"]).lexicon_sources == ["first"]
        assert memo.lexicon is not None
        assert memo.lexicon.is_from(TRAVELS[0])


def test_a_model_has_its_lexicon_wherever_it_is_opened(cars: Memo, tmp_path: Path) -> None:
    cars.backup(tmp_path / "backup.memo")
    cars.freeze(tmp_path / "frozen.memo")
    expected = cars.next_token(PROMPT)
    for path in (cars.path, tmp_path / "backup.memo", tmp_path / "frozen.memo"):
        with Memo.open(path, read_only=True) as memo:
            assert memo.lexicon == Lexicon(CARS)
            np.testing.assert_array_equal(memo.next_token(PROMPT), expected)
    with pickle.loads(pickle.dumps(cars)) as memo:
        assert memo.lexicon == Lexicon(CARS)
        assert memo.next_token(PROMPT).tolist() == expected.tolist()


def test_models_of_different_lexicons_are_not_merged(cars: Memo, plain: Memo) -> None:
    with pytest.raises(MergeError, match="lexicon"):
        cars.merge(plain)


def test_threads_share_a_lexicon(cars: Memo) -> None:
    lexicon, said = Lexicon(CARS), []

    def ask() -> None:
        said.append((lexicon.members("car"), cars.class_members("car").words, cars.complete(PROMPT, 1, guess=True)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 8
    assert all(each == said[0] for each in said)


# Elsewhere


def test_lm_eval_can_switch_it_off(cars: Memo, plain: Memo) -> None:
    pytest.importorskip("lm_eval", reason="lm_eval is not installed; pip install 'memo_lm[eval]'")
    from lm_eval.api.instance import Instance
    from lm_eval.api.registry import get_model
    from memo_lm.lm_eval import MemoLM

    scoring = [Instance("loglikelihood", {}, (PROMPT, " Rome"), 0)]
    rolling = [Instance("loglikelihood_rolling", {}, (f"{PROMPT} Rome",), 0)]
    asking = [Instance("generate_until", {}, (PROMPT, {"max_gen_toks": 1}), 0)]
    off = get_model("memo").create_from_arg_string(f"path={cars.path},generalize=0")
    on, without = MemoLM(cars), MemoLM(plain)
    assert off.loglikelihood(scoring) == without.loglikelihood(scoring) != on.loglikelihood(scoring)
    assert off.loglikelihood_rolling(rolling) == without.loglikelihood_rolling(rolling)
    assert on.loglikelihood_rolling(rolling) != without.loglikelihood_rolling(rolling)
    assert on.loglikelihood(scoring)[0][1], "it is the most probable"
    assert off.generate_until(asking) == without.generate_until(asking)
    with pytest.raises(InvalidError, match="generalize"):
        MemoLM(cars, generalize=2).loglikelihood(scoring)
