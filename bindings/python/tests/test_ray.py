"""A real Ray cluster on this machine, with two workers, of which some are killed."""

from __future__ import annotations

import doctest
import json
import os
import random
import re
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'memo_lm[ray]'")

from memo_lm import ExistsError, InvalidError, Memo, NotFoundError, StateError  # noqa: E402
from memo_lm._memo import Corpus  # noqa: E402
from memo_lm.ray import ShardedMemo, memorize, parts, plan, sources  # noqa: E402

# Not what is done if nothing is said.
CONFIG: dict[str, Any] = {"seed": 8}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    # Workers are polite, and would wait for all else that this machine does.
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        logging_level="ERROR",
        _node_ip_address="127.0.0.1",
    )
    yield
    ray.shutdown()


def story(seed: int, words: int) -> str:
    """Sentences that differ from seed to seed."""
    draw = random.Random(seed)
    names = ["the owl", "a cat", "Marta", "the miller", "an old king", "the fox"]
    deeds = ["reads", "sleeps", "counts stars", "climbs the tower", "bakes bread", "looks for the key"]
    places = ["at night", "on the roof", "by the river", "in the garden", "before noon", "under the bridge"]
    text = ""
    while text.count(" ") < words:
        text += f"{draw.choice(names)} {draw.choice(deeds)} {draw.choice(places)}, {draw.randrange(1000)} times. "
    return text


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, lines and much that is passed over, as a folder of a user."""
    shelf = tmp_path_factory.mktemp("data") / "shelf"
    (shelf / "more" / "deep").mkdir(parents=True)
    for n in range(5):
        (shelf / f"{n}.txt").write_text(story(n, 300 * (n + 1)))
    (shelf / "more" / "deep" / "owl.txt").write_text("\ufeff" + story(6, 50))
    lines = [json.dumps({"text": story(100 + n, 40), "other": n}) for n in range(1200)]
    lines[7:7] = ["", json.dumps({"text": ""})]
    (shelf / "more" / "many.jsonl").write_text("\n".join(lines))
    (shelf / "picture").write_bytes(b"\x89PNG\0\0\0")
    (shelf / ".hidden").write_text("not to be read")
    (shelf / ".ignore").write_text("*.bak\n")
    (shelf / "0.bak").write_text("nor this")
    (shelf / "empty.txt").touch()
    (shelf / "link.txt").symlink_to(shelf / "0.txt")
    return shelf


@pytest.fixture(scope="module")
def alone(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[str]]:
    """What one process makes of the shelf: its digest and its documents."""
    with Memo.create(tmp_path_factory.mktemp("alone") / "m.memo", **CONFIG) as memo:
        memo.memorize_files(shelf)
        return memo.digest(), [document.id for document in memo.docs()]


def left_in(work: Path) -> list[str]:
    return sorted(path.name for path in work.iterdir())


# Memorizing


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_makes_the_same_model(
    workers: int, shelf: Path, alone: tuple[str, list[str]], tmp_path: Path
) -> None:
    told: list[tuple[str, int, int]] = []
    path = tmp_path / "m.memo"
    with memorize([shelf], path, num_workers=workers, config=CONFIG, progress=lambda *how: told.append(how)) as memo:
        assert memo.digest() == alone[0]
        assert [document.id for document in memo.docs()] == alone[1]
        assert memo.verify().ok
    assert len(json.loads((tmp_path / "m.memo.work" / "manifest.json").read_text())["shards"]) == workers
    # No copy of a text is left behind.
    assert left_in(tmp_path / "m.memo.work") == ["manifest.json"]
    assert {what for what, _, _ in told} == ({"memorizing", "merging"} if workers > 1 else {"memorizing"})
    assert all(0 <= done <= whole for _, done, whole in told)


def test_a_long_document_is_divided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LONG", 10_000)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "novel.txt").write_text(story(1, 20_000))
    (tmp_path / "texts" / "note.txt").write_text(story(2, 100))
    lexicon = {"owl": "animal", "cat": "animal", "fox": "animal"}
    for source, config in ((tmp_path / "texts" / "novel.txt", CONFIG), (tmp_path / "texts", {"lexicon": lexicon})):
        with Memo.create(tmp_path / "alone.memo", **config) as memo:
            memo.memorize_files(source)
            alone = memo.digest(), [(each.id, each.labels, each.current.tokens) for each in memo.docs()]
        shutil.rmtree(tmp_path / "alone.memo")
        path = tmp_path / "m.memo"
        with memorize(source, path, num_workers=2, config=config) as memo:
            assert (memo.digest(), [(each.id, each.labels, each.current.tokens) for each in memo.docs()]) == alone
            assert memo.verify().ok
        agreed = json.loads((tmp_path / "m.memo.work" / "manifest.json").read_text())
        assert (len(agreed["long"]), agreed["portions"]) == (1, 2)
        assert left_in(tmp_path / "m.memo.work") == ["manifest.json"]
        shutil.rmtree(path)
        shutil.rmtree(tmp_path / "m.memo.work")


def test_a_long_document_has_one_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "LONG", 10_000)
    (tmp_path / "novel.txt").write_text(story(1, 20_000))
    (tmp_path / "lines.jsonl").write_text(json.dumps({"id": "novel.txt", "text": "Another one."}))
    for _ in range(2):
        with pytest.raises(StateError, match=r"given twice with different contents: .*lines\.jsonl.* and .*novel\.txt"):
            memorize([tmp_path / "novel.txt", tmp_path / "lines.jsonl"], tmp_path / "m.memo", num_workers=2)


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path) -> None:
    # Enough for two workers to be busy for a while.
    stories = [{"text": story(n, 2000)} for n in range(240)]
    (tmp_path / "long.jsonl").write_text("\n".join(json.dumps(each) for each in stories))
    work = tmp_path / "work"
    pids: set[int] = set()
    killed: list[int] = []

    def look(what: str, done: int, whole: int) -> None:
        for each in (work / "progress").glob("*.json"):
            pid = json.loads(each.read_text())["pid"]
            pids.add(pid)
            if not killed:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    arguments: dict[str, Any] = {"work_dir": work, "progress": look}
    with memorize(tmp_path / "long.jsonl", tmp_path / "m.memo", num_workers=2, **arguments) as memo:
        digest, documents = memo.digest(), memo.stats().documents
    assert killed and len(pids) == 3
    with Memo.create(tmp_path / "alone.memo") as memo:
        memo.memorize_files(tmp_path / "long.jsonl")
        assert (digest, documents) == (memo.digest(), 240)


@pytest.mark.heavy
def test_work_goes_on_where_it_was(shelf: Path, alone: tuple[str, list[str]], tmp_path: Path) -> None:
    work = tmp_path / "work"

    class Enough(Exception):
        pass

    def finished() -> list[str]:
        """Shards that were memorized."""
        return [part.name[:5] for part in (work / "parts").glob("*") if part.suffix != ".tmp"]

    def began(shards: list[str]) -> list[int]:
        """When their work was last told of."""
        return [(work / "progress" / f"{shard}.json").stat().st_mtime_ns for shard in shards]

    def stop(what: str, done: int, whole: int) -> None:
        if finished():
            raise Enough

    arguments: dict[str, Any] = {"num_workers": 2, "config": CONFIG, "work_dir": work}
    with pytest.raises(Enough):
        memorize(shelf, tmp_path / "m.memo", **arguments, progress=stop)
    made = finished()
    before = began(made)

    with pytest.raises(InvalidError, match="another config"):
        memorize(shelf, tmp_path / "m.memo", **{**arguments, "config": {"seed": 9}})
    with pytest.raises(InvalidError, match="other inputs"):
        memorize(shelf / "more", tmp_path / "m.memo", **arguments)
    with pytest.raises(InvalidError, match="another path"):
        memorize(shelf, tmp_path / "n.memo", **arguments)

    again = []
    with memorize(shelf, tmp_path / "m.memo", **arguments, progress=lambda *how: again.append(began(made))) as memo:
        assert memo.digest() == alone[0]
    # What was finished was not begun again.
    assert all(times == before for times in again)
    # It is there: nothing is done.
    with memorize(shelf, tmp_path / "m.memo", **arguments) as memo:
        assert memo.digest() == alone[0]


def test_nothing_is_overwritten(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "m.memo").mkdir()
    with pytest.raises(ExistsError):
        memorize(shelf, tmp_path / "m.memo")


@pytest.mark.heavy
def test_an_id_has_one_content(tmp_path: Path) -> None:
    for folder, text in {"a": "The owl reads.", "b": "The owl reads.", "c": "The owl sleeps."}.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "owl.txt").write_text(text)
    both = [tmp_path / "a", tmp_path / "b"]
    with memorize(both, tmp_path / "m.memo", num_workers=2, config=CONFIG) as memo:
        assert memo.stats().documents == 1
    with pytest.raises(StateError) as refused:
        memorize([tmp_path / "b", tmp_path / "c"], tmp_path / "n.memo", num_workers=2, config=CONFIG)
    for folder in "bc":
        assert str(tmp_path / folder / "owl.txt") in str(refused.value)


@pytest.mark.heavy
@pytest.mark.parametrize("batch", [1, 1000])
def test_one_worker_sees_it_too(batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one transaction, and in two."""
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    monkeypatch.setattr(parts, "BATCH", batch)
    with Memo.create(tmp_path / "empty.memo", **CONFIG):
        pass
    for name in ("reads", "sleeps"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "owl.txt").write_text(f"The owl {name}.")
    how = sources.Reading()
    with pytest.raises(StateError) as refused:
        parts.build(tmp_path, 0, sources.files([tmp_path / "reads", tmp_path / "sleeps"], how), how)
    for name in ("reads", "sleeps"):
        assert str(tmp_path / name / "owl.txt") in str(refused.value)


