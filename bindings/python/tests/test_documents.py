"""Documents come, change, and go: versions, retiring, edits, rollback, forgetting, merging, copies."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from memo_lm import ChangeReport, EditReport, Memo, NotFoundError, Place, ReadOnlyError, RenamedDocument, StateError
from texts import CAT, OWL

SECRET = " Marta keeps the spare key under the blue stone."


def states(memo: Memo) -> dict[str, str]:
    return {document.id: document.state for document in memo.docs()}


def holds(directory: Path, text: str) -> bool:
    """Whether a text stands in any file of a directory, as it is."""
    return any(text.encode() in path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_a_new_content_makes_a_new_version(notes: Memo) -> None:
    done = notes.memorize("The owl has gone.", "owl")
    assert (done.added, done.updated) == ([], ["owl"])
    owl = notes.document("owl")
    assert owl == notes.docs()[1]
    assert [version.number for version in owl.versions] == [1, 2]
    assert (owl.state, owl.version, owl.kind, owl.tokens) == ("live", 2, "text", 5)
    assert owl.current == owl.versions[1]
    assert (owl.current.prompt_tokens, owl.current.weight, owl.current.forgotten) == (None, None, None)
    assert (notes.text("owl"), notes.text("owl", 1)) == ("The owl has gone.", OWL)
    shown = notes.show("owl", 1)
    assert (shown.text, shown.current) == (OWL, owl.current)


def test_documents_and_transactions_say_when(notes: Memo) -> None:
    now = datetime.now(timezone.utc)
    document, transaction = notes.document("owl"), notes.log()[0]
    for moment in (document.when, document.versions[0].when, transaction.when):
        assert moment is not None
        assert abs((now - moment).total_seconds()) < 600
    assert transaction.time == transaction.when.strftime("%Y-%m-%dT%H:%M:%S.") + transaction.time[-4:]
    notes.forget("owl")
    assert notes.document("owl").when is None


def test_retiring_takes_out_and_restoring_brings_back(notes: Memo) -> None:
    digest = notes.digest()
    retired = notes.retire("cat", reason="not now")
    assert retired == ChangeReport(transaction=2, kind="retire", documents=["cat"], digest_after=notes.digest())
    logged = notes.log()[-1]
    assert (logged.id, logged.reason, logged.documents, logged.can_roll_back) == (2, "not now", ["cat"], True)
    assert (logged.changes[0].before, logged.changes[0].after) == (Place(1, True), Place(1, False))
    assert states(notes) == {"cat": "retired", "owl": "live"}
    assert notes.complete("Marta keeps the spare", 2) != " key under"
    assert notes.restore("cat").kind == "restore"
    assert notes.digest() == digest


def test_an_edit_changes_what_follows_and_rolls_back(notes: Memo) -> None:
    digest = notes.digest()
    done = notes.edit("The owl reads at", " noon", reason="it was noon")
    assert done.transaction == 2
    assert done.document == "edit-2"
    assert 1 <= done.weight <= 8
    assert notes.complete("The owl reads", 2) == " at noon"
    edit = notes.document("edit-2").versions[0]
    assert (edit.kind, edit.prompt_tokens, edit.weight) == ("edit", 4, done.weight)
    undone = notes.rollback(2)
    assert (undone.kind, undone.transaction, undone.documents) == ("rollback", 3, ["edit-2"])
    assert notes.log()[-1].undoes == 2
    assert states(notes)["edit-2"] == "rolled back"
    assert notes.digest() == digest
    assert [t.undone_by for t in notes.log()] == [None, 3, None]


def test_an_edit_that_says_what_is_said_anyway_changes_nothing(notes: Memo) -> None:
    nothing = EditReport(transaction=None, document=None, weight=0, digest_after=notes.digest())
    assert notes.edit("The owl reads", " at") == nothing


def test_token_ids_are_edited_and_explained_too(notes: Memo) -> None:
    prompt = notes.encode("The owl reads at")
    assert notes.explain(prompt.tolist(), 2) == notes.explain("The owl reads at", 2)
    notes.edit(prompt, notes.encode(" noon").tolist())
    assert notes.complete("The owl reads", 2) == " at noon"


def test_replacing_changes_one_document_or_all(notes: Memo) -> None:
    notes.memorize(CAT, "copy")
    done = notes.replace("red roof", "grey roof", "cat", reason="painted")
    assert (done.kind, done.documents) == ("replace", ["cat"])
    assert "grey roof" in notes.text("cat")
    assert "red roof" in notes.text("copy")
    assert notes.replace("sleeps", "dozes").documents == ["cat", "copy", "owl"]
    with pytest.raises(NotFoundError, match="no document contains this text"):
        notes.replace("no such words", "others")


def test_the_log_and_histories_tell_what_happened(notes: Memo) -> None:
    notes.retire("owl")
    notes.memorize("More.", "more")
    assert [(t.id, t.kind) for t in notes.log()] == [(1, "memorize"), (2, "retire"), (3, "memorize")]
    assert [t.id for t in notes.history("owl")] == [1, 2]
    assert notes.transaction == 3


def test_texts_are_found(notes: Memo) -> None:
    (found,) = notes.find("Marta")
    assert (found.document, found.version, found.live, found.offsets) == ("cat", 1, True, [CAT.index("Marta")])
    sleeps = notes.find("sleeps")
    assert ([found.document for found in sleeps], len(sleeps), sleeps.count) == (["cat", "owl"], 2, 2)
    assert not notes.find("Nobody")


def test_forgetting_a_document_leaves_a_memory_that_never_saw_it(notes: Memo, tmp_path: Path) -> None:
    tokens = len(notes.encode(CAT))
    receipt = notes.forget("cat", reason="asked to")
    assert (receipt.documents, receipt.tokens, receipt.transaction) == (["cat"], tokens, 2)
    assert [(each.document, each.version) for each in receipt.forgotten] == [("cat", 1)]
    assert (receipt.shared, receipt.copies) == ([], [])
    assert receipt.subtracting_seconds >= 0
    assert receipt.scrubbing_seconds > 0
    assert states(notes) == {"cat": "forgotten", "owl": "live"}
    with Memo.create(tmp_path / "other.memo", memory="4MiB") as other:
        other.memorize(OWL, "owl")
        assert receipt.digest_after == notes.digest() == other.digest()
    with pytest.raises(StateError, match="was forgotten in transaction 2"):
        notes.text("cat", 1)


def test_a_forget_can_be_proven(notes: Memo) -> None:
    before = notes.digest()
    proof = notes.forget_with_proof(["cat"], reason="asked to")
    assert (proof.digest_before, proof.digest_never_saw, proof.equal) == (before, notes.digest(), True)
    assert (proof.receipt.documents, proof.receipt.digest_after) == (["cat"], notes.digest())


def test_several_documents_are_forgotten_at_once(notes: Memo) -> None:
    empty = notes.forget(name for name in ("owl", "cat"))
    assert sorted(empty.documents) == ["cat", "owl"]
    assert notes.log()[-1].id == 2


def test_forgetting_a_text_cuts_it_out_everywhere(notes: Memo) -> None:
    notes.memorize("Listen:" + SECRET, "copy")
    receipt = notes.forget(text=SECRET)
    assert sorted(receipt.documents) == ["cat", "copy"]
    assert notes.text("cat") == CAT[: -len(SECRET)]
    assert not notes.find("Marta")
    assert not holds(notes.path, "Marta")
    assert notes.verify().ok


def test_a_receipt_names_copies_and_shared_passages(notes: Memo, tmp_path: Path) -> None:
    notes.backup(tmp_path / "backup.memo")
    notes.memorize("Somebody says: " + CAT, "quote")
    receipt = notes.forget("cat")
    assert receipt.shared == ["quote"]
    (copy,) = receipt.copies
    assert (copy.kind, copy.transaction) == ("backup", 1)
    assert Path(copy.path).name == "backup.memo"
    assert copy.when.tzinfo is timezone.utc


def test_everything_is_verified(notes: Memo) -> None:
    checked = notes.verify()
    assert (checked.documents, checked.versions, checked.damage, checked.ok) == (2, 2, [], True)
    assert checked.digest == notes.digest()


def test_a_merged_model_equals_one_that_memorized_all(tmp_path: Path) -> None:
    def made(name: str, *documents: tuple[str, str]) -> Memo:
        memo = Memo.create(tmp_path / name, memory="4MiB")
        memo.memorize(documents)
        return memo

    with (
        made("a", ("owl", OWL)) as a,
        made("b", ("cat", CAT), ("owl", OWL)) as b,
        made("all", ("owl", OWL), ("cat", CAT)) as whole,
    ):
        done = a.merge(b, reason="one house")
        assert (done.transaction, done.added, done.same, done.conflicts) == (2, ["cat"], ["owl"], [])
        assert (done.renamed, done.load) == ([], a.stats().load)
        assert done.digest_after == a.digest() == whole.digest()
        # The other one knows that it was copied.
        assert [copy.kind for copy in b.forget("cat").copies] == ["merged"]
        again = a.merge(b)
        assert (again.transaction, again.added, again.same) == (None, [], ["owl"])


@pytest.mark.parametrize(
    ("conflict", "transaction", "conflicts", "renamed", "text"),
    [
        ("ours", None, ["owl"], [], OWL),
        ("theirs", 2, ["owl"], [], "Another owl."),
        ("rename", 2, [], [RenamedDocument("owl", "owl~2")], OWL),
    ],
)
def test_a_path_can_be_merged_and_conflicts_settled(
    tmp_path: Path, conflict: str, transaction: int, conflicts: list[str], renamed: list[RenamedDocument], text: str
) -> None:
    with Memo.create(tmp_path / "b.memo", memory="1MiB") as other:
        other.memorize("Another owl.", "owl")
    with Memo.create(tmp_path / "a.memo", memory="1MiB") as memo:
        memo.memorize(OWL, "owl")
        done = memo.merge(tmp_path / "b.memo", conflict)  # type: ignore[arg-type]
        assert (done.transaction, done.conflicts, done.renamed) == (transaction, conflicts, renamed)
        assert memo.text("owl") == text
    Memo.open(tmp_path / "b.memo").close()  # nobody holds it any more


@pytest.mark.parametrize("bits", [8, 2, 1])
def test_a_frozen_model_answers_all_that_needs_no_text(notes: Memo, tmp_path: Path, bits: int) -> None:
    frozen = notes.freeze(tmp_path / "frozen.memo", bits)  # type: ignore[arg-type]
    assert frozen.bits == bits
    assert frozen.bytes > 0
    assert frozen.positions == len(notes.encode(OWL)) + len(notes.encode(CAT)) - 2
    # Two documents begin with "The": what follows it is a guess.
    assert frozen.recall_before == pytest.approx(1 - 1 / frozen.positions)
    assert frozen.recall_after > 0.9
    with Memo.open(tmp_path / "frozen.memo", read_only=True) as reader:
        assert reader.complete("The owl reads", 2) == " at night"
        assert reader.recall(OWL).correct >= len(notes.encode(OWL)) - 2
        explained = reader.explain("The owl reads", 1).candidates[0]
        assert (explained.text, explained.evidence[0].total, explained.sources) == (" at", 1, [])
        stats = reader.stats()
        assert (stats.frozen, stats.documents, stats.tokens) == (bits, None, notes.stats().tokens)
        assert (reader.verify().ok, reader.verify().documents) == (True, 0)
        assert reader.digest() == reader.verify().digest
        assert bits < 8 or reader.digest() == notes.digest()
        for call in (
            reader.docs,
            reader.log,
            lambda: reader.text("owl"),
            lambda: reader.find("owl"),
            lambda: len(reader),
        ):
            with pytest.raises(ReadOnlyError, match="is frozen: it has no texts, so it has no"):
                call()
    assert not holds(tmp_path / "frozen.memo", "owl")


def test_a_backup_is_a_model(notes: Memo, tmp_path: Path) -> None:
    notes.backup(tmp_path / "backup.memo")
    with Memo.open(tmp_path / "backup.memo") as backup:
        assert backup.digest() == notes.digest()
        assert states(backup) == states(notes)


def test_rebuilding_makes_a_model_larger(notes: Memo) -> None:
    before = notes.stats()
    done = notes.rebuild(memory="8MiB")
    after = notes.stats()
    assert (done.parameters, done.digest) == (after.parameters, notes.digest())
    assert after.parameters == pytest.approx(2 * before.parameters, rel=0.01)
    assert (after.documents, after.tokens) == (before.documents, before.tokens) == (2, 44)
    assert notes.complete("The owl reads", 2) == " at night"
    notes.rebuild(parameters=4_000_000)
    assert notes.stats().parameters == pytest.approx(4_000_000, rel=0.01)


def test_a_checkpoint_is_written(notes: Memo) -> None:
    digest = notes.digest()
    notes.checkpoint()
    path = notes.path
    notes.close()
    with Memo.open(path) as memo:
        assert memo.digest() == digest


def test_figures_are_told(notes: Memo) -> None:
    stats = notes.stats()
    assert (stats.tokenizer, stats.frozen, stats.heads, stats.layers) == ("gpt2", None, 2, 5)
    assert stats.bytes == stats.cell_bytes + stats.table_bytes
    assert stats.parameters_per_token == pytest.approx(stats.parameters / stats.tokens)
    assert stats.predicted_recall == pytest.approx(1)
    assert 0 < stats.load < 0.01
