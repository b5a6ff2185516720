"""Documents come, change, and go: versions, retiring, edits, rollback, forgetting, merging, copies."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from memo_lm import (
    ChangeReport,
    EditReport,
    InvalidError,
    Memo,
    NotFoundError,
    Place,
    ReadOnlyError,
    RenamedDocument,
    StateError,
)
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
    nothing = EditReport(
        transaction=None,
        document=None,
        weight=0,
        space_added=False,
        replaced=None,
        goes_on=None,
        digest_after=notes.digest(),
    )
    assert notes.edit("The owl reads", " at") == nothing


def test_a_text_goes_on_after_an_edit_and_words_get_a_space(notes: Memo) -> None:
    done = notes.edit("The owl reads at", "noon")
    assert (done.space_added, done.replaced) == (True, " night")
    assert notes.complete("The owl reads", 4) == " at noon by the"
    notes.rollback(notes.transaction)
    assert notes.edit("The owl reads at", "noon", exact=True).space_added is False
    assert notes.complete("The owl reads", 2) == " atnoon"


def test_finding_without_regard_to_case_and_with_lines_around(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "lines.memo") as memo:
        memo.memorize("one\nThe Owl\nthree\nfour", "lines")
        assert memo.find("owl").count == 0
        (found,) = memo.find("owl", ignore_case=True, context=1).documents[0].matches
        assert (found.before, found.match, found.after) == ("one\nThe ", "Owl", "\nthree")


def test_completions_say_where_they_come_from(notes: Memo, tmp_path: Path) -> None:
    assert notes.completion("The owl reads", 3).sources is None
    (part,) = notes.completion("The owl reads", 3, sources=True).sources or []
    assert part.source is not None
    assert (part.text, part.source.document, part.source.line) == (" at night by", "owl", 1)
    notes.freeze(tmp_path / "frozen.memo")
    with Memo.open(tmp_path / "frozen.memo", read_only=True) as frozen:
        assert frozen.completion("The owl reads", 3, sources=True).sources is None


def test_a_completion_of_what_is_not_known_names_the_closest_passages(notes: Memo, tmp_path: Path) -> None:
    unknown = notes.completion("Who is MARTA?")
    assert unknown.matched is not None and unknown.matched.kind == "none" and unknown.closest is not None
    assert [(passage.document, passage.words) for passage in unknown.closest] == [("cat", ["MARTA"])]
    assert notes.completion("The owl reads", 3).closest is None
    notes.freeze(tmp_path / "frozen.memo")
    with Memo.open(tmp_path / "frozen.memo", read_only=True) as frozen:
        assert frozen.completion("Who is MARTA?").closest is None


def test_texts_are_looked_for_and_tokens_taken_as_they_are(notes: Memo) -> None:
    unknown = "@#"
    assert notes.complete(unknown, 3) == ""
    guessed = notes.complete(notes.encode(unknown), 3)
    assert guessed != ""
    assert notes.complete_all([unknown, notes.encode(unknown)], 3) == ["", guessed]
    assert notes.complete_all([unknown], 3, guess=True) != [""]
    assert "".join(notes.generate(unknown, 3, stream=True)) == ""
    # Tokens are looked for too if that is asked for.
    assert notes.complete(notes.encode(unknown), 3, find=True) == ""
    assert notes.complete_all([notes.encode(unknown)], 3, find=True) == [""]
    found = notes.completion(notes.encode("The owl reads"), 2, find=True)
    assert (found.completion, found.matched and found.matched.kind) == (" at night", "verbatim")
    assert notes.completion(notes.encode("The owl reads"), 2).matched is None


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
    assert (found.document, found.version, found.live, found.matches[0].offset) == ("cat", 1, True, CAT.index("Marta"))
    sleeps = notes.find("sleeps")
    assert ([found.document for found in sleeps], len(sleeps), sleeps.count) == (["cat", "owl"], 2, 2)
    assert not notes.find("Nobody")


def test_a_question_finds_the_passages_that_share_its_rare_words(notes: Memo) -> None:
    closest = notes.closest("Who is MARTA?")
    (passage,) = closest
    assert (passage.document, passage.version, passage.words) == ("cat", 1, ["MARTA"])
    assert CAT[passage.character :].startswith(passage.excerpt) and "Marta" in passage.excerpt
    assert 0 < passage.score < 1 and passage.line == 1 and len(closest) == 1
    assert not notes.closest("Nobody")
    with pytest.raises(InvalidError, match="no word"):
        notes.closest("?!")


def test_a_prompt_is_continued_as_typed(notes: Memo) -> None:
    for prompt in ("The owl ", "The owl rea"):
        assert OWL.startswith(prompt + notes.complete(prompt, 2))
    # Tokens are meant as they are.
    assert notes.complete(notes.encode("The owl "), 2) != notes.complete("The owl ", 2)


def test_forgetting_a_document_leaves_a_memory_that_never_saw_it(notes: Memo, tmp_path: Path) -> None:
    tokens = len(notes.encode(CAT))
    receipt = notes.forget("cat", reason="asked to")
    assert (receipt.documents, receipt.tokens, receipt.transaction) == (["cat"], tokens, 2)
    assert [(each.document, each.version) for each in receipt.forgotten] == [("cat", 1)]
    assert (receipt.shared, receipt.copies) == ([], [])
    assert receipt.subtracting_seconds >= 0
    assert receipt.scrubbing_seconds > 0
    assert states(notes) == {"cat": "forgotten", "owl": "live"}
    with Memo.create(tmp_path / "other.memo") as other:
        other.memorize(OWL, "owl")
        assert receipt.digest_after == notes.digest() == other.digest()
    with pytest.raises(StateError, match="was forgotten in transaction 2"):
        notes.text("cat", 1)


def test_a_forget_can_be_proved_before_and_after(notes: Memo) -> None:
    before = notes.digest()
    proof = notes.prove("cat")
    assert (proof.equal, proof.without, proof.documents, proof.digest) == (True, ["cat"], 1, before)
    # It was a rehearsal, for which a reader is enough.
    assert (notes.digest(), notes.text("cat")) == (before, CAT)
    with Memo.open(notes.path, read_only=True) as reader:
        assert reader.prove(without=["cat"]) == proof
    assert notes.forget("cat").digest_after == proof.digest_after == proof.digest_never_saw
    for after in (notes.prove(), notes.prove(["cat"])):
        assert (after.equal, after.digest) == (True, proof.digest_after)
    with pytest.raises(NotFoundError):
        notes.prove("nobody")


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


def test_a_dry_run_shows_what_a_forget_would_take(notes: Memo) -> None:
    before = notes.digest()
    preview = notes.forget(text="s", dry_run=True)
    assert [each.document for each in preview.documents] == ["cat", "owl"]
    assert preview.places == sum(each.places for each in preview.documents) > 2
    assert (preview.bytes_needed > 0, preview.transaction, notes.digest()) == (True, 1, before)
    (cat,) = notes.forget("cat", dry_run=True).documents
    assert (cat.whole, cat.versions, cat.excerpts[0][:7]) == (True, [1], "The cat")
    with Memo.open(notes.path, read_only=True) as reader:
        assert reader.forget(text="s", dry_run=True).documents == preview.documents


def test_documents_are_forgotten_by_label_glob_and_age(notes: Memo) -> None:
    for name, source in (("mail/a.txt", "mail"), ("mail/old/b.txt", "mail"), ("web/c.txt", "web")):
        notes.memorize(f"The text of {name}.", name, labels={"from": source})
    for given, expected in (
        ({"labels": {"from": "mail"}}, ["mail/a.txt", "mail/old/b.txt"]),
        ({"glob": "mail/*"}, ["mail/a.txt"]),
        ({"glob": "**/*.txt", "labels": {"from": "web"}}, ["web/c.txt"]),
        ({"older_than": timedelta()}, ["cat", "mail/a.txt", "mail/old/b.txt", "owl", "web/c.txt"]),
    ):
        assert [each.document for each in notes.forget(**given, dry_run=True).documents] == expected
    with pytest.raises(NotFoundError):
        notes.forget(older_than="1h")
    assert notes.forget(labels={"from": "mail"}, glob="mail/**", older_than="0s").documents == [
        "mail/a.txt",
        "mail/old/b.txt",
    ]
    assert list(notes) == ["cat", "owl", "web/c.txt"]


def test_a_copy_names_its_original(notes: Memo, tmp_path: Path) -> None:
    notes.backup(tmp_path / "backup.memo")
    with Memo.open(tmp_path / "backup.memo") as backup:
        assert [(copy.kind, Path(copy.path)) for copy in backup.forget("cat").copies] == [("original", notes.path)]


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
        memo = Memo.create(tmp_path / name)
        memo.memorize(documents)
        return memo

    with (
        made("a", ("owl", OWL)) as a,
        made("b", ("cat", CAT), ("owl", OWL)) as b,
        made("all", ("owl", OWL), ("cat", CAT)) as whole,
    ):
        done = a.merge(b, reason="one house")
        assert (done.transaction, done.added, done.same, done.conflicts) == (2, ["cat"], ["owl"], [])
        assert done.renamed == []
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
    with Memo.create(tmp_path / "b.memo") as other:
        other.memorize("Another owl.", "owl")
    with Memo.create(tmp_path / "a.memo") as memo:
        memo.memorize(OWL, "owl")
        done = memo.merge(tmp_path / "b.memo", conflict)  # type: ignore[arg-type]
        assert (done.transaction, done.conflicts, done.renamed) == (transaction, conflicts, renamed)
        assert memo.text("owl") == text
    Memo.open(tmp_path / "b.memo").close()  # nobody holds it any more


def test_a_frozen_model_answers_all_that_needs_no_text(notes: Memo, tmp_path: Path) -> None:
    frozen = notes.freeze(tmp_path / "frozen.memo")
    assert frozen.bytes > 0
    assert frozen.positions == len(notes.encode(OWL)) + len(notes.encode(CAT)) - 2
    # Two documents begin with "The": what follows it is a guess.
    assert frozen.recall_before == pytest.approx(1 - 1 / frozen.positions)
    assert frozen.recall_after == frozen.recall_before
    with Memo.open(tmp_path / "frozen.memo", read_only=True) as reader:
        assert reader.complete("The owl reads", 2) == " at night"
        assert reader.recall(OWL).correct >= len(notes.encode(OWL)) - 2
        explained = reader.explain("The owl reads", 1).candidates[0]
        assert (explained.text, explained.evidence[0].total, explained.sources) == (" at", 1, [])
        stats = reader.stats()
        assert (stats.frozen, stats.documents, stats.tokens) == (True, None, notes.stats().tokens)
        assert (reader.verify().ok, reader.verify().documents) == (True, 0)
        assert reader.digest() == reader.verify().digest == notes.digest()
        for call in (
            reader.docs,
            reader.log,
            lambda: reader.text("owl"),
            lambda: reader.find("owl"),
            lambda: reader.closest("owl"),
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


def test_rebuilding_makes_the_same_memory(notes: Memo) -> None:
    before, digest = notes.stats(), notes.digest()
    done = notes.rebuild()
    after = notes.stats()
    assert (done.bytes, done.digest) == (after.bytes, digest)
    assert (after.documents, after.tokens) == (before.documents, before.tokens) == (2, 44)
    assert notes.complete("The owl reads", 2) == " at night"


def test_a_checkpoint_is_written(notes: Memo) -> None:
    digest = notes.digest()
    notes.checkpoint()
    path = notes.path
    notes.close()
    with Memo.open(path) as memo:
        assert memo.digest() == digest


def test_figures_are_told(notes: Memo) -> None:
    stats = notes.stats()
    assert (stats.tokenizer, stats.frozen) == ("gpt2", False)
    assert (stats.context_tokens, stats.context_words) == (notes.settings["tokens"], notes.settings["words"])
    assert stats.bytes_per_token == pytest.approx(stats.bytes / stats.tokens)
