"""lm-evaluation-harness, through `local-completions`: what it measures is what the library itself computes."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lm_eval
import pytest
from lm_eval.tasks import TaskManager
from lm_eval.utils import RemoteTokenizer

from conftest import MEMO, Server, memo

# Each answer is right as often as the others, so whoever always takes the same one scores chance.
ANSWERS = [" amber", " coral", " ivory", " olive"]
THINGS = ["door", "lamp", "boat", "kite", "sail", "coat", "drum", "vase"]
QUESTIONS = [
    {"question": f"The {thing} of the keeper is", "choices": ANSWERS, "answer": i % len(ANSWERS)}
    for i, thing in enumerate(THINGS)
]
TEXTS = [question["question"] + ANSWERS[question["answer"]] + "." for question in QUESTIONS]

COMMON = {"dataset_path": "json", "test_split": "test", "doc_to_text": "{{question}}"}
TASKS: list[dict[str, Any]] = [
    COMMON
    | {
        "task": "choose",
        "output_type": "multiple_choice",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "{{answer}}",
        "target_delimiter": "",
        "metric_list": [{"metric": "acc"}],
    },
    COMMON
    | {
        "task": "say",
        "output_type": "generate_until",
        "doc_to_target": "{{choices[answer]}}",
        "generation_kwargs": {"until": ["."], "max_gen_toks": 8},
        "metric_list": [{"metric": "exact_match"}],
    },
    COMMON
    | {
        "task": "roll",
        "output_type": "loglikelihood_rolling",
        "doc_to_text": "",
        "doc_to_target": "{{question}}{{choices[answer]}}.",
        "metric_list": [{"metric": "byte_perplexity"}],
    },
]


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tasks: their data, and a file for each."""
    folder = tmp_path_factory.mktemp("tasks")
    (folder / "data.jsonl").write_text("".join(json.dumps(question) + "\n" for question in QUESTIONS))
    for task in TASKS:
        task = task | {"dataset_kwargs": {"data_files": {"test": str(folder / "data.jsonl")}}}
        (folder / f"{task['task']}.yaml").write_text(json.dumps(task))
    return folder


@dataclass
class Served:
    """A server, and what the library says of its model, asked before it was served."""

    server: Server
    choices: list[tuple[float, bool]]
    texts: list[tuple[float, bool]]


def served(serve: Callable[..., Server], model: Path) -> Served:
    choices = library(model, [(question["question"], choice) for question in QUESTIONS for choice in ANSWERS])
    texts = library(model, [("", text) for text in TEXTS])
    return Served(serve(model), choices, texts)


