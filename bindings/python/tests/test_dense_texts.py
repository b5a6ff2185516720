"""A dense model with a tokenizer: text or ids, completions, files, other processes."""

from __future__ import annotations

import copy
import json
import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memo_lm import DamagedError, DenseMemo, InvalidError, NotAModelError, StorageError
from texts import CAT, OWL

# What suits text: nothing is stored of the codes, and recall does not add noise.
OPTIONS: dict[str, Any] = {"dim": 1024, "heads": 2, "layers": 3, "codes": "hadamard", "recall": "computed"}


@pytest.fixture
def memo() -> DenseMemo:
    memo = DenseMemo(tokenizer="gpt2", **OPTIONS)
    memo.memorize_all([OWL, CAT])
    return memo


def test_it_says_what_it_has_read(memo: DenseMemo) -> None:
    assert memo.complete("The owl reads at night", 3) == " by the light"
    assert memo.complete(memo.encode("Marta keeps the spare")) == " key under the blue stone."
    # The end of a text ends a completion, and is no part of it.
    assert memo.complete(" under the blue stone.") == ""
    assert memo.complete_all(["The owl reads at night", "The cat sleeps all day"], 2) == [" by the", " on the"]
    assert memo.complete_all([]) == []
    tokens = memo.complete_tokens("Marta keeps the spare")
    assert tokens.dtype == np.uint32
    assert memo.decode(tokens) == " key under the blue stone."
    assert memo.complete("The owl", 0) == ""
    assert DenseMemo(tokenizer="gpt2", **OPTIONS).complete("The owl") == ""


def test_text_and_ids_are_the_same(memo: DenseMemo) -> None:
    ids = memo.encode(OWL)
    other = DenseMemo(tokenizer="gpt2", **OPTIONS)
    other.memorize(ids)
    other.memorize([*memo.encode(CAT), memo.eos or 0])
    np.testing.assert_allclose(other.C(3), memo.C(3), atol=1e-6)
    context = "The owl reads"
    given = memo.encode(context).tolist()
    assert memo.predict(context) == memo.predict(given)
    assert memo.trace(context, 2) == memo.trace(given, 2)
    np.testing.assert_array_equal(memo.weights(context), memo.weights(given))
    for one, two in zip(memo.predict_along(OWL), memo.predict_along(ids)):
        np.testing.assert_array_equal(one, two)
    mixed = [context, given]
    np.testing.assert_array_equal(*memo.weights_all(mixed))
    tokens, weights = memo.predict_all(mixed)
    assert tokens[0] == tokens[1] == memo.encode(" at")[0]
    assert weights[0] == weights[1]


def test_text_is_forgotten(memo: DenseMemo) -> None:
    key = memo.predict("Marta keeps the spare").token
    assert memo.decode([key]) == " key"
    memo.forget(CAT)
    assert abs(memo.weights("Marta keeps the spare")[key]) < 0.3
    assert memo.complete("The owl reads at night", 3) == " by the light"
    memo.forget_all([OWL])
    assert abs(memo.C(3)).max() < 1e-4


def test_words_and_other_tokenizers() -> None:
    memo = DenseMemo(words_from=[OWL], **OPTIONS)
    memo.memorize(OWL)
    assert memo.tokenizer == "words"
    assert memo.complete("by the light", 3) == " of the moon."
    assert repr(memo) == f"<memo_lm.DenseMemo vocab={memo.vocab_size}, dim=1024, heads=2, layers=3, tokenizer=words>"
    again = pickle.loads(pickle.dumps(memo))
    assert again.tokenizer_json == memo.tokenizer_json
    assert again.complete("by the light", 3) == " of the moon."


def test_what_a_tokenizer_says_of_a_model(memo: DenseMemo) -> None:
    assert (memo.tokenizer, memo.tokenizer_json, memo.vocab_size, memo.eos) == ("gpt2", None, 50257, 50256)
    assert memo.config["vocab"] == 50257
    empty = DenseMemo(**memo.config, tokenizer=memo.tokenizer)
    assert empty.config == memo.config
    plain = DenseMemo(100, 64, 2, 2)
    assert (plain.tokenizer, plain.tokenizer_json, plain.eos) == (None, None, None)


