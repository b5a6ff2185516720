"""What is refused: each kind of error, what it says, what of Python's it is, and that nothing has changed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import memo_lm
import pytest
from memo_lm import (
    DamagedError,
    EditError,
    ExistsError,
    InvalidError,
    Memo,
    MemoError,
    MergeError,
    NotAModelError,
    NotFoundError,
    ReadOnlyError,
    RollbackError,
    StateError,
    StorageError,
)
from texts import CAT, OWL


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (NotAModelError, FileNotFoundError),
        (ExistsError, FileExistsError),
        (NotFoundError, LookupError),
        (InvalidError, ValueError),
        (StorageError, OSError),
    ],
)
def test_errors_are_also_what_python_calls_them(kind: type[MemoError], builtin: type[Exception]) -> None:
    assert issubclass(kind, builtin)


def test_every_error_is_a_memo_error() -> None:
    kinds = [getattr(memo_lm, name) for name in memo_lm.__all__ if name.endswith("Error")]
    assert len(kinds) == 13
    for kind in kinds:
        assert issubclass(kind, MemoError)
        assert kind.__module__ == "memo_lm"
        assert kind.__doc__


def test_what_is_no_model(tmp_path: Path) -> None:
    says = re.escape(f"{tmp_path} is not a model (there is no model.toml in it); `Memo.create` makes one")
    with pytest.raises(NotAModelError, match=says):
        Memo.open(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere is not a model"):
        Memo.open(tmp_path / "nowhere", read_only=True)


def test_where_something_is(notes: Memo) -> None:
    says = re.escape(f"{notes.path} exists already; choose another name or remove it first")
    with pytest.raises(ExistsError, match=says):
        Memo.create(notes.path)
    with pytest.raises(ExistsError, match=says):
        notes.backup(notes.path)


def test_a_model_that_another_process_writes(notes: Memo) -> None:
    code = "import sys, memo_lm\ntry: memo_lm.Memo.open(sys.argv[1])\nexcept memo_lm.BusyError as busy: print(busy)"
    said = subprocess.run([sys.executable, "-c", code, notes.path], capture_output=True, text=True, check=True).stdout
    assert f"is being written by process {os.getpid()} since " in said
    assert "; Memo.open(path, read_only=True) reads beside it" in said


def test_a_model_that_is_damaged(notes: Memo) -> None:
    path = notes.path / "model.toml"
    notes.close()
    path.write_text(path.read_text().replace("seed = 1", "seed = 2"))
    with pytest.raises(DamagedError, match=r"model\.toml is damaged: the checksum of it.*; restore it from a backup"):
        Memo.open(notes.path)


def test_a_damaged_memory_is_made_anew(notes: Memo) -> None:
    digest = notes.digest()
    notes.checkpoint()
    notes.close()
    (checkpoint,) = notes.path.glob("memory.*")
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    says = "`Memo.open(path, rebuild=True)` makes it again from the ledger"
    for read_only in (False, True):
        with pytest.raises(DamagedError, match=re.escape(says)):
            Memo.open(notes.path, read_only=read_only)
    with pytest.raises(InvalidError, match="rebuild writes the model"):
        Memo.open(notes.path, read_only=True, rebuild=True)
    with Memo.open(notes.path, rebuild=True) as memo, Memo.open(notes.path, rebuild=True) as again:
        assert memo.digest() == again.digest() == digest
    with Memo.open(notes.path, read_only=True) as reader:
        assert reader.digest() == digest


def test_names_and_reasons_that_are_no_text(notes: Memo, tmp_path: Path) -> None:
    # What os.listdir gives for a name that is no UTF-8.
    name = os.fsdecode(b"caf\xe9.txt")
    before = notes.transaction
    for call in (
        lambda given: notes.memorize("More.", given),
        lambda given: notes.memorize([(given, "More.")]),
        lambda given: notes.memorize([{"id": given, "text": "More."}]),
        lambda given: notes.memorize("More.", labels={"kind": given}),
        lambda given: notes.memorize("More.", labels={given: "kind"}),
        lambda given: notes.memorize("More.", reason=given),
        lambda given: notes.edit("The owl", " flies", reason=given),
        lambda given: notes.forget("owl", reason=given),
        lambda given: notes.replace("owl", "eagle", given),
        lambda given: Memo.create(tmp_path / "words.memo", words_from=[given]),
        notes.forget,
        notes.prove,
        notes.retire,
        notes.restore,
        notes.text,
        notes.show,
        notes.document,
        notes.history,
    ):
        with pytest.raises(InvalidError, match="at position 3, a surrogate, which is no character"):
            call(name)
        with pytest.raises(InvalidError, match="must be"):
            call(7)
    assert name not in notes
    assert notes.transaction == before


def test_a_model_is_not_read_as_text(notes: Memo, tmp_path: Path) -> None:
    with Memo.create(tmp_path / "other.memo") as other:
        with pytest.raises(InvalidError) as refused:
            other.memorize_files(notes.path)
        assert "`Memo.merge` adds its documents" in str(refused.value)


def test_what_is_not_there(notes: Memo) -> None:
    says = 'there is no document "nobody"; `Memo.docs` lists them'
    for call in (notes.forget, notes.retire, notes.restore, notes.text, notes.history, notes.document):
        with pytest.raises(NotFoundError, match=re.escape(says)):
            call("nobody")
    with pytest.raises(LookupError, match=r"there is no transaction 99; `Memo\.log` lists them"):
        notes.rollback(99)
    with pytest.raises(NotFoundError, match="no document contains this text"):
        notes.forget(text="words that nobody wrote")


def test_what_makes_no_sense_for_a_document(notes: Memo) -> None:
    with pytest.raises(StateError, match='document "owl" is live already'):
        notes.restore("owl")
    notes.retire("owl")
    with pytest.raises(StateError, match='document "owl" is retired already'):
        notes.retire("owl")
    notes.forget("cat")
    with pytest.raises(StateError, match='document "cat" was forgotten before'):
        notes.forget("cat")
    with pytest.raises(StateError, match='document "owl" has no version 7'):
        notes.text("owl", 7)
    with pytest.raises(StateError, match="was given twice with different contents"):
        notes.memorize([("same", "a b c"), ("same", "d e f")])


def test_a_model_that_is_closed(notes: Memo) -> None:
    notes.close()
    for call in (notes.digest, notes.docs, notes.stats, lambda: notes.complete("The"), lambda: notes.memorize(OWL)):
        with pytest.raises(StateError, match="the model is closed"):
            call()


def test_what_cannot_be_rolled_back(notes: Memo) -> None:
    notes.memorize("The owl has gone.", "owl")
    with pytest.raises(RollbackError, match=r"transaction 1 cannot be rolled back: .* by transaction 2; roll that"):
        notes.rollback(1)
    notes.rollback(2)
    with pytest.raises(RollbackError, match="transaction 3 has rolled it back already"):
        notes.rollback(2)
    notes.forget("cat")
    with pytest.raises(RollbackError, match="what was forgotten is gone; an inverse would have been the text itself"):
        notes.rollback(4)


def test_models_that_cannot_be_merged(notes: Memo, tmp_path: Path) -> None:
    before = notes.digest()
    says = "cannot merge: the models have different tokenizers, seeds or contexts"
    with Memo.create(tmp_path / "plain.memo", words=False) as plain, pytest.raises(MergeError, match=says):
        notes.merge(plain)
    with Memo.create(tmp_path / "other.memo") as other:
        other.memorize("Another owl.", "owl")
        with pytest.raises(MergeError, match='document "owl" has another content there; choose ours, theirs or rename'):
            notes.merge(other)
        with pytest.raises(InvalidError, match="conflict must be refuse, ours, theirs or rename"):
            notes.merge(other, "mine")  # type: ignore[arg-type]
    with pytest.raises(MergeError, match="a model cannot be merged into itself"):
        notes.merge(notes)
    assert notes.digest() == before


def test_an_edit_that_cannot_win(memo: Memo) -> None:
    memo.memorize([(f"no {n}", "no no no no no") for n in range(30)])
    before = memo.digest()
    with pytest.raises(EditError, match="the target does not win after this prompt even with weight 8; nothing was"):
        memo.edit("no no no no", " yes")
    assert memo.digest() == before


def test_arguments_that_make_no_sense(notes: Memo, tmp_path: Path) -> None:
    with pytest.raises(InvalidError, match="an edit needs a prompt and a target"):
        notes.edit("The owl", "")
    with pytest.raises(InvalidError, match=r"forget takes the ids of documents, or text="):
        notes.forget()
    with pytest.raises(InvalidError, match=r"forget takes the ids of documents, or text="):
        notes.forget("owl", text="owl")
    with pytest.raises(InvalidError, match=r"forget takes the ids of documents, or text="):
        notes.forget(text="owl", glob="*")
    with pytest.raises(InvalidError, match="older_than must be a number with s, min, h, d, w or y"):
        notes.forget(older_than="3 months")
    with pytest.raises(InvalidError, match="older_than must not be in the future"):
        notes.forget(older_than=timedelta(days=-1))
    with pytest.raises(NotFoundError, match=r"no document fits; `Memo\.docs` lists them"):
        notes.forget(labels={"from": "fax"})
    with pytest.raises(InvalidError, match="there is no document to forget"):
        notes.forget([])
    with pytest.raises(InvalidError, match="there is no text to forget"):
        notes.forget(text=" ")
    with pytest.raises(InvalidError, match="the reason contains the text itself; say it in other words"):
        notes.forget(text="Marta", reason="because of Marta")
    with pytest.raises(InvalidError, match="there is no text to find"):
        notes.find("")
    for call in (notes.find, lambda text: notes.forget(text=text), lambda text: notes.replace("owl", text)):
        with pytest.raises(InvalidError, match="must be a str, not list"):
            call([464, 39610])  # type: ignore[arg-type]
        with pytest.raises(InvalidError, match="at position 0, a surrogate, which is no character"):
            call("\ud800")
    with pytest.raises(InvalidError, match="text must be a str or token ids, not NoneType"):
        notes.explain(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="bits: a frozen model is packed in one way now; leave bits out of freeze"):
        notes.freeze(tmp_path / "frozen.memo", bits=2)  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="memory: a memory has no size any more; it grows; leave memory out"):
        notes.rebuild(memory="8MiB")  # type: ignore[arg-type]
    with pytest.raises(InvalidError, match="transaction=-1 must be a whole number that is not negative"):
        notes.rollback(-1)
    assert notes.transaction == 1


def test_what_a_reader_cannot_do(notes: Memo, tmp_path: Path) -> None:
    before = notes.digest()
    with Memo.open(notes.path, read_only=True) as reader:
        for call in (
            lambda: reader.memorize(CAT),
            lambda: reader.forget("owl"),
            lambda: reader.edit("The", " cat"),
            lambda: reader.backup(tmp_path / "backup.memo"),
            reader.rebuild,
            reader.checkpoint,
        ):
            with pytest.raises(ReadOnlyError, match="the model is open for reading only; open it without read_only="):
                call()
        assert reader.digest() == notes.digest() == before


def test_a_frozen_model_is_not_opened_for_writing(notes: Memo, tmp_path: Path) -> None:
    notes.freeze(tmp_path / "frozen.memo")
    with pytest.raises(ReadOnlyError, match=r"is frozen: it can be read, but not changed; .* read_only=True"):
        Memo.open(tmp_path / "frozen.memo")


def test_files_that_cannot_be_used(notes: Memo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match=r"file/.*: Not a directory") as refused:
        Memo.create(tmp_path / "file" / "a.memo")
    assert isinstance(refused.value, OSError)
    with pytest.raises(StorageError, match="Not a directory"):
        notes.backup(tmp_path / "file" / "a.memo")
    with pytest.raises(MemoError, match="nowhere"):
        notes.memorize_files(tmp_path / "nowhere")
