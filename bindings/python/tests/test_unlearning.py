"""What `memo_lm.unlearning` measures is what `memo-lab forgetting` measures."""

from __future__ import annotations

import csv
import json
import subprocess
from pathlib import Path
from typing import Any

import pages
import pytest
from memo_lm import MemoError, unlearning
from programs import program

LAB = program("memo-lab")

# What the program's table calls memories.
NAMES = {"before": "before", "after": "after", "never": "never knew them", "other_seed": "never, another seed"}

BREADS = ["rye", "oat", "corn", "plum"]


def pairs(path: Path, bakers: range) -> Path:
    """Questions and answers about made-up bakers, twenty of each."""
    with path.open("w") as file:
        for baker in bakers:
            for day in range(20):
                bread = BREADS[(7 * day + baker) % len(BREADS)]
                question = f"What does baker B{baker} make on day {day}?"
                loaves = (31 * day + 11 * baker) % 97
                answer = f"On day {day} baker B{baker} makes {bread} bread, {loaves} loaves of it."
                file.write(json.dumps({"question": question, "answer": answer}) + "\n")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("bakers")
    return pairs(folder / "forget.jsonl", range(4, 5)), pairs(folder / "retain.jsonl", range(4))


@pytest.fixture(scope="module")
def measured(files: tuple[Path, Path]) -> dict[str, Any]:
    return unlearning.run(*files, quick=True)


def test_what_is_forgotten_is_as_if_never_known(measured: dict[str, Any]) -> None:
    assert measured["digests_equal"] is True
    assert measured["forget_quality"] == 1.0
    level = measured["levels"][0]
    assert (level["authors_forgotten"], level["authors"], level["percent"]) == (1, 5, 20.0)
    forget = level["forget"]
    assert forget["after"] == forget["never"]
    assert forget["before"]["exact_memorization"] > 0.95 > forget["after"]["exact_memorization"]
    assert forget["before"]["forget_quality"] < 1e-6 < forget["other_seed"]["forget_quality"]
    assert level["digest"] != level["digest_before"]


def test_what_is_kept_stays_useful(measured: dict[str, Any]) -> None:
    retain = measured["levels"][0]["retain"]
    assert measured["utility"] == retain["after"]["utility"] > 0.8
    # Less in a memory is less noise: what is kept is known no worse.
    assert retain["after"]["utility"] > retain["before"]["utility"] - 0.02
    # At the last level nothing is kept.
    assert measured["levels"][-1]["retain"] is None
    assert measured["levels"][-1]["utility"] is None


def test_the_metrics_on_top_are_those_of_the_file(measured: dict[str, Any]) -> None:
    after = measured["levels"][0]["forget"]["after"]
    names = ("exact_memorization", "extraction_strength", "rouge_l", "probability")
    assert [measured[name] for name in names] == [after[name] for name in names]


def test_a_seed_is_a_run(files: tuple[Path, Path], measured: dict[str, Any]) -> None:
    other = unlearning.run(*files, seed=2, quick=True)
    assert other["digests_equal"] and other["levels"][0]["digest"] != measured["levels"][0]["digest"]


@pytest.mark.skipif(not LAB.exists(), reason="no program `memo-lab` was built or installed")
def test_the_numbers_are_those_of_the_program(
    files: tuple[Path, Path], measured: dict[str, Any], tmp_path: Path
) -> None:
    forget, retain = files
    command = [LAB, "forgetting", "--quick", "--out", tmp_path, "--forget", forget, "--retain", retain]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    with (tmp_path / "forgetting.csv").open() as file:
        rows = list(csv.DictReader(file))
    ours: dict[tuple[str, str, str], dict[str, Any]] = {}
    for level in measured["levels"]:
        many = str(level["authors_forgotten"])
        for name, called in NAMES.items():
            ours[many, "forgotten", called] = level["forget"][name]
        for when in ("before", "after") if level["retain"] else ():
            ours[many, "kept", when] = level["retain"][when]
    assert len(rows) == len(ours)
    for row in rows:
        own = ours[row["authors_forgotten"], row["asked"], row["memory"]]
        for name in ("exact_memorization", "extraction_strength", "rouge_l", "probability", "utility"):
            assert float(row[name]) == pytest.approx(own[name], abs=1e-4), (row, name)
        if row["p_answers"]:
            assert float(row["p_answers"]) == pytest.approx(own["forget_quality"], abs=1e-4)
    digests = {row["digest"] for row in rows if row["digest"]}
    assert digests == {level[name] for level in measured["levels"] for name in ("digest", "digest_before")}


def test_a_wrong_line_is_named(files: tuple[Path, Path], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text('{"question": "Who bakes?"}\n')
    with pytest.raises(MemoError, match=r"wrong\.jsonl:1: .*answer"):
        unlearning.run(wrong, files[1], quick=True)


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages.run("Unlearning")
