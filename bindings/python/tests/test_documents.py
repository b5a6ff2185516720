"""Documents come, change, and go: versions, retiring, edits, rollback, forgetting, merging, copies."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from memo_lm import Edited, Memo, Merged, NotFoundError, Place, Role, StateError, Transaction
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
    owl = notes.docs()[1]
    assert [version.number for version in owl.versions] == [1, 2]
    assert owl.place == Place(version=2, live=True)
    assert owl.current == owl.versions[1]
    assert owl.current.role == Role("text", prompt=0, weight=1)
    assert owl.current.forgotten is None
    assert (notes.text("owl"), notes.text("owl", 1)) == ("The owl has gone.", OWL)


def test_documents_and_transactions_say_when(notes: Memo) -> None:
    now = datetime.now(timezone.utc)
    for moment in (notes.docs()[0].versions[0].when, notes.log()[0].when):
        assert abs((now - moment).total_seconds()) < 600


def test_retiring_takes_out_and_restoring_brings_back(notes: Memo) -> None:
    digest = notes.digest()
    retired = notes.retire("cat", reason="not now")
    assert (retired.kind, retired.reason, retired.documents) == ("retire", "not now", ["cat"])
    assert (retired.ops[0].before, retired.ops[0].after) == (Place(1, True), Place(1, False))
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
    role = next(document for document in notes.docs() if document.id == "edit-2").versions[0].role
    assert role == Role("edit", prompt=4, weight=done.weight)
    undone = notes.rollback(2)
    assert (undone.kind, undone.undoes, undone.documents) == ("rollback", 2, ["edit-2"])
    assert states(notes)["edit-2"] == "rolled back"
    assert notes.digest() == digest
    assert [t.undone_by for t in notes.log()] == [None, 3, None]


def test_an_edit_that_says_what_is_said_anyway_changes_nothing(notes: Memo) -> None:
    assert notes.edit("The owl reads", " at") == Edited(transaction=None, document=None, weight=0)


def test_replacing_changes_one_document_or_all(notes: Memo) -> None:
    notes.memorize(CAT, "copy")
    done = notes.replace("red roof", "grey roof", "cat", reason="painted")
    assert isinstance(done, Transaction)
    assert (done.kind, done.documents) == ("replace", ["cat"])
    assert "grey roof" in notes.text("cat")
    assert "red roof" in notes.text("copy")
    assert notes.replace("sleeps", "dozes").documents == ["cat", "copy", "owl"]
    with pytest.raises(NotFoundError, match="no document contains this text"):
        notes.replace("no such words", "others")


def test_the_log_and_traces_tell_what_happened(notes: Memo) -> None:
    notes.retire("owl")
    notes.memorize("More.", "more")
    assert [(t.id, t.kind) for t in notes.log()] == [(1, "memorize"), (2, "retire"), (3, "memorize")]
    assert [t.id for t in notes.trace("owl")] == [1, 2]
    assert notes.transaction == 3


def test_texts_are_found(notes: Memo) -> None:
    (found,) = notes.find("Marta")
    assert (found.document, found.version, found.live, found.offsets) == ("cat", 1, True, [CAT.index("Marta")])
    assert [found.document for found in notes.find("sleeps")] == ["cat", "owl"]
    assert notes.find("Nobody") == []


def test_forgetting_a_document_leaves_a_memory_that_never_saw_it(notes: Memo, tmp_path: Path) -> None:
    tokens = len(notes.encode(CAT))
    receipt = notes.forget("cat", reason="asked to")
    assert (receipt.documents, receipt.tokens, receipt.transaction) == (["cat"], tokens, 2)
    assert [(each.document, each.version) for each in receipt.forgotten] == [("cat", 1)]
    assert (receipt.shared, receipt.copies) == ([], [])
    assert receipt.subtracting >= 0
    assert receipt.scrubbing > 0
    assert states(notes) == {"cat": "forgotten", "owl": "live"}
    with Memo.create(tmp_path / "other.memo", memory="4MiB") as other:
        other.memorize(OWL, "owl")
        assert receipt.digest_after == notes.digest() == other.digest()
    with pytest.raises(StateError, match="was forgotten in transaction 2"):
        notes.text("cat", 1)


def test_several_documents_are_forgotten_at_once(notes: Memo) -> None:
    empty = notes.forget(name for name in ("owl", "cat"))
    assert sorted(empty.documents) == ["cat", "owl"]
    assert notes.log()[-1].id == 2


def test_forgetting_a_text_cuts_it_out_everywhere(notes: Memo) -> None:
    notes.memorize("Listen:" + SECRET, "copy")
    receipt = notes.forget(text=SECRET)
    assert sorted(receipt.documents) == ["cat", "copy"]
    assert notes.text("cat") == CAT[: -len(SECRET)]
    assert notes.find("Marta") == []
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
        assert a.merge(b, reason="one house") == Merged(2, added=["cat"], same=["owl"], conflicts=[], renamed=[])
        assert a.digest() == whole.digest()
        # The other one knows that it was copied.
        assert [copy.kind for copy in b.forget("cat").copies] == ["merged"]
        assert a.merge(b) == Merged(None, added=[], same=["owl"], conflicts=[], renamed=[])


@pytest.mark.parametrize(
    ("conflict", "expected", "text"),
    [
        ("ours", Merged(None, [], [], ["owl"], []), OWL),
        ("theirs", Merged(2, [], [], ["owl"], []), "Another owl."),
        ("rename", Merged(2, [], [], [], [("owl", "owl~2")]), OWL),
    ],
)
def test_a_path_can_be_merged_and_conflicts_settled(tmp_path: Path, conflict: str, expected: Merged, text: str) -> None:
    with Memo.create(tmp_path / "b.memo", memory="1MiB") as other:
        other.memorize("Another owl.", "owl")
    with Memo.create(tmp_path / "a.memo", memory="1MiB") as memo:
        memo.memorize(OWL, "owl")
        assert memo.merge(tmp_path / "b.memo", conflict) == expected  # type: ignore[arg-type]
        assert memo.text("owl") == text
    Memo.open(tmp_path / "b.memo").close()  # nobody holds it any more


@pytest.mark.parametrize("bits", [8, 2, 1])
def test_a_frozen_model_reads_and_nothing_else(notes: Memo, tmp_path: Path, bits: int) -> None:
    frozen = notes.freeze(tmp_path / "frozen.memo", bits)  # type: ignore[arg-type]
    assert frozen.bits == bits
    assert frozen.bytes > 0
    assert frozen.positions == len(notes.encode(OWL)) + len(notes.encode(CAT)) - 2
    # Two documents begin with "The": what follows it is a guess.
    assert frozen.recall_before == pytest.approx(1 - 1 / frozen.positions)
    assert frozen.recall_after > 0.9
    with Memo.open(tmp_path / "frozen.memo", read_only=True) as reader:
        assert reader.complete("The owl reads", 2) == " at night"
    assert not holds(tmp_path / "frozen.memo", "owl")


def test_a_backup_is_a_model(notes: Memo, tmp_path: Path) -> None:
    notes.backup(tmp_path / "backup.memo")
    with Memo.open(tmp_path / "backup.memo") as backup:
        assert backup.digest() == notes.digest()
        assert states(backup) == states(notes)


def test_rebuilding_makes_a_model_larger(notes: Memo) -> None:
    before = notes.stats()
    notes.rebuild(memory="8MiB")
    after = notes.stats()
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
    assert (stats.engine, stats.tokenizer, stats.heads, stats.layers) == ("sparse", "gpt2", 2, 5)
    assert stats.bytes == stats.cell_bytes + stats.table_bytes
    assert stats.parameters_per_token == pytest.approx(stats.parameters / stats.tokens)
    assert stats.predicted_recall == pytest.approx(1)
    assert 0 < (stats.load or 0) < 0.01


def test_results_become_plain_data(notes: Memo) -> None:
    plain = notes.docs()[0].to_dict()
    assert plain["id"] == "cat"
    assert plain["versions"][0]["role"] == {"name": "text", "prompt": 0, "weight": 1}
    assert plain["place"] == {"version": 1, "live": True}


def test_fields_that_are_not_known_are_passed_over() -> None:
    assert Edited.read('{"transaction": 1, "document": "a", "weight": 2, "later": {"x": 1}}') == Edited(1, "a", 2)
