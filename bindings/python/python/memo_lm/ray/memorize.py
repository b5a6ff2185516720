"""Memorizing on a Ray cluster: workers make parts of a model, which are then merged into one.

What is memorized is a sum over positions of documents, so the parts add up to the model that one process would have
made, bit for bit. Short documents are dealt out, long ones divided: see `parts`.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

import ray

from .. import inputs
from .._memo import InvalidError
from ..memo import Memo
from ..progress import Callback, Progress, watching
from . import parts, plan, tasks
from .parts import Range
from .plan import Plan
from .sources import Reading

# Seconds between looks at how far the workers are.
LOOK = 0.2
# How often a task is begun again if its worker is lost.
RETRIES = 3


def memorize(
    source: Any,
    path: inputs.Path,
    *,
    num_workers: int | None = None,
    config: Mapping[str, Any] | None = None,
    work_dir: inputs.Path | None = None,
    id_column: str = "id",
    text_column: str = "text",
    jsonl_field: str | None = None,
    progress: Progress = None,
) -> Memo:
    """Makes a model of files or of a dataset with many workers, and opens it.

    source: a file or folder, or a list of them, read as the command line reads them; or a `ray.data.Dataset` with a
    column of texts and, if you like, one of ids. num_workers: how many work at a time; as many as the cluster has
    processors if it is not said. config: options of `Memo.create`. work_dir: where parts are made, `path`.work if it is
    not said; every worker must reach it, and the files, by the same name.

    A worker that is lost is replaced. If the call itself fails, calling again with the same arguments goes on where it
    was. A document counts once, however often it is there; an id with two contents is refused. A long document is
    divided among all workers.
    """
    target = Path(os.path.abspath(os.fspath(path)))
    work = Path(os.path.abspath(os.fspath(f"{target}.work" if work_dir is None else work_dir)))
    options = dict(config or {})
    if options.get("words_from") is not None:
        texts = options["words_from"]
        options["words_from"] = [texts] if isinstance(texts, str) else list(texts)
    if num_workers is not None and inputs.whole("num_workers", num_workers) == 0:
        raise InvalidError("num_workers=0: at least one must work")
    if not ray.is_initialized():
        ray.init()
    workers = num_workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    reading = Reading(jsonl_field, False, id_column, text_column)
    agreed = plan.agreed(source, target, work, options, reading, workers)
    if not (agreed.finished and target.exists()):
        with watching(progress) as callback:
            whole = _parts(agreed, workers, callback)
            if agreed.long:
                tasks.get([_add_portions.remote(agreed.work, whole, agreed.portions, agreed.long, agreed.reading)])
        _finish(agreed, parts.folder(work, whole) / parts.MODEL, target)
    return Memo.open(target)


class Portion(int):
    """The number of a portion of the memory of long documents."""


Part = Union[Range, Portion]
Tree = dict[Part, Optional[tuple[Range, Range]]]
"""Parts, each with the two that it is merged of, if it is; those come first."""


def _tree(count: int) -> Tree:
    """All parts of so many shards."""
    row: list[Range] = [(n, n) for n in range(count)]
    tree: Tree = dict.fromkeys(row)
    while len(row) > 1:
        above = []
        for left, right in zip(row[::2], row[1::2]):
            tree[left[0], right[1]] = (left, right)
            above.append((left[0], right[1]))
        row = above + row[2 * len(above) :]
    return tree


def _parts(agreed: Plan, workers: int, callback: Callback | None) -> Range:
    """Makes all parts that are not there yet; gives the one that is everything."""
    tree: Tree = _tree(len(agreed.shards))
    whole = (0, len(agreed.shards) - 1)
    portions: list[Part] = [Portion(n) for n in range(agreed.portions)]
    tree.update(dict.fromkeys(portions))
    for leftover in (agreed.work / parts.PARTS).glob("*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True)
    done = {part for part in tree if _place(agreed.work, part).exists()}
    todo = [*_missing(tree, whole, done), *(portion for portion in portions if portion not in done)]
    running: dict[Any, Part] = {}
    try:
        while todo or running:
            for part in _ready(todo, tree, done)[: workers - len(running)]:
                todo.remove(part)
                running[_start(agreed, part, tree[part])] = part
            left = [part for part in [*todo, *running.values()] if tree[part] is None]
            finished, _ = ray.wait(list(running), timeout=LOOK)
            tasks.get(finished)
            done.update(running.pop(ref) for ref in finished)
            if callback is not None and left:
                callback("memorizing", parts.bytes_read(agreed.work), agreed.bytes)
            elif callback is not None:
                merges = sum(of is not None for of in tree.values())
                callback("merging", merges - len(todo) - len(running), merges)
    finally:
        for ref in running:
            ray.cancel(ref, force=True)
    return whole


def _place(work: Path, part: Part) -> Path:
    return parts.portion_file(work, part) if isinstance(part, Portion) else parts.folder(work, part)


def _missing(tree: Tree, part: Range, done: set[Part]) -> list[Part]:
    """What must be made for a part to be there, in order."""
    if part in done:
        return []
    of = tree[part]
    return [each for below in of or () for each in _missing(tree, below, done)] + [part]


def _ready(todo: list[Part], tree: Tree, done: set[Part]) -> list[Part]:
    return [part for part in todo if all(below in done for below in tree[part] or ())]


def _start(agreed: Plan, part: Part, of: tuple[Range, Range] | None) -> Any:
    if isinstance(part, Portion):
        number = len(agreed.shards) + part
        return _write_portion.remote(agreed.work, part, agreed.portions, agreed.long, agreed.reading, number)
    if of is not None:
        return _join.remote(agreed.work, *of)
    return _build.remote(agreed.work, part[0], agreed.shards[part[0]], agreed.reading)


def _finish(agreed: Plan, made: Path, target: Path) -> None:
    """Puts the model in its place, and takes everything else away."""
    if not agreed.finished:
        _check(made)
        agreed.finished = True
        agreed.save()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        made.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # Another file system: what is copied has its name when it is whole.
        beside = target.with_name(f".{target.name}.tmp")
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(made, beside)
        beside.rename(target)
    for name in (parts.PARTS, parts.PROGRESS, plan.INPUT, plan.EMPTY):
        shutil.rmtree(agreed.work / name, ignore_errors=True)


def _check(made: Path) -> None:
    """Refuses a model that has nothing in it."""
    with Memo.open(made) as memo:
        documents = memo.stats().documents
    if not documents:
        raise InvalidError("there is nothing to memorize: every document is empty, or there is none")


_build = ray.remote(max_retries=RETRIES, max_calls=1)(parts.build)
_join = ray.remote(max_retries=RETRIES, max_calls=1)(parts.join)
_write_portion = ray.remote(max_retries=RETRIES, max_calls=1)(parts.write_portion)
_add_portions = ray.remote(max_retries=RETRIES, max_calls=1)(parts.add_portions)
