"""Processes that were forked, and models that are pickled: nothing hangs, and nobody writes another's model."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from memo_lm import Memo, ReadOnlyError
from texts import CAT, OWL

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

FORKED = """
import os, sys, traceback
from memo_lm import Memo, StateError

memo = Memo.create(sys.argv[1])
memo.memorize(sys.argv[2] * 50, "owl")
# Enough for all threads of this process to have been made.
known = memo.logprobs(sys.argv[2] * 50).sum()


def child():
    assert memo.logprobs(sys.argv[2] * 50).sum() == known
    assert list(memo) == ["owl"]
    for call in (lambda: memo.memorize("More."), memo.checkpoint, lambda: memo.forget("owl")):
        try:
            call()
        except StateError as error:
            assert f"was opened by process {os.getppid()}, of which this one is a fork" in str(error)
        else:
            raise AssertionError("a fork changed its parent's model")
    with Memo.open(memo.path, read_only=True) as mine:
        assert mine.logprobs(sys.argv[2] * 50).sum() == known
    with Memo.create(sys.argv[1] + ".child") as own:
        own.memorize(sys.argv[2] * 50)
        assert own.verify().ok
    memo.close()
    try:
        memo.stats()
    except StateError as error:
        assert "the model is closed" in str(error)
    else:
        raise AssertionError("it was closed")


pid = os.fork()
if pid == 0:
    try:
        child()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    # As an ordinary end of a process: everything is dropped.
    sys.exit(0)
_, status = os.waitpid(pid, 0)
memo.memorize("The cat sleeps.", "cat")
print(os.waitstatus_to_exitcode(status), list(memo), memo.verify().ok)
"""

POOL = """
import multiprocessing, sys
from memo_lm import Memo

memo = Memo.create(sys.argv[1])
memo.memorize(sys.argv[2] * 50, "owl")
texts = [sys.argv[2] * 50] * 4
alone = [memo.logprobs(text).sum() for text in texts]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert [logs.sum() for logs in pool.map(memo.logprobs, texts)] == alone
print("same")
"""


# As datasets.map(num_proc=2) calls it: the model is a global, which the children have by being forks.
GLOBAL = POOL.replace("pool.map(memo.logprobs, texts)", "pool.map(ask, texts)").replace(
    "texts = [", "def ask(text): return memo.logprobs(text)\ntexts = ["
)


def run(code: str, path: Path) -> str:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, str(path / "a.memo"), OWL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_fork
def test_forks_read_a_model_that_is_a_global(tmp_path: Path) -> None:
    assert run(GLOBAL, tmp_path) == "same\n"


@needs_fork
def test_a_fork_reads_its_parents_model_changes_its_own(tmp_path: Path) -> None:
    assert run(FORKED, tmp_path) == "0 ['cat', 'owl'] True\n"


@needs_fork
def test_a_pool_of_forked_processes_reads_a_model(tmp_path: Path) -> None:
    assert run(POOL, tmp_path) == "same\n"


def test_a_pickled_model_is_opened_to_be_read(notes: Memo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(notes.path.parent)
    with Memo.open(notes.path.name) as relative:
        pickled = pickle.dumps(relative)
    monkeypatch.chdir(tmp_path.parent)
    with pickle.loads(pickled) as copy:
        assert (copy.path, copy.read_only, copy.digest()) == (notes.path, True, notes.digest())
        with pytest.raises(ReadOnlyError):
            copy.memorize(CAT)