def test_batches_of_ids() -> None:
    memo = DenseMemo(100, 512, 2, 2, distiller="exact")
    texts = np.arange(60).reshape(6, 10)
    memo.memorize_all(texts)
    tokens, weights = memo.predict_all(texts[:, :9])
    assert tokens.tolist() == texts[:, 9].tolist()
    np.testing.assert_allclose(weights, 2, atol=1)
    assert memo.weights_all(texts[:, :9]).argmax(axis=1).tolist() == tokens.tolist()
    # More than are read at a time.
    many = np.tile(texts[:, :9], (100, 1))
    np.testing.assert_array_equal(memo.predict_all(many)[0], np.tile(tokens, 100))
    assert memo.weights_all(many).shape == (600, 100)
    for array, shape in zip((*memo.predict_all([]), memo.weights_all([])), ((0,), (0,), (0, 100))):
        assert array.shape == shape
    assert memo.complete_tokens(texts[0, :5], 4).tolist() == [5, 6, 7, 8]
    memo.memorize_all([])
    memo.forget_all(texts, completely=True)
    assert abs(memo.C(1)).max() < 1e-4
    with pytest.raises(InvalidError, match="is not memorized"):
        memo.forget_all(texts, completely=True)


def test_expected_recall_falls_as_a_memory_fills() -> None:
    memo = DenseMemo(1000, 64, 2, 1, recall="computed")
    assert memo.expected_recall() == 1
    recalls = []
    for n in range(3):
        memo.memorize(np.random.default_rng(n).integers(0, 1000, 100))
        recalls.append(memo.expected_recall())
    assert 1 > recalls[0] > recalls[1] > recalls[2] > 0


# Files


def same(one: DenseMemo, other: DenseMemo) -> None:
    assert one.config == other.config
    for layer in range(1, one.config["layers"] + 1):
        np.testing.assert_array_equal(one.C(layer), other.C(layer))
    contexts = [[1, 2, 3, 4], [21, 22], []]
    np.testing.assert_array_equal(one.weights_all(contexts), other.weights_all(contexts))
    assert one.trace([1, 2, 3], 3) == other.trace([1, 2, 3], 3)
    assert one.expected_recall() == other.expected_recall()


def small() -> DenseMemo:
    memo = DenseMemo(100, 64, 2, 2, distiller="exact", seed=2**63 - 1, threads=1)
    memo.memorize_all([range(1, 10), range(20, 30)])
    return memo


def test_a_model_comes_back_from_its_file(tmp_path: Path, memo: DenseMemo) -> None:
    path = tmp_path / "small.safetensors"
    small().save(path)
    loaded = DenseMemo.load(path, threads=1)
    same(loaded, small())
    loaded.forget(range(1, 10), completely=True)
    with pytest.raises(InvalidError, match="is not memorized"):
        loaded.forget(range(1, 10), completely=True)
    # In place of the one before; with its tokenizer.
    memo.save(str(path))
    assert os.listdir(tmp_path) == ["small.safetensors"]
    loaded = DenseMemo.load(str(path))
    assert (loaded.tokenizer, loaded.vocab_size, loaded.eos) == ("gpt2", 50257, 50256)
    assert loaded.complete("Marta keeps the spare") == " key under the blue stone."
    np.testing.assert_array_equal(loaded.weights("The owl"), memo.weights("The owl"))
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_a_tokenizer_of_others_travels_in_the_file(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="the library tokenizers is not installed")
    words = {"the": 0, "owl": 1, "reads": 2, "?": 3, "<|endoftext|>": 4}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="?"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    memo = DenseMemo(tokenizer=tokenizer, dim=256, heads=2, layers=1)
    memo.memorize("the owl reads")
    memo.save(tmp_path / "a.safetensors")
    loaded = DenseMemo.load(tmp_path / "a.safetensors")
    assert loaded.tokenizer == "huggingface"
    assert loaded.tokenizer_json == memo.tokenizer_json
    assert loaded.complete("the owl").strip() == "reads"


