"""Types and code agree: mypy on the package and on code that uses it, stubtest on the compiled module."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from memo_lm import DenseMemo, Oracle, SingleMemory, _memo

pytest.importorskip("mypy", reason="mypy is not installed")

HERE = Path(__file__).parent
ROOT = HERE.parent


def run(tmp_path: Path, *command: str) -> str:
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python"), "MYPY_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_is_typed(tmp_path: Path) -> None:
    assert "no issues found" in run(tmp_path, "mypy", "--strict", "python/memo_lm")


def test_the_compiled_module_is_as_its_stub_says(tmp_path: Path) -> None:
    options = ["--mypy-config-file", "pyproject.toml", "--allowlist", str(HERE / "stubtest.allow")]
    assert "no issues found" in run(tmp_path, "mypy.stubtest", "memo_lm._memo", *options)


def test_a_dense_model_takes_the_options_of_the_compiled_one() -> None:
    for python, compiled in (
        (DenseMemo, _memo.DenseMemo),
        (Oracle, _memo.Oracle),
        (SingleMemory, _memo.SingleMemory),
    ):
        taken, given = (list(inspect.signature(kind).parameters.values()) for kind in (python, compiled))
        # A tokenizer is Python's, and says how many tokens there are.
        taken = [each for each in taken if each.name not in ("tokenizer", "words_from")]
        assert [(each.name, each.kind) for each in taken] == [(each.name, each.kind) for each in given]
        for one, other in zip(taken, given):
            assert other.default in (inspect.Parameter.empty, one.default)


USE = """
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

from memo_lm import (
    Completion,
    DenseMemo,
    Explanation,
    ForgetPreview,
    Memo,
    MemorizeReport,
    Oracle,
    Proof,
    Receipt,
    SingleMemory,
)
from memo_lm.inputs import Document

with Memo.create(Path("a.memo"), tokenizer="bytes") as memo:
    assert_type(memo, Memo)
    assert_type(memo.memorize("text", id="a", labels={"b": "c"}), MemorizeReport)
    memo.memorize([1, 2, 3])
    memo.memorize(np.arange(3))
    memo.memorize(["text", "text"])
    memo.memorize([[1, 2], [3]])
    memo.memorize([("id", "text"), (None, "text")])
    memo.memorize([{"text": "text", "id": "b", "labels": {"c": "d"}}])
    mixed: list[Document] = ["text", [1, 2], np.arange(3), ("id", "text"), {"text": "text"}]
    memo.memorize(mixed)
    memo.memorize(text for text in ["a", "b"])
    memo.memorize({"text": "text"})
    assert_type(memo.complete("text"), str)
    assert_type(memo.completion("text"), Completion)
    assert_type(memo.generate("text"), str)
    assert_type(memo.generate("text", stream=True), Iterator[str])
    assert_type(memo.generate_async("text"), AsyncIterator[str])
    assert_type(memo.complete_all(["text", [1, 2], np.arange(3)]), list[str])
    assert_type(memo.logprobs_all(text for text in ["a", "b"]), list[NDArray[np.float64]])
    assert_type(memo.encode_all(["text"]), list[NDArray[np.uint32]])
    assert_type(memo.prove(["a"]), Proof)
    assert_type(memo.next_token("text"), NDArray[np.float64])
    assert_type(memo.logprobs(np.arange(3)), NDArray[np.float64])
    assert_type(memo.explain("text"), Explanation)
    assert_type(memo.forget("a"), Receipt)
    assert_type(memo.forget(labels={"from": "mail"}, older_than="90d", dry_run=True), ForgetPreview)
    memo.recall(["text", "text"], progress=lambda what, done, whole: print(what, done, whole))
    memo.merge("other.memo", "theirs")
    memo.merge("other.memo", "mine")  # type: ignore[arg-type]
    memo.complete(5)  # type: ignore[arg-type]

dense = DenseMemo(10, 64, 2, 2, codes="hadamard", recall=0.5)
assert_type(dense.C(1), NDArray[np.float32])
assert_type(dense.predict([1, 2]).token, int)
dense.memorize_all([[1, 2], range(3), np.arange(4)])
dense.memorize_all(np.zeros((2, 3), np.int64))
assert_type(dense.predict_all([[1], [2]]), tuple[NDArray[np.uint32], NDArray[np.float32]])
assert_type(dense.weights_all(text for text in ([1], [2])), NDArray[np.float32])
assert_type(dense.expected_recall(), float)
dense.save(Path("a.safetensors"))
texts = DenseMemo(tokenizer="gpt2", dim=64, heads=2, layers=2, codes="hadamard")
texts.memorize("text", progress=False)
texts.forget("text", completely=True)
assert_type(texts.complete("text", 5), str)
assert_type(texts.complete_all(["text", [1, 2]]), list[str])
assert_type(DenseMemo.load("a.safetensors"), DenseMemo)
texts.memorize(5)  # type: ignore[arg-type]
oracle = dense.oracle()
assert_type(oracle, Oracle)
assert_type(oracle.layer_weights([1, 2], 1), NDArray[np.float64])
single = SingleMemory(10, 64, 2)
single.memorize_pairs(np.zeros((3, 2), np.int64), [1, 2, 3])
single.memorize_pairs([[1, 2], [2, 3]], [3, 4])
assert_type(single.predict([1, 2]).weight, float)
assert_type(single.C, NDArray[np.float32])
"""


def test_code_that_uses_the_package_is_checked(tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(USE)
    run(tmp_path, "mypy", "--strict", "--python-version", "3.11", str(tmp_path / "use.py"))
