"""How far long work is: told to a function, or shown by tqdm on a terminal."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pytest
from memo_lm import InvalidError, Memo

needs_tqdm = pytest.mark.skipif(importlib.util.find_spec("tqdm") is None, reason="the library tqdm is not installed")

MUCH = np.random.default_rng(1).integers(0, 256, 1_000_000).astype(np.uint32)


@pytest.fixture
def memo(tmp_path: Path) -> Memo:
    return Memo.create(tmp_path / "a.memo", tokenizer="bytes")


def test_a_function_is_told_how_far_it_is(memo: Memo) -> None:
    steps: list[tuple[str, int, int]] = []
    memo.memorize(MUCH, progress=lambda *step: steps.append(step))
    assert steps
    for name in {what for what, _, _ in steps}:
        done = [at for what, at, _ in steps if what == name]
        assert done == sorted(done)
    assert all(0 <= at <= whole for _, at, whole in steps)
    assert "memorizing" in {what for what, _, _ in steps}


def test_documents_are_tokenized_from_the_first_to_the_last_byte(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []

    def told(what: str, done: int, whole: int) -> None:
        if what != "tokenizing":
            raise RuntimeError("enough")
        steps.append((done, whole))

    text = "The owl reads at night. " * 400_000
    memo = Memo.create(tmp_path / "g.memo", tokenizer="gpt2")
    with pytest.raises(RuntimeError, match="enough"):
        memo.memorize([(f"owl-{n}", text) for n in range(4)], progress=told)
    assert steps == sorted(steps)
    assert {whole for _, whole in steps} == {4 * len(text)}


@needs_tqdm
def test_true_shows_bars(memo: Memo, capfd: pytest.CaptureFixture[str]) -> None:
    memo.memorize(MUCH, progress=True)
    shown = capfd.readouterr()
    assert "memorizing" in shown.err
    assert "/1.00M" in shown.err
    assert shown.out == ""


def test_nothing_is_shown_where_nobody_looks(memo: Memo, capfd: pytest.CaptureFixture[str]) -> None:
    memo.memorize(MUCH)
    memo.recall(MUCH[:5000], progress=False)
    assert capfd.readouterr().err == ""


def test_without_tqdm_true_says_what_to_install(memo: Memo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(InvalidError, match=r"progress=True needs tqdm; pip install 'memo_lm\[progress\]'"):
        memo.recall("abc", progress=True)


ON_A_TERMINAL = """
import sys
import numpy as np
from memo_lm import Memo
import memo_lm.progress

memo_lm.progress.DELAY = 0  # however fast this is
progress = {"none": None, "false": False}[sys.argv[2]]
if sys.argv[3] == "without":
    sys.modules["tqdm"] = None
with Memo.create(sys.argv[1], tokenizer="bytes") as memo:
    memo.memorize(np.random.default_rng(1).integers(0, 256, 1_000_000), progress=progress)
"""


def on_a_terminal(path: Path, *arguments: str) -> str:
    """What a program shows whose standard error is a terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    command = [sys.executable, "-c", ON_A_TERMINAL, str(path / "t.memo"), *arguments]
    with subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how a terminal says that nobody writes any more
            pass
    os.close(ours)
    assert process.returncode == 0, shown
    return shown.decode()


@needs_tqdm
def test_a_terminal_gets_bars_that_go_away(tmp_path: Path) -> None:
    shown = on_a_terminal(tmp_path, "none", "with")
    assert "memorizing" in shown
    assert "\n" not in shown


def test_a_terminal_gets_none_if_told_so_or_without_tqdm(tmp_path: Path) -> None:
    assert on_a_terminal(tmp_path, "false", "with") == ""
    (tmp_path / "second").mkdir()
    assert on_a_terminal(tmp_path / "second", "none", "without") == ""