def test_others_read_the_file(tmp_path: Path) -> None:
    """As the format of safetensors says: a length, a header of JSON, and the values."""
    small().save(tmp_path / "a.safetensors")
    data = (tmp_path / "a.safetensors").read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    about = header.pop("__metadata__")
    assert (about["model"], about["format"]) == ("memo-dense", "1")
    assert json.loads(about["config"])["dim"] == 64
    assert sorted(header) == ["C1.T", "C2.T", "sequences.1", "texts"]
    first, last = header["C2.T"]["data_offsets"]
    cells = np.frombuffer(data[start + first : start + last], "<f4").reshape(header["C2.T"]["shape"])
    np.testing.assert_array_equal(cells.T, small().C(2))


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    with pytest.raises(NotAModelError, match=r"a\.safetensors: No such file"):
        DenseMemo.load(path)
    with pytest.raises(FileNotFoundError):
        DenseMemo.load(path)
    with pytest.raises(StorageError, match="Is a directory"):
        DenseMemo.load(tmp_path)
    with pytest.raises(OSError, match="No such file"):
        small().save(tmp_path / "nowhere" / "a.safetensors")
    path.write_text("The owl reads at night.")
    with pytest.raises(DamagedError, match=r"a\.safetensors: this is not a whole safetensors file"):
        DenseMemo.load(path)
    small().save(path)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(DamagedError, match="this is not a whole safetensors file"):
        DenseMemo.load(path)
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(DamagedError, match="the digest is not that of the content"):
        DenseMemo.load(path)
    path.write_bytes(data)
    with pytest.raises(InvalidError, match="the model needs"):
        DenseMemo.load(path, memory_limit="64KiB")
    # What cannot be written whole leaves what was there.
    directory = tmp_path / "directory"
    directory.mkdir()
    with pytest.raises(StorageError):
        small().save(directory)
    assert sorted(os.listdir(tmp_path)) == ["a.safetensors", "directory"]


# Other processes


def test_a_model_is_pickled_and_copied() -> None:
    for again in (pickle.loads(pickle.dumps(small())), copy.deepcopy(small()), copy.copy(small())):
        same(again, small())
    memo = small()
    other = copy.copy(memo)
    other.memorize(range(40, 50))
    same(memo, small())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("threads", [0, 2])