@pytest.mark.heavy
def test_lines_are_read_as_the_command_line_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Several pieces an item.
    monkeypatch.setattr(sources, "PIECE", 10_000)
    named: dict[int, dict[str, Any]] = {7: {"id": "seven"}, 300: {"id": 300}}
    lines = [json.dumps({"text": story(n, 100), **named.get(n, {})}) for n in range(500)]
    path = tmp_path / "lines.jsonl"
    path.write_text("\ufeff" + "\n\n".join(lines))
    how = sources.Reading()
    (item,) = sources.files([path], how)

    def cut(count: int) -> list[sources.Item]:
        ranges = sources.ranges(item, -(-item.size // count))
        return sources.cut(item, [sources.count_lines(item.path, *each) for each in ranges])

    whole = list(Corpus([str(path)], how.options))
    assert [whole[n][0] for n in (6, 7, 8, 300)] == ["lines.jsonl#13", "seven", "lines.jsonl#17", "300"]
    assert whole[7][2] == {"file": f"{item.path}#seven"}
    for count in (1, 2, 7):
        pieces = [piece for each in cut(count) for piece in sources.pieces(each, how)]
        assert len(pieces) > count
        assert [document for piece in pieces for document in piece.documents] == whole
        assert sum(piece.bytes for piece in pieces) == item.size

    lines[431] = '{"text": 5}'
    path.write_text("\n".join(lines))
    (item,) = sources.files([path], how)
    with pytest.raises(InvalidError, match=r"lines\.jsonl:432: the field \"text\" must be a string"):
        [piece for each in cut(3) for piece in sources.pieces(each, how)]


def test_a_size_is_refused(shelf: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidError, match="memory: a memory has no size any more"):
        memorize(shelf, tmp_path / "m.memo", config={"memory": "4MiB"})
    with pytest.raises(InvalidError, match="memory: a memory has no size any more"):
        ShardedMemo.create(2, memory="4MiB")  # type: ignore[arg-type]


@pytest.mark.heavy
def test_a_dataset_is_memorized(tmp_path: Path) -> None:
    data = pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'ray[data]'")
    data.DataContext.get_current().enable_progress_bars = False
    stories: list[dict[str, Any]] = [{"name": f"story {n}", "body": story(n, 60), "other": n} for n in range(200)]
    dataset = data.from_items(stories + stories[:3], override_num_blocks=2)
    arguments: dict[str, Any] = {"text_column": "body"}
    with memorize(dataset, tmp_path / "m.memo", id_column="name", num_workers=1, **arguments) as memo:
        ids = {document.id for document in memo.docs()}
        digest = memo.digest()
    with Memo.create(tmp_path / "alone.memo") as memo:
        memo.memorize([(each["name"], each["body"]) for each in stories])
        assert (digest, ids) == (memo.digest(), {each["name"] for each in stories})
    # Without ids, equal texts are one document too.
    arguments = {**arguments, "num_workers": 2}
    with memorize(dataset, tmp_path / "n.memo", **arguments) as memo:
        assert memo.digest() == digest
    with pytest.raises(InvalidError, match="other inputs"):
        fewer = data.from_items(stories, override_num_blocks=2)
        memorize(fewer, tmp_path / "n.memo", **arguments)
    with pytest.raises(InvalidError, match="no column 'text'; it has 'name', 'body', 'other'"):
        memorize(dataset, tmp_path / "o.memo")


# A memory in shards

STORIES = [(f"story {n}", story(n, 80)) for n in range(40)]
# Three actors on two processors.
ACTORS = {"num_cpus": 0.5}
LEXICON = {
    "owl": ["bird", "animal"],
    "cat": ["mammal", "animal"],
    "fox": ["mammal", "animal"],
    "Marta": [None, "person"],
    "miller": [None, "person"],
    "roof": "place",
    "river": "place",
    "garden": "place",
}


@pytest.fixture(scope="module")
def stories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memo]:
    """The memory of the stories that nobody divided."""
    with Memo.create(tmp_path_factory.mktemp("whole") / "m.memo", **CONFIG) as memo:
        memo.memorize(STORIES)
        yield memo


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_answer_as_the_whole(shards: int, stories: Memo) -> None:
    with ShardedMemo.create(shards, **CONFIG, actor_options=ACTORS) as memo:
        assert memo.memorize(STORIES).added == [name for name, _ in STORIES]
        assert memo.digest() == stories.digest()
        known, strange = STORIES[7][1], "The owl counts the keys of an old king, and nobody else does."
        for text in (known[:200], strange, ""):
            assert np.array_equal(memo.logprobs(text), stories.logprobs(text))
            assert np.array_equal(memo.next_token(text), stories.next_token(text))
        recalls = [each.recall([known, strange]) for each in (memo, stories)]
        assert len({(each.tokens, each.evaluated, each.correct, each.recall) for each in recalls}) == 1
        said = memo.complete(known[:60], 20)
        assert said == stories.complete(known[:60], 20) == known[60:][: len(said)]
        for options in (
            {"stop": [","]},
            {"stop": "er, 4", "max_tokens": 200},
            {"max_tokens": 0},
            {"temperature": 1.5, "seed": 3},
            {"temperature": 1.0, "top_k": 5, "top_p": 0.9, "seed": 4},
        ):
            assert memo.complete(known[:40], **options) == stories.complete(known[:40], **options)
        with pytest.raises(InvalidError, match="temperature must be between 0 and 100"):
            memo.complete("", temperature=-1)
        stats = memo.stats()
        assert (stats.shards, stats.documents, stats.tokens) == (shards, 40, stories.stats().tokens)
        assert stats.cells == stories.stats().cells
        # What is held is divided, about evenly.
        assert max(stats.bytes_by_shard) < 1.5 * stats.bytes / shards


@pytest.mark.heavy
@pytest.mark.parametrize(
    "options",
    [
        {"words": False},
        {"words": False, "lexicon": LEXICON},
        {"tokenizer": "o200k"},
        {"words_from": [STORIES[0][1]], "lexicon": LEXICON},
    ],
)
def test_shards_have_the_options_of_a_model(options: dict[str, Any], tmp_path: Path) -> None:
    """A vocabulary above 65,535 and one that comes with no program among them."""
    with ShardedMemo.create(2, **options) as memo, Memo.create(tmp_path / "m.memo", **options) as alone:
        for each in (memo, alone):
            each.memorize(STORIES[:5])
        assert (memo.settings, memo.digest()) == (alone.settings, alone.digest())
        text = STORIES[0][1][:100]
        assert np.array_equal(memo.logprobs(text.upper()), alone.logprobs(text.upper()))
        # A prompt that is cut off in a word is put right by a model alone.
        prompt = text.rsplit(" ", 1)[0]
        assert memo.complete(prompt, 8) == alone.complete(prompt, 8)


@pytest.mark.heavy
def test_shards_with_a_lexicon_answer_as_the_whole(tmp_path: Path) -> None:
    asked = ["the fox reads on the river", "an old king bakes bread"]
    with (
        ShardedMemo.create(3, lexicon=LEXICON, **CONFIG, actor_options=ACTORS) as sharded,
        Memo.create(tmp_path / "whole.memo", lexicon=LEXICON, **CONFIG) as whole,
        Memo.create(tmp_path / "plain.memo", **CONFIG) as plain,
    ):
        assert sharded.lexicon == whole.lexicon
        assert sharded.settings == whole.settings
        for memo in (sharded, whole, plain):
            memo.memorize(STORIES)
        for share in (1.0, 0.5, 0.0):
            for logs, expected in zip(
                sharded.logprobs_all(asked, generalize=share), whole.logprobs_all(asked, generalize=share)
            ):
                np.testing.assert_array_equal(logs, expected)
            for text in asked:
                next_token = sharded.next_token(text, generalize=share)
                np.testing.assert_array_equal(next_token, whole.next_token(text, generalize=share))
                recalled = sharded.recall(text, generalize=share)
                assert recalled.correct == whole.recall(text, generalize=share).correct
                made = sharded.complete(text, 8, guess=True, generalize=share)
                assert made == whole.complete(text, 8, guess=True, generalize=share)
        assert sharded.logprobs(asked[0]).tolist() != plain.logprobs(asked[0]).tolist()
        assert sharded.logprobs(asked[0], generalize=0).tolist() == plain.logprobs(asked[0]).tolist()
        assert sharded.digest() == whole.digest() != plain.digest()
        sharded.forget(STORIES[0][0])
        whole.forget(STORIES[0][0])
        assert sharded.digest() == whole.digest()
        assert sharded.logprobs(asked[0]).tolist() == whole.logprobs(asked[0]).tolist()
        with pytest.raises(InvalidError, match="generalize"):
            sharded.logprobs(asked[0], generalize=2)


def test_workers_share_a_lexicon(shelf: Path, alone: tuple[str, list[str]], tmp_path: Path) -> None:
    config = {**CONFIG, "lexicon": LEXICON}
    with memorize(shelf, tmp_path / "many.memo", num_workers=2, config=config) as many:
        assert many.lexicon is not None
        assert many.lexicon.members("mammal") == ["cat", "fox"]
        with Memo.create(tmp_path / "one.memo", **config) as one:
            one.memorize_files(shelf)
            assert many.digest() == one.digest() != alone[0]


@pytest.mark.heavy
def test_shards_know_documents_by_id(tmp_path: Path) -> None:
    with ShardedMemo.create(2, **CONFIG) as memo, Memo.create(tmp_path / "m.memo", **CONFIG) as alone:
        empty = memo.digest()
        for each in (memo, alone):
            some: list[Any] = [("owl", "The owl reads."), {"text": "The cat sleeps.", "id": "cat"}, "No name."]
            came = each.memorize(some)
            assert (came.added[:2], len(came.added), came.updated) == (["owl", "cat"], 3, [])
            assert (came.documents, came.tokens) == (3, 11)
            assert each.memorize("The owl reads.", id="owl").unchanged == ["owl"]
            assert each.memorize("No name.").transaction is None
            assert each.memorize("The owl sleeps.", id="owl").updated == ["owl"]
            with pytest.raises(StateError, match="twice"):
                each.memorize([("dog", "barks"), ("dog", "sleeps")])
            with pytest.raises(NotFoundError):
                each.forget(["owl", "dog"])
        assert memo.digest() == alone.digest()
        gone = memo.forget("owl")
        assert (gone.documents, gone.digest_after) == (["owl"], alone.forget("owl").digest_after)
        assert memo.complete("The cat") == alone.complete("The cat") == " sleeps."
        memo.forget(memo.docs())
        assert memo.digest() == empty
        with pytest.raises(InvalidError, match="labels"):
            memo.memorize({"text": "The owl reads.", "labels": {"kind": "bird"}})
    with pytest.raises(StateError, match="shut down"):
        memo.digest()


@pytest.mark.heavy
def test_a_lost_shard_is_made_again(stories: Memo) -> None:
    with ShardedMemo.create(2, **CONFIG) as memo:
        memo.memorize(STORIES)
        scores = memo.logprobs(STORIES[3][1])
        ray.kill(memo._holders.actors[1])
        assert memo.digest() == stories.digest()
        ray.kill(memo._holders.actors[0])
        # Between two batches of counts, too.
        assert np.array_equal(memo.logprobs(STORIES[5][1]), stories.logprobs(STORIES[5][1]))
        assert np.array_equal(memo.logprobs(STORIES[3][1]), scores)
        ray.kill(memo._holders.actors[0])
        memo.forget("story 3")
        memo.memorize([STORIES[3]])
        assert memo.digest() == stories.digest()


@pytest.mark.heavy
def test_a_shard_killed_while_it_writes_changes_nothing(tmp_path: Path) -> None:
    many = [(f"long {n}", story(1000 + n, 2000)) for n in range(80)]
    with ShardedMemo.create(2) as memo, Memo.create(tmp_path / "m.memo") as alone:
        (pid, _) = memo._holders.ask("process")
        write = threading.Thread(target=memo.memorize, args=(many,))
        write.start()
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        write.join()
        alone.memorize(many)
        assert memo.digest() == alone.digest()
        assert pid not in memo._holders.ask("process")


@pytest.mark.heavy
def test_the_guide_says_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parent.parent.parent.parent / "docs" / "python.md"
    section = page.read_text().split("\n## Ray\n")[1]
    sessions = "\n\n".join(re.findall(r"```python\n(>>>.*?)```", section, re.S)).replace("…", "...")
    test = doctest.DocTestParser().get_doctest(sessions, {}, page.name, str(page), 0)
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert (failed, tried) == (0, len(test.examples)), "".join(said)
