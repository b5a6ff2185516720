"""lm_eval with the model `memo`: what it measures is what it measures of the same model behind `memo serve`."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lm_eval", reason="lm_eval is not installed; pip install 'memo_lm[eval]'")

# Before libraries look for a hub or a proxy.
os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", NO_PROXY="127.0.0.1", no_proxy="127.0.0.1")

import lm_eval
import numpy as np
import pages
from lm_eval.api.instance import Instance
from lm_eval.api.registry import get_model
from lm_eval.tasks import TaskManager
from memo_lm import Memo, NotAModelError
from memo_lm.lm_eval import MemoLM
from memo_lm.tasks import read_lambada, task_dir, tasks
from programs import program

MEMO = program("memo")

PLACES = ["harbour", "orchard", "quarry", "meadow", "tower", "bakery", "station", "garden"]
KEEPERS = ["Ines", "Oskar", "Mirela", "Tobias", "Yara", "Hamid", "Greta", "Paolo"]
TEXTS = [
    f"At the {place} the gate is shut by night. Whoever comes late must wake the keeper of the {place}, {keeper}"
    for place, keeper in zip(PLACES, KEEPERS)
]

# Contexts and continuations that are hard to cut into tokens, or to tell apart.
PAIRS = [
    ("", "At the harbour the gate"),
    ("", " is shut"),
    ("At the harbour", " the gate is shut"),
    ("At the harbour ", "the gate is shut"),
    ("At the har", "bour the gate"),
    ("Whoever comes late must wake the keeper of the quarry,", " Mirela"),
    ("Whoever comes late must wake the keeper of the quarry,", " Greta"),
    ("nobody ever wrote", " this"),
    ("na\u00efve \u2603", " \U0001f989\n\t  x"),
    ("a <|endoftext|> inside", " of a text"),
    ("the gate", "<|endoftext|>"),
    ("At the tower the gate is shut by night.\n\n", "At the garden"),
]


def scoring(pairs: list[tuple[str, str]]) -> list[Instance]:
    return [Instance("loglikelihood", {}, pair, n) for n, pair in enumerate(pairs)]


def rolling(texts: list[str]) -> list[Instance]:
    return [Instance("loglikelihood_rolling", {}, (text,), n) for n, text in enumerate(texts)]


def asking(prompts: list[str], **options: Any) -> list[Instance]:
    return [Instance("generate_until", {}, (prompt, dict(options)), n) for n, prompt in enumerate(prompts)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that memorized the texts."""
    path = tmp_path_factory.mktemp("knowing") / "knowing.memo"
    with Memo.create(path) as memo:
        memo.memorize(TEXTS)
        memo.checkpoint()
    return path


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that memorized nothing."""
    path = tmp_path_factory.mktemp("empty") / "empty.memo"
    Memo.create(path).close()
    return path


class Routes:
    """The same model for lm_eval, directly and behind a server."""

    def __init__(self, path: Path) -> None:
        self.direct = MemoLM(str(path))
        command = [str(MEMO), "serve", str(path), "--addr", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.url = self.process.stdout.readline().replace("listening on ", "").strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        options = {"model": path.stem, "base_url": f"{self.url}/v1/completions", "max_length": 60_000}
        self.served = get_model("local-completions")(**options)

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="module", params=["model", "empty"])
def routes(request: pytest.FixtureRequest) -> Iterator[Routes]:
    if not MEMO.exists():
        pytest.skip("no program `memo` was built or installed; MEMO_BIN names one")
    pytest.importorskip("tenacity", reason="lm_eval's local-completions needs tenacity")
    routes = Routes(request.getfixturevalue(request.param))
    yield routes
    routes.stop()


# The server route


def ties(memo: Memo, context: str, continuation: str) -> bool:
    """Whether a token of the continuation is as probable as the most probable one, and is not the one that is taken."""
    lm = MemoLM(memo)
    before, after = ([memo.eos], lm.tok_encode(continuation)) if not context else lm._encode_pair(context, continuation)
    for p in range(len(before), len(before) + len(after)):
        seen = memo.next_token((before + after)[:p])
        token = (before + after)[p]
        if seen[token] == seen.max() and seen.argmax() != token:
            return True
    return False


def test_scores_are_those_of_the_server(routes: Routes) -> None:
    served, direct = routes.served.loglikelihood(scoring(PAIRS)), routes.direct.loglikelihood(scoring(PAIRS))
    for pair, theirs, ours in zip(PAIRS, served, direct):
        assert ours[0] == pytest.approx(theirs[0], rel=1e-9, abs=1e-9), pair
        # A server is only asked for the largest value: a token that shares it passes for the most probable one there.
        assert ours[1] == (theirs[1] and not ties(routes.direct.memo, *pair)), pair


def test_rolling_scores_are_those_of_the_server(routes: Routes) -> None:
    # The last text is longer than what lm_eval would cut by itself.
    texts = [*TEXTS[:2], "something else", "\u2603 x", " ".join(TEXTS * 12)]
    served = routes.served.loglikelihood_rolling(rolling(texts))
    assert routes.direct.loglikelihood_rolling(rolling(texts)) == pytest.approx(served, rel=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"until": ["."], "max_gen_toks": 12},
        {"until": ["keeper of", "\n"]},
        {"until": [], "max_gen_toks": 3},
        {"until": ["\n"], "max_gen_toks": 20, "temperature": 1.5, "do_sample": True},
        {"until": ["\n"], "max_gen_toks": 20, "temperature": 2.0, "do_sample": True, "top_k": 5, "top_p": 0.8},
    ],
    ids=["stop", "stops", "length", "drawn", "drawn-from-few"],
)
def test_generated_texts_are_those_of_the_server(routes: Routes, options: dict[str, Any]) -> None:
    prompts = ["At the tower", "Whoever comes late", "nobody ever wrote", "\u2603"]
    served = routes.served.generate_until(asking(prompts, **options))
    assert routes.direct.generate_until(asking(prompts, **options)) == served


# By itself


def test_a_text_is_scored_from_the_start_of_a_document(model: Path) -> None:
    lm = MemoLM(str(model))
    own = [lm.memo.logprobs(text) for text in TEXTS]
    sums = [float(logs[:-1].sum()) for logs in own]
    assert lm.loglikelihood_rolling(rolling(TEXTS)) == pytest.approx(sums, rel=1e-12)
    # Without a context a document begins too.
    scored = lm.loglikelihood(scoring([("", text) for text in TEXTS]))
    assert [logs for logs, _ in scored] == pytest.approx(sums, rel=1e-12)
    assert not math.isclose(scored[0][0], float(np.sum(own[0])))


def test_what_it_recalls_is_greedy(model: Path) -> None:
    lm = MemoLM(str(model))
    context, name = TEXTS[2].rsplit(" ", 1)
    (right, wrong) = lm.loglikelihood(scoring([(context, f" {name}"), (context, " Greta")]))
    assert right[1] and not wrong[1] and right[0] > wrong[0]
    assert lm.generate_until(asking([context], until=["."], max_gen_toks=8)) == [f" {name}"]


def test_requests_may_differ_in_how_tokens_are_chosen(model: Path) -> None:
    lm = MemoLM(str(model))
    asked = [
        *asking(["At the tower"], until=["."], max_gen_toks=5),
        *asking(["At the tower"], until=["."], max_gen_toks=9, temperature=1.0, do_sample=True),
        *asking(["At the quarry"], until=["."], max_gen_toks=4),
    ]
    answers = lm.generate_until(asked)
    assert answers == [lm.generate_until([each])[0] for each in asked]
    assert answers[0] == lm.memo.complete("At the tower", 5)


def test_an_open_model_is_asked_as_it_is(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "open.memo") as memo:
        lm = MemoLM(memo)
        before = lm.loglikelihood(scoring([("The bell rings at", " dusk")]))[0]
        memo.memorize("The bell rings at dusk.")
        after = lm.loglikelihood(scoring([("The bell rings at", " dusk")]))[0]
        assert after[0] > before[0] + 5 and after[1]


def test_a_model_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAModelError):
        MemoLM(str(tmp_path / "nothing.memo"))


# Tasks


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("data")
    (folder / "passages.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    (folder / "text.txt").write_text("\n".join(TEXTS))
    return {"lambada": folder / "passages.jsonl", "text": folder / "text.txt"}


def measures(lm: Any, asked: list[Any], **options: Any) -> dict[str, Any]:
    # Without its own thousands of tasks, which take a while to be listed.
    manager = TaskManager(include_defaults=False)
    done = lm_eval.simple_evaluate(lm, tasks=asked, task_manager=manager, bootstrap_iters=0, **options)
    assert done is not None
    return dict(done["results"])


def test_the_tasks_measure_last_words_and_words(model: Path, data: dict[str, Path]) -> None:
    lm = MemoLM(str(model))
    results = measures(lm, tasks(**data))
    last = [lm.loglikelihood(scoring([(c, f" {w}")]))[0][0] for c, w in (text.rsplit(" ", 1) for text in TEXTS)]
    assert results["memo_lambada"]["acc,none"] == 1.0
    assert results["memo_lambada"]["perplexity,none"] == pytest.approx(math.exp(-sum(last) / len(last)))
    text = data["text"].read_text()
    whole = lm.loglikelihood_rolling(rolling([text]))[0]
    words = results["memo_word_perplexity"]
    assert words["word_perplexity,none"] == pytest.approx(math.exp(-whole / len(text.split())))
    assert words["byte_perplexity,none"] == pytest.approx(math.exp(-whole / len(text.encode())))


def test_documents_of_jsonl_are_scored_one_by_one(model: Path, data: dict[str, Path]) -> None:
    lm = MemoLM(str(model))
    results = measures(lm, tasks(text=data["lambada"]))
    whole = sum(lm.loglikelihood_rolling(rolling(TEXTS)))
    count = sum(len(text.split()) for text in TEXTS)
    assert results["memo_word_perplexity"]["word_perplexity,none"] == pytest.approx(math.exp(-whole / count))


def test_the_tasks_are_for_every_model(routes: Routes, data: dict[str, Path]) -> None:
    served, direct = measures(routes.served, tasks(**data)), measures(routes.direct, tasks(**data))
    for task, name in (("memo_lambada", "perplexity"), ("memo_word_perplexity", "word_perplexity")):
        assert direct[task][f"{name},none"] == pytest.approx(served[task][f"{name},none"], rel=1e-9)
    # To a server's client an empty memory, where all tokens tie, is always right.
    empty = routes.direct.memo.path.stem == "empty"
    assert served["memo_lambada"]["acc,none"] == 1.0
    assert direct["memo_lambada"]["acc,none"] == (0.0 if empty else 1.0)


def test_what_was_asked_before_is_not_asked_again(model: Path, data: dict[str, Path], tmp_path: Path) -> None:
    first = measures(MemoLM(str(model)), tasks(**data), use_cache=str(tmp_path / "cache"))
    with Memo.open(model, read_only=True) as memo:
        lm = MemoLM(memo)
        memo.close()
        assert measures(lm, tasks(**data), use_cache=str(tmp_path / "cache")) == first


@pytest.mark.parametrize("line", ["{}", '{"text": 1}', '{"text": "word"}', '"text"'])
def test_data_that_is_wrong_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text(f"\n{line}\n")
    with pytest.raises(ValueError, match=r"wrong\.jsonl, line 2"):
        read_lambada(tmp_path / "wrong.jsonl")


def test_tasks_without_data_say_what_they_need(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lambada="):
        tasks()
    with pytest.raises(FileNotFoundError, match="nothing"):
        measures("dummy", tasks(text=tmp_path / "nothing.txt"))
    with pytest.raises(ValueError, match="--metadata lambada=FILE"):
        read_lambada()


# The command line


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True)


def test_the_command_line(model: Path, data: dict[str, Path], tmp_path: Path) -> None:
    options = ["--model_args", f"path={model}", "--tasks", "memo_lambada", "--metadata", f"lambada={data['lambada']}"]
    done = run("-m", "memo_lm.lm_eval", *options, "--output_path", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stderr
    (written,) = tmp_path.glob("out*.json")
    results = json.loads(written.read_text())
    assert results["results"]["memo_lambada"]["acc,none"] == 1.0
    assert results["config"]["model"] == "memo"


def test_the_folder_of_tasks_is_printed() -> None:
    assert run("-m", "memo_lm.tasks").stdout.strip() == str(task_dir())


def test_no_torch_is_needed() -> None:
    done = run("-c", "import sys, memo_lm.lm_eval; print('torch' in sys.modules, 'transformers' in sys.modules)")
    assert done.stdout.split() == ["False", "False"]


def test_the_guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pages.run("The evaluation harness")