def test_a_model_works_in_a_forked_child(threads: int) -> None:
    # Enough that threads are used, here first: a child has none of them.
    memo = DenseMemo(tokenizer="gpt2", **OPTIONS, threads=threads)
    memo.memorize(OWL * 200)
    expected = memo.predict_along(OWL)[0].tolist()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            memo.memorize(CAT * 200)
            right = memo.predict_along(OWL)[0].tolist() == expected
        except BaseException:
            right = False
        os._exit(0 if right else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert memo.predict_along(OWL)[0].tolist() == expected


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system does not fork")
def test_a_pool_of_processes_reads() -> None:
    memo = small()
    contexts = [[1, 2, 3], [20, 21], [5, 6, 7, 8]]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(memo.predict, contexts).get(timeout=60)
    assert found == [memo.predict(context) for context in contexts]


# Long calls

MUCH = np.random.default_rng(1).integers(0, 100, 60_000)


def test_an_error_in_progress_ends_the_work_and_changes_nothing(tmp_path: Path) -> None:
    memo = DenseMemo(100, 512, 2, 2, distiller="exact")
    memo.memorize(range(10))
    view, before = memo.C(1), [memo.C(layer).copy() for layer in (1, 2)]

    def told(what: str, done: int, whole: int) -> None:
        steps.append((what, done, whole))
        raise RuntimeError("enough")

    for work in (
        lambda: memo.memorize(MUCH, progress=told),
        lambda: memo.forget(MUCH, progress=told),
        lambda: memo.predict_along(MUCH, progress=told),
        lambda: memo.predict_all(MUCH.reshape(-1, 6), progress=told),
    ):
        steps: list[tuple[str, int, int]] = []
        with pytest.raises(RuntimeError, match="enough"):
            work()
        assert steps
        for layer in (1, 2):
            np.testing.assert_array_equal(memo.C(layer), before[layer - 1])
    assert np.shares_memory(view, memo.C(1))
    memo.forget(range(10), completely=True)


def test_progress_may_ask_the_model_itself() -> None:
    memo = DenseMemo(100, 512, 2, 2)
    asked: list[int] = []
    memo.memorize(MUCH, progress=lambda what, done, whole: asked.append(memo.nbytes))
    assert asked
    assert set(asked) == {memo.nbytes}


INTERRUPTED = """
import signal
import sys
import numpy as np
from memo_lm import DenseMemo

# In the background of a shell it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
memo = DenseMemo(100, 1024, 2, 2, recall="computed")
memo.memorize(range(10))
before = memo.C(2).copy()
much = np.random.default_rng(1).integers(0, 100, 2_000_000)
try:
    getattr(memo, sys.argv[1])(much, progress=lambda *step: print("working", flush=True))
except KeyboardInterrupt:
    print("interrupted", (memo.C(2) == before).all(), memo.predict([5, 6, 7, 8]).token)
"""


@pytest.mark.parametrize("work", ["memorize", "predict_along"])
def test_ctrl_c_ends_long_work_and_changes_nothing(work: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, work]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            assert process.stdout.readline() == "working\n"
            process.send_signal(signal.SIGINT)
            said = [line for line in process.communicate(timeout=60)[0].splitlines() if line != "working"]
        finally:
            process.kill()
    assert said == ["interrupted True 9"]
    assert process.returncode == 0


# Refused


def test_what_makes_no_sense_is_refused(memo: DenseMemo) -> None:
    plain = DenseMemo(100, 64, 2, 2)
    for call, says in (
        (lambda: DenseMemo(), "give vocab, the number of tokens, or a tokenizer"),
        (lambda: DenseMemo(100, 64, 2, 2, tokenizer="gpt2"), "the tokenizer gpt2 has 50257 tokens; leave vocab out"),
        (lambda: DenseMemo(tokenizer="gpt9"), 'there is no tokenizer "gpt9"'),
        (lambda: DenseMemo(tokenizer="gpt2", words_from=["a"]), "words_from makes a tokenizer of its own"),
        (lambda: DenseMemo(100, 64, 2, 2, seed=2**70), f"seed={2**70} is too large; it must be below 2**63"),
        (lambda: DenseMemo(100, 64, 2, 2, memory_limit="900TiB"), "must be between 64KiB and 500GB"),
        (lambda: plain.memorize("text"), "a DenseMemo has no tokenizer; give token ids"),
        (lambda: plain.complete([1]), "a DenseMemo has no tokenizer; give token ids"),
        (lambda: plain.decode([1]), "a DenseMemo has no tokenizer; give token ids"),
        (lambda: memo.memorize(b"text"), "text must be a str or token ids, not bytes; decode it first"),  # type: ignore[arg-type]
        (lambda: memo.memorize("a \ud83d b"), "character 2 is half of a surrogate pair"),
        (lambda: memo.memorize_all(["fine", "\udc00"]), "text 1: character 0 is half of a surrogate pair"),
        (lambda: memo.memorize_all("text"), "several texts are needed, and this is one"),
        (lambda: memo.predict_all([1, 2, 3]), "several texts are needed, and this is one"),  # type: ignore[list-item]
        (lambda: memo.predict_all([[1], [1, 50257]]), "text 1: token 50257 at position 1 is outside the vocabulary"),
        (lambda: memo.complete("text", -1), "max_tokens=-1 must be a whole number that is not negative"),
        (lambda: plain.set_C(2, np.full((64, 64), np.nan)), "cells must be finite numbers"),
        (lambda: memo.encode([1]), "encode takes a str, not list"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidError) as refused:
            call()
        assert says in str(refused.value)
    with pytest.raises(InvalidError) as refused:
        plain.memorize([1, 100])
    assert str(refused.value) == "token 100 at position 1 is outside the vocabulary of 100"