def library(model: Path, pairs: list[tuple[str, str]]) -> list[tuple[float, bool]]:
    """Log-likelihood of continuations, and whether each of their tokens is the likeliest, without any server."""
    program = MEMO.parent / "examples" / "loglikelihood"
    asked = "".join(json.dumps(pair) + "\n" for pair in pairs)
    done = subprocess.run([program, model], input=asked, check=True, stdout=subprocess.PIPE, text=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def knowing(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A model that memorized the answers."""
    folder = tmp_path_factory.mktemp("knowing")
    (folder / "answers.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    memo("memorize", folder / "knowing.memo", folder / "answers.jsonl")
    return served(serve, folder / "knowing.memo")


@pytest.fixture(scope="module")
def empty(serve: Callable[..., Server], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """A model that memorized nothing."""
    model = tmp_path_factory.mktemp("empty") / "empty.memo"
    memo("init", model)
    return served(serve, model)


def evaluate(
    served: Served, tasks: Path, task: str, model: str = "local-completions", **options: Any
) -> tuple[dict[str, Any], list[Any]]:
    """The measures of a task, and what the server answered to each of its requests."""
    path = model.removeprefix("local-").replace("-", "/")
    done = lm_eval.simple_evaluate(
        model=model,
        model_args={"model": served.server.name, "base_url": f"{served.server.url}/v1/{path}"} | options,
        apply_chat_template=path.startswith("chat"),
        tasks=[task],
        task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
        bootstrap_iters=0,
    )
    samples = sorted(done["samples"][task], key=lambda sample: sample["doc_id"])
    answers = [response[0] for sample in samples for response in sample["resps"]]
    return done["results"][task], answers


def accuracy(scores: list[tuple[float, bool]]) -> float:
    """How often the right answer is the most probable; of equal ones the first is taken, as the harness does."""
    right = 0
    for i, question in enumerate(QUESTIONS):
        own = [logprob for logprob, _ in scores[i * len(ANSWERS) :][: len(ANSWERS)]]
        right += own.index(max(own)) == question["answer"]
    return right / len(QUESTIONS)


def same(ours: list[tuple[float, bool]], theirs: list[Any]) -> None:
    assert len(ours) == len(theirs)
    for (logprob, greedy), (measured, is_greedy) in zip(ours, theirs, strict=True):
        assert measured == pytest.approx(logprob, rel=1e-12)
        assert is_greedy == greedy


# Token ids one by one, strings in batches, and several requests at a time.
WAYS: list[dict[str, Any]] = [{}, {"tokenized_requests": False, "batch_size": 5}, {"num_concurrent": 4}]


@pytest.mark.parametrize("way", WAYS, ids=["ids", "strings", "concurrent"])
def test_a_model_that_memorized_the_answers_knows_all(knowing: Served, tasks: Path, way: dict[str, Any]) -> None:
    results, answers = evaluate(knowing, tasks, "choose", **way)
    assert results["acc,none"] == accuracy(knowing.choices) == 1.0
    same(knowing.choices, answers)
    # Greedy are the right answers and no others.
    right = [choice == ANSWERS[question["answer"]] for question in QUESTIONS for choice in ANSWERS]
    assert [greedy for _, greedy in answers] == right


def test_an_empty_model_scores_chance(empty: Served, tasks: Path) -> None:
    results, answers = evaluate(empty, tasks, "choose")
    assert results["acc,none"] == accuracy(empty.choices) == 1 / len(ANSWERS)
    same(empty.choices, answers)
    # It has no preference at all: all answers are of the same length.
    assert len(set(empty.choices)) == 1


def test_generation_says_the_answers(knowing: Served, empty: Served, tasks: Path) -> None:
    results, answers = evaluate(knowing, tasks, "say")
    assert answers == [ANSWERS[question["answer"]] for question in QUESTIONS]
    assert results["exact_match,none"] == 1.0
    results, _ = evaluate(empty, tasks, "say")
    assert results["exact_match,none"] == 0.0


def test_a_chat_says_the_answers(knowing: Served, tasks: Path) -> None:
    results, answers = evaluate(knowing, tasks, "say", "local-chat-completions")
    assert answers == [ANSWERS[question["answer"]] for question in QUESTIONS]
    assert results["exact_match,none"] == 1.0


def test_rolling_perplexity_is_that_of_the_library(knowing: Served, tasks: Path) -> None:
    results, answers = evaluate(knowing, tasks, "roll")
    own = [logprob for logprob, _ in knowing.texts]
    assert answers == pytest.approx(own, rel=1e-12)
    count = sum(len(text.encode()) for text in TEXTS)
    assert results["byte_perplexity,none"] == pytest.approx(math.exp(-sum(own) / count), rel=1e-9)


def test_the_tokenizer_of_the_server(knowing: Served) -> None:
    tokenizer = RemoteTokenizer(knowing.server.url)
    assert (tokenizer.eos_token, tokenizer.eos_token_id, tokenizer.bos_token_id) == ("<|endoftext|>", 50256, 50256)
    for text in (TEXTS[0], "", "na\u00efve \u2603 \U0001f989\n\t  x", "a <|endoftext|> inside"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    # The name of the end is that token only by itself: in a text it is text.
    assert 50256 not in tokenizer.encode("a <|endoftext|> inside")


def test_no_torch_is_needed() -> None:
    assert "torch" not in sys.modules and "transformers" not in sys.modules
