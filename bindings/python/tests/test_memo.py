"""Making and opening models, what they say of themselves, and all that memorize takes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import memo_lm
import numpy as np
import pytest
from memo_lm import ExistsError, InvalidError, Memo, StateError
from texts import CAT, OWL


def test_the_package_says_what_it_is() -> None:
    assert memo_lm.__version__.count(".") == 2
    assert all(hasattr(memo_lm, name) for name in memo_lm.__all__)
    assert sorted(memo_lm.__all__) == memo_lm.__all__


def test_a_model_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.memo"
    with Memo.create(path, tokenizer="bytes", seed=7) as memo:
        assert (memo.path, memo.tokenizer) == (path, "bytes")
        assert (memo.vocab_size, memo.eos, memo.tokenizer_json) == (257, 256, None)
        assert (memo.read_only, memo.closed, memo.transaction) == (False, False, 0)
        assert memo.window >= 32
        assert memo.settings["seed"] == 7
        assert repr(memo) == f"<memo_lm.Memo {str(path)!r}: bytes>"
    assert memo.closed
    assert repr(memo) == "<memo_lm.Memo, closed>"
    memo.close()  # once more is nothing


def test_what_is_memorized_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "a.memo") as memo:
        memo.memorize(OWL, "owl")
        digest = memo.digest()
    with Memo.open(str(tmp_path / "a.memo")) as memo:
        assert memo.digest() == digest
        assert memo.complete("The owl reads", 5) == " at night by the light"
        assert memo.transaction == 1


def asked(memo: Memo) -> list[object]:
    """Everything that needs no writing."""
    recall, score = memo.recall(OWL), memo.score([OWL, CAT])
    return [
        memo.complete("The owl reads", 2),
        list(memo.generate("The owl reads", 2, stream=True)),
        memo.logprobs(OWL).tobytes(),
        memo.next_token("The").tobytes(),
        (recall.evaluated, recall.correct),
        (score.tokens, score.log_likelihood),
        memo.explain("The owl"),
        memo.digest(),
        memo.stats(),
        memo.verify(),
        memo.docs(),
        memo.show("owl"),
        memo.find("owl"),
        memo.log(),
        memo.history("owl"),
        list(memo),
        memo.transaction,
    ]


def test_a_model_open_for_reading_answers_as_the_one_that_is_written(notes: Memo) -> None:
    """Beside the writer, which has made no checkpoint."""
    with Memo.open(notes.path, read_only=True) as reader:
        assert reader.read_only
        assert repr(reader).endswith("gpt2, read-only>")
        before = asked(notes)
        assert asked(reader) == before
        # It stays as it was opened; who opens it now sees more.
        notes.memorize("The dog waits.", "dog")
        assert asked(reader) == before
        with Memo.open(notes.path, read_only=True) as later:
            assert asked(later) == asked(notes) != before


def test_a_model_can_be_opened_again_as_a_notebook_does(tmp_path: Path) -> None:
    memo = Memo.create(tmp_path / "a.memo")
    memo.memorize(OWL, "owl")
    first, memo = memo, Memo.open(tmp_path / "a.memo")
    memo.memorize(CAT, "cat")
    assert list(first) == ["cat", "owl"]
    first.close()
    assert (first.closed, memo.closed) == (True, False)
    assert memo.retire("cat").documents == ["cat"]
    memo.close()
    with Memo.open(tmp_path / "a.memo") as memo:
        assert list(memo) == ["owl"]


def test_a_model_is_opened_or_made(tmp_path: Path) -> None:
    with Memo.open_or_create(tmp_path / "a.memo", tokenizer="bytes") as memo:
        memo.memorize(OWL, "owl")
    with Memo.open_or_create(tmp_path / "a.memo", tokenizer="bytes") as memo:
        assert list(memo) == ["owl"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(ExistsError):
        Memo.open_or_create(tmp_path / "folder")


def test_a_model_is_a_collection_of_its_live_documents(notes: Memo) -> None:
    assert (len(notes), list(notes)) == (2, ["cat", "owl"])
    assert "owl" in notes
    notes.retire("owl")
    assert (len(notes), list(notes)) == (1, ["cat"])
    assert "owl" not in notes
    assert "dog" not in notes
    assert 5 not in notes
    notes.forget("cat")
    # An empty one is a model all the same.
    assert len(notes) == 0
    assert notes
    assert bool(notes)


def test_memo_is_not_made_by_calling_it() -> None:
    with pytest.raises(TypeError, match=r"Memo.open\(path\) opens a model"):
        Memo("notes.memo")  # type: ignore[arg-type]


def test_contexts_of_words_are_a_choice(tmp_path: Path) -> None:
    with Memo.create(tmp_path / "a.memo") as memo, Memo.create(tmp_path / "b.memo", words=False) as plain:
        assert (memo.settings["words"], plain.settings["words"]) == ([2, 4], [])
        for each in (memo, plain):
            each.memorize(OWL, "owl")
        # In another case and on another line, it is the same text to one of them alone.
        told = [each.explain("THE\nOWL\nREADS", 5).candidates for each in (memo, plain)]
        units = [{slot.unit for candidate in each for slot in candidate.evidence} for each in told]
        assert ["words" in each for each in units] == [True, False]


def test_a_memory_grows_with_what_it_holds(tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    with Memo.create(tmp_path / "a.memo", tokenizer="bytes") as memo:
        empty, digest = memo.stats().bytes, memo.digest()
        sizes = []
        for n in range(3):
            memo.memorize(draws.integers(0, 256, 20_000), f"text {n}")
            sizes.append(memo.stats().bytes)
        assert empty < sizes[0] < sizes[1] < sizes[2]
        memo.forget(list(memo))
        assert memo.digest() == digest


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"memory": "4MiB"}, "memory: a memory has no size any more; it grows; leave memory out of create"),
        ({"parameters": 5}, "parameters: a memory has no size any more"),
        ({"params": 5}, "params: a memory has no size any more"),
        ({"tokens": 5}, "tokens: a memory has no size any more"),
        ({"heads": 2}, "heads: all memories see the same contexts now; leave heads out of create"),
        ({"words": 1}, "words=1 must be True or False"),
        ({"seed": -1}, "seed=-1 must be a whole number that is not negative"),
        ({"seed": 2**70}, f"seed={2**70} is too large; it must be below 2**63"),
        ({"tokenizer": "gpt5"}, 'there is no tokenizer "gpt5"; use gpt2, cl100k, o200k, bytes, words'),
        ({"tokenizer": "words"}, "the tokenizer words needs a text to take its vocabulary from; give it one"),
        ({"tokenizer": "bytes", "words_from": ["a"]}, "words_from makes a tokenizer of its own; leave tokenizer out"),
        ({"tokenizer": 5}, "a model cannot keep a int as its tokenizer; give a name"),
    ],
)
def test_a_model_that_cannot_be_is_refused(tmp_path: Path, options: dict[str, str], says: str) -> None:
    with pytest.raises(InvalidError) as refused:
        Memo.create(tmp_path / "a.memo", **options)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert not (tmp_path / "a.memo").exists()


def test_an_option_that_never_was_is_a_type_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"create\(\) got an unexpected keyword argument 'tokeniser'"):
        Memo.create(tmp_path / "a.memo", tokeniser="bytes")  # type: ignore[arg-type]


# What memorize takes


def test_a_text_is_one_document(memo: Memo) -> None:
    done = memo.memorize(OWL, "owl", labels={"kind": "note"}, reason="to begin with")
    assert (done.transaction, done.documents, done.tokens) == (1, 1, len(memo.encode(OWL)))
    assert (done.added, done.updated, done.unchanged) == (["owl"], [], [])
    (document,) = memo.docs()
    assert (document.id, document.labels, document.state) == ("owl", {"kind": "note"}, "live")
    assert memo.text("owl") == OWL
    assert memo.log()[0].reason == "to begin with"


def test_a_document_without_an_id_gets_one_from_its_content(memo: Memo) -> None:
    (first,) = memo.memorize(OWL).added
    assert first.startswith("doc-")
    assert memo.memorize(OWL).unchanged == [first]
    assert memo.memorize(CAT).added != [first]


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda ids: iter(ids)])
def test_token_ids_are_one_document(memo: Memo, kind: type[list[int]]) -> None:
    ids = memo.encode(OWL).tolist()
    assert memo.memorize(kind(ids), "owl").added == ["owl"]
    assert memo.text("owl") == OWL


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "object"])
def test_arrays_of_any_integers_are_token_ids(memo: Memo, dtype: str) -> None:
    memo.memorize(np.array([1, 2, 3, 4, 5], dtype), "a")
    assert memo.memorize([1, 2, 3, 4, 5], "a").unchanged == ["a"]
    # Not contiguous, backwards, and not writable.
    array = np.array([5, 0, 4, 0, 3, 0, 2, 0, 1], dtype)[::-2]
    array.setflags(write=False)
    assert memo.memorize(array, "a").unchanged == ["a"]


def documents() -> Iterator[object]:
    yield OWL
    yield [1, 2, 3]
    yield np.array([4, 5, 6])
    yield ("pair", CAT)
    yield ("ids", [7, 8, 9])
    yield (None, "Nobody named this one.")
    yield {"text": "A dict.", "id": "dict", "labels": {"kind": "own"}}
    yield {"tokens": [10, 11], "id": "tokens"}


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_documents_come_in_any_iterable(memo: Memo, kind: type[list[object]]) -> None:
    done = memo.memorize(kind(documents()), labels={"kind": "all", "year": "new"})  # type: ignore[arg-type]
    assert len(done.added) == 8
    assert {"pair", "ids", "dict", "tokens"} <= set(done.added)
    assert done.transaction == 1
    labels = {document.id: document.labels for document in memo.docs()}
    assert labels["pair"] == {"kind": "all", "year": "new"}
    assert labels["dict"] == {"kind": "own", "year": "new"}
    assert (memo.text("pair"), memo.text("dict")) == (CAT, "A dict.")
    assert memo.text("ids") == memo.decode([7, 8, 9])


def test_an_array_of_texts_holds_documents(memo: Memo) -> None:
    assert len(memo.memorize(np.array([OWL, CAT])).added) == 2
    assert len(memo.memorize(np.array([OWL, CAT], object)).unchanged) == 2


def test_one_dict_is_one_document(memo: Memo) -> None:
    assert memo.memorize({"text": OWL, "id": "owl"}).added == ["owl"]
    assert memo.memorize({"text": CAT}, "cat").added == ["cat"]


def test_no_documents_change_nothing(memo: Memo) -> None:
    done = memo.memorize([])
    assert (done.transaction, done.documents, done.added, done.tokens) == (None, 0, [], 0)
    assert memo.log() == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([1, -2], "token -2 at position 1 is negative; ids begin with 0"),
        ([1, 2, 50257], "token 50257 at position 2 is outside the vocabulary of 50257"),
        ([2**70], f"token {2**70} at position 0 is outside the vocabulary of 50257"),
        (np.array([2**40]), f"token {2**40} at position 0 is outside the vocabulary of 50257"),
        ([1, 2.5], "token ids must be whole numbers; these are of type float64"),
        (np.array([1.0]), "token ids must be whole numbers; these are of type float64"),
        ([True, False], "token ids must be whole numbers; these are of type bool"),
        (np.array([[1, 2]]), "token ids must be a 1-d array; this one has 2 dimensions: (1, 2)"),
        (np.int64(5), "token ids must be a 1-d array; this one has 0 dimensions: ()"),
        ([50256], "the end token 50256 stands inside a document, at position 0"),
        ([[1], ["a"]], "document 1: text must be a str or token ids, not list"),
        (b"bytes", "text must be a str or token ids, not bytes; decode it first"),
        ([OWL, b"bytes"], "document 1: text must be a str or token ids, not bytes; decode it first"),
        (Path("notes"), "text must be a str or token ids, not PosixPath; memorize_files reads files"),
        (None, "text must be a str or token ids, not NoneType"),
        ("a\ud800", "text has '\\ud800' at position 1, a surrogate, which is no character"),
        ([OWL, "\udfff"], "document 1: text has '\\udfff' at position 0, a surrogate, which is no character"),
        (5, "text must be a str or token ids, not int"),
        ([OWL, None], "document 1: text must be a str or token ids, not NoneType"),
        ([OWL, [1, -1]], "document 1: token -1 at position 1 is negative"),
        (("a", "b"), "is this an id and a text, or two texts?"),
        ({"id": "a"}, "a document needs one of text and tokens"),
        ([{"text": "a", "tokens": [1]}], "document 0: a document needs one of text and tokens"),
        ([{"text": "a", "title": "b"}], "document 0: a document has text or tokens, id and labels, but no 'title'"),
        ([{"text": "a", "id": 7}], "document 0: an id must be a str, not int"),
        ([{"text": "a", "labels": {"year": 2000}}], "document 0: label 'year' must be a str with a str for a value"),
        ([{"text": "a", "labels": "b"}], "document 0: labels must be a dict of str, not str"),
        ([("", "a")], '"" cannot be an id: it must have 1 to 1024 bytes and no control characters'),
    ],
)
def test_what_is_no_document_is_refused(memo: Memo, given: object, says: str) -> None:
    with pytest.raises(InvalidError) as refused:
        memo.memorize(given)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert memo.log() == []


def test_an_id_names_one_document(memo: Memo) -> None:
    with pytest.raises(InvalidError, match="id names one document, and there are 2"):
        memo.memorize([OWL, CAT], "both")
    with pytest.raises(InvalidError, match="an id must be a str, not int"):
        memo.memorize(OWL, 5)  # type: ignore[arg-type]
    assert memo.memorize([OWL], "owl").added == ["owl"]


def test_an_error_in_an_iterable_is_not_hidden(memo: Memo) -> None:
    def broken() -> Iterator[str]:
        yield OWL
        raise TypeError("of its own")

    with pytest.raises(TypeError, match="of its own"):
        memo.memorize(broken())
    assert memo.docs() == []


def test_files_are_read_as_the_command_line_reads_them(memo: Memo, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "owl.txt").write_text(OWL)
    (folder / "deep" / "cat.txt").write_text(CAT)
    done = memo.memorize_files(folder, labels={"from": "disk"}, reason="all")
    assert sorted(done.added) == ["deep/cat.txt", "owl.txt"]
    assert memo.text("owl.txt") == OWL
    assert memo.docs()[0].labels == {"from": "disk", "file": str((folder / "deep" / "cat.txt").resolve())}
    assert memo.memorize_files(str(folder / "owl.txt"), id="owl").added == ["owl"]
    lines = tmp_path / "notes.jsonl"
    lines.write_text("".join(json.dumps({"body": text}) + "\n" for text in (OWL, CAT)))
    assert len(memo.memorize_files(lines, jsonl_field="body").added) == 2
    with zipfile.ZipFile(tmp_path / "letter.docx", "w", zipfile.ZIP_DEFLATED) as letter:
        letter.writestr("word/document.xml", "<w:document><w:p><w:t>The owl &amp; the cat.</w:t></w:p></w:document>")
    (tmp_path / "page.html").write_text("<script>no()</script><p>The <b>cat</b> sleeps.")
    memo.memorize_files(tmp_path / "letter.docx", tmp_path / "page.html")
    assert (memo.text("letter.docx"), memo.text("page.html")) == ("The owl & the cat.\n", "The cat sleeps.\n")


def test_what_of_a_folder_is_read_can_be_chosen(memo: Memo, tmp_path: Path) -> None:
    for name in ("a.md", "a.txt", "old/b.md", "c.log", ".hidden.md"):
        (tmp_path / "n" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "n" / name).write_text(f"The text of {name}.")
    (tmp_path / "n" / ".gitignore").write_text("*.log\n")
    folder = tmp_path / "n"
    assert memo.memorize_files(folder, include="*.md", exclude=["old/"]).added == ["a.md"]
    assert memo.memorize_files(folder / "**" / "*.md").added == ["old/b.md"]
    assert memo.memorize_files(folder, ignore=False, prefix="all/").added == [
        "all/a.md",
        "all/a.txt",
        "all/c.log",
        "all/old/b.md",
    ]
    with pytest.raises(InvalidError, match="no file matches"):
        memo.memorize_files(folder / "*.rst")
    with pytest.raises(InvalidError, match="larger than the limit of 65536 bytes"):
        (tmp_path / "long.txt").write_text("long " * 20_000)
        memo.memorize_files(tmp_path / "long.txt", max_bytes="64KiB")


def test_a_file_of_a_folder_that_cannot_be_read_is_told(memo: Memo, tmp_path: Path) -> None:
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "owl.txt").write_text(OWL)
    (tmp_path / "n" / "latin.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InvalidError, match=r"latin\.txt: the byte at offset 3"):
        memo.memorize_files(tmp_path / "n", strict=True)
    assert memo.docs() == []
    with pytest.warns(UserWarning, match=r"skipped .*latin\.txt: the byte at offset 3"):
        assert memo.memorize_files(tmp_path / "n").added == ["owl.txt"]
    with pytest.raises(InvalidError, match="the byte at offset 3"):
        memo.memorize_files(tmp_path / "n" / "latin.txt")


def test_a_document_of_another_file_is_not_replaced_unless_asked(memo: Memo, tmp_path: Path) -> None:
    for folder, text in {"a": OWL, "b": CAT, "c": OWL}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "note.txt").write_text(text)
    memo.memorize_files(tmp_path / "a")
    with pytest.raises(StateError, match=r"a/note\.txt would be replaced by .*b/note\.txt; prefix=") as refused:
        memo.memorize_files(tmp_path / "b")
    assert "replace=True" in str(refused.value)
    assert memo.text("note.txt") == OWL
    assert memo.memorize_files(tmp_path / "c").unchanged == ["note.txt"]
    assert memo.memorize_files(tmp_path / "b", prefix="b/").added == ["b/note.txt"]
    assert memo.memorize_files(tmp_path / "b", replace=True).updated == ["note.txt"]
    with pytest.raises(StateError, match="already, with other content"):
        memo.memorize_files(tmp_path / "a", tmp_path / "b")
    with pytest.raises(InvalidError, match="'file' says where"):
        memo.memorize_files(tmp_path / "a", labels={"file": "x"})


def test_fields_of_lines_are_ids_and_labels(memo: Memo, tmp_path: Path) -> None:
    lines = tmp_path / "posts.jsonl"
    posts = [{"id": "one", "text": OWL}, {"text": CAT, "by": "Ada"}]
    lines.write_text("\n".join(json.dumps(post) for post in posts))
    assert memo.memorize_files(lines, label_fields="by").added == ["one", "posts.jsonl#2"]
    assert {document.id: document.labels.get("by") for document in memo.docs()} == {"one": None, "posts.jsonl#2": "Ada"}
    with pytest.raises(InvalidError, match='there is no field "key"'):
        memo.memorize_files(lines, id_field="key")


def test_files_without_text_are_refused(memo: Memo, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidError, match=r"there is nothing to memorize in .*empty"):
        memo.memorize_files(tmp_path / "empty")
    with pytest.raises(InvalidError, match="there is nothing to memorize in no file at all"):
        memo.memorize_files()


def test_bytes_of_files_are_tokens_of_bytes(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(range(256)))
    with Memo.create(tmp_path / "a.memo", tokenizer="bytes") as memo:
        assert memo.memorize_files(tmp_path / "data").tokens == 256
        assert memo.next_token(np.arange(100)).argmax() == 100


def test_text_goes_to_tokens_and_back(memo: Memo) -> None:
    ids = memo.encode(OWL)
    assert (ids.dtype, ids.ndim) == (np.dtype("uint32"), 1)
    assert memo.decode(ids) == memo.decode(ids.tolist()) == OWL
    assert memo.encode("").size == 0
    assert memo.decode([]) == ""
    with pytest.raises(InvalidError, match="token 60000 at position 0 is outside the vocabulary of 50257"):
        memo.decode([60000])
