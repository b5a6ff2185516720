"""Other threads run while a model works, and Ctrl-C ends long work and changes nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from memo_lm import DenseMemo, Memo
from texts import CAT, OWL

# Enough that Python would be seen to wait.
MUCH = np.random.default_rng(1).integers(0, 256, 1_000_000).astype(np.uint32)


@pytest.fixture
def bytes_memo(tmp_path: Path) -> Memo:
    return Memo.create(tmp_path / "bytes.memo", tokenizer="bytes")


def ticks_during(work: Callable[[], object]) -> tuple[int, float]:
    """How often this thread came to its turn while another worked, and how long that took."""
    thread, start, ticks = Thread(target=work), time.perf_counter(), 0
    thread.start()
    while thread.is_alive():
        time.sleep(0.002)
        ticks += 1
    return ticks, time.perf_counter() - start


def test_others_run_while_a_model_memorizes(bytes_memo: Memo) -> None:
    ticks, seconds = ticks_during(lambda: bytes_memo.memorize(MUCH))
    # One that held the lock would let this thread have a turn or two.
    assert ticks > 20 * seconds, f"{ticks} turns in {seconds:.2f} s"


def test_others_run_while_a_model_reads(bytes_memo: Memo) -> None:
    bytes_memo.memorize(MUCH[:100_000])
    ticks, seconds = ticks_during(lambda: bytes_memo.logprobs(MUCH[:4000]))
    assert ticks > 20 * seconds, f"{ticks} turns in {seconds:.2f} s"


def test_two_threads_read_what_one_reads(notes: Memo) -> None:
    def read(text: str) -> tuple[str, bytes]:
        return notes.complete(text[:20]), notes.logprobs(text).tobytes()

    texts = [OWL, CAT] * 5
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(read, texts)) == [read(text) for text in texts]


def test_one_thread_memorizes_while_another_reads(notes: Memo) -> None:
    def write() -> None:
        for n in range(20):
            notes.memorize(f"Note {n} says that {n} follows {n - 1}.", f"note-{n}")

    with ThreadPoolExecutor(2) as pool:
        writing = pool.submit(write)
        while not writing.done():
            assert notes.complete("The owl reads", 2) == " at night"
        writing.result()
    assert notes.stats().documents == 22


def test_a_dense_model_takes_turns() -> None:
    memo, once = (DenseMemo(100, 256, 2, 2, distiller="off", recall="computed") for _ in range(2))
    texts = np.random.default_rng(1).integers(0, 100, (40, 50))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(memo.memorize, texts))
    once.memorize_all(texts)
    np.testing.assert_allclose(memo.C(2), once.C(2), atol=1e-3)


def test_an_error_in_progress_ends_the_work_and_changes_nothing(bytes_memo: Memo) -> None:
    def told(what: str, done: int, whole: int) -> None:
        raise RuntimeError("enough")

    before = bytes_memo.digest()
    with pytest.raises(RuntimeError, match="enough"):
        bytes_memo.memorize(np.tile(MUCH, 5), progress=told)
    assert bytes_memo.digest() == before
    assert bytes_memo.docs() == []
    # It works on.
    assert bytes_memo.memorize("The owl.", "owl").added == ["owl"]


def test_tokenizing_can_be_stopped(tmp_path: Path) -> None:
    def told(what: str, done: int, whole: int) -> None:
        assert what == "tokenizing"
        assert 0 < done < whole
        raise RuntimeError("enough")

    with Memo.create(tmp_path / "a.memo", tokenizer="gpt2") as memo:
        with pytest.raises(RuntimeError, match="enough"):
            memo.memorize("The owl reads at night. " * 3_000_000, progress=told)
        assert memo.docs() == []


INTERRUPTED = """
import signal
import sys
import numpy as np
from memo_lm import Memo

# In the background of a shell it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

memo = Memo.create(sys.argv[1], tokenizer="bytes")
memo.memorize("The owl reads at night.", "owl")
before = memo.digest()
much = np.random.default_rng(1).integers(0, 256, 10_000_000)
works = {
    "memorize": lambda: memo.memorize(much, progress=lambda *step: print("working", flush=True)),
    "logprobs": lambda: memo.logprobs(much, progress=lambda *step: print("working", flush=True)),
    "recall": lambda: memo.recall(much, progress=lambda *step: print("working", flush=True)),
}
try:
    works[sys.argv[2]]()
except KeyboardInterrupt:
    print("interrupted", memo.digest() == before, [document.id for document in memo.docs()], memo.transaction)
print(memo.complete("The owl reads"), memo.verify().ok)
"""


@pytest.mark.parametrize("work", ["memorize", "logprobs", "recall"])
def test_ctrl_c_ends_long_work_and_changes_nothing(tmp_path: Path, work: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "a.memo"), work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "working\n"
            process.send_signal(signal.SIGINT)
            said = [line for line in process.communicate(timeout=60)[0].splitlines() if line != "working"]
        finally:
            process.kill()
    assert said == ["interrupted True ['owl'] 1", " at night. True"]
    assert process.returncode == 0
