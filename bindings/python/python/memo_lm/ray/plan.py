"""What is to be done, written down before it begins: which shard holds what."""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import os
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray

from .._memo import ExistsError, InvalidError
from ..memo import Memo
from . import dataset, sources, tasks
from .sources import Item, Reading

FORMAT = 3
MANIFEST = "manifest.json"
EMPTY = "empty.memo"
INPUT = "input"

# Bytes of text in a shard, at most: what is done again if a worker is lost.
SHARD = 4 << 30
# A .jsonl is not cut into smaller ranges than this.
LEAST = 64 << 10
# Bytes of a document that is worth to be divided.
LONG = 1 << 20


@dataclass
class Plan:
    """The work of one call, as its manifest has it."""

    work: Path
    reading: Reading
    known: dict[str, str]
    """By what the arguments are known."""
    shards: list[list[Item]]
    long: list[Item]
    """Documents that are more than one worker's part of the work: all workers read them, and write a portion each."""
    portions: int
    finished: bool = False
    """Everything is merged: only renaming is left, if that."""

    @property
    def bytes(self) -> int:
        """How much there is to read."""
        return sum(item.bytes for shard in [*self.shards, self.long] for item in shard)

    def save(self) -> None:
        """Writes the manifest, whole or not at all."""
        written = {
            "format": FORMAT,
            "known": self.known,
            "finished": self.finished,
            "reading": vars(self.reading),
            "shards": [sources.to_json(shard) for shard in self.shards],
            "long": sources.to_json(self.long),
            "portions": self.portions,
        }
        beside = self.work / f"{MANIFEST}.tmp"
        with beside.open("w") as file:
            json.dump(written, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.work / MANIFEST)

    @staticmethod
    def load(work: Path) -> Plan | None:
        """The plan of a folder, if it has one."""
        try:
            read = json.loads((work / MANIFEST).read_text())
        except FileNotFoundError:
            return None
        if read.get("format") != FORMAT:
            raise InvalidError(f"{work} was made by another version; give another work_dir, or remove it")
        shards = [sources.from_json(shard) for shard in read["shards"]]
        reading = Reading(**read["reading"])
        long = sources.from_json(read["long"])
        return Plan(work, reading, read["known"], shards, long, read["portions"], read["finished"])


def agreed(source: Any, path: Path, work: Path, config: dict[str, Any], reading: Reading, workers: int) -> Plan:
    """The plan that a folder has, if it is of the same arguments; else, if it has none, a new one."""
    plan = Plan.load(work)
    if plan is None:
        if path.exists():
            raise ExistsError(f"{path} exists already; a model is made where nothing is yet")
        return _new(source, path, work, config, reading, workers)
    model, reading = _empty(work / "compared.memo", config, reading)
    shutil.rmtree(work / "compared.memo")
    if _is_dataset(source):
        inputs = _of_survey(dataset.survey_dataset(source, reading))
    else:
        inputs = _of_files(sources.files(_paths(source), reading))
    known = _known(path, model, inputs, reading)
    other = [name for name, value in known.items() if plan.known[name] != value]
    if other:
        raise InvalidError(f"{work} holds work on {other[0]} than these; give another work_dir, or remove it")
    if path.exists() and not plan.finished:
        raise ExistsError(f"{path} exists already; a model is made where nothing is yet")
    return plan


def _new(source: Any, path: Path, work: Path, config: dict[str, Any], reading: Reading, workers: int) -> Plan:
    items: list[Item] = []
    long: list[Item] = []
    if _is_dataset(source):
        dataset.columns(source, reading)
    else:
        items = sources.files(_paths(source), reading)
        if not items:
            raise InvalidError(
                f"there is nothing to memorize in {', '.join(map(str, _paths(source))) or 'no file at all'}"
            )
    # It will hold texts, which are nobody else's business.
    work.mkdir(mode=0o700, parents=True, exist_ok=True)
    model, reading = _empty(work / EMPTY, config, reading)
    if _is_dataset(source):
        found = dataset.write(source, os.fspath(work / INPUT), reading)
        surveys = tasks.get([_survey_file.remote(each, reading) for each in found])
        items = [dataset.item(each, survey) for each, survey in zip(found, surveys)]
        whole = dataset.Survey()
        for survey in surveys:
            whole.add(survey)
        inputs = _of_survey(whole)
    else:
        inputs = _of_files(items)
        long = _long(items, workers)
        items = _cut([item for item in items if item not in long], workers)
    known = _known(path, model, inputs, reading)
    plan = Plan(work, reading, known, _shards(items, workers), long, workers if long else 0)
    plan.save()
    return plan


# What arguments are known by


def _known(path: Path, model: str, inputs: str, reading: Reading) -> dict[str, str]:
    how = json.dumps(vars(reading))
    return {"another path": os.fspath(path), "another config": model, "other inputs": inputs, "other columns": how}


def _of_survey(survey: dataset.Survey) -> str:
    return f"{survey.rows} rows, {survey.bytes} bytes, {survey.digest:032x}"


def _of_files(items: list[Item]) -> str:
    return hashlib.sha256(sources.known_by(items).encode()).hexdigest()


def _paths(source: Any) -> list[Any]:
    return [source] if isinstance(source, (str, os.PathLike)) else list(source)


def _is_dataset(source: Any) -> bool:
    """Whether it is Ray Data's. That library is large, and is not imported for files."""
    return hasattr(source, "map_batches")


def _empty(path: Path, config: dict[str, Any], reading: Reading) -> tuple[str, Reading]:
    """Makes an empty model, which all parts begin as a copy of, and says by what it is known.

    Copies have one secret, so documents without an id get the same one everywhere.
    """
    shutil.rmtree(path, ignore_errors=True)
    with Memo.create(path, **config) as memo:
        about = json.dumps([memo.settings, memo.tokenizer, memo.tokenizer_json], sort_keys=True)
        raw = memo.core.raw
    return hashlib.sha256(about.encode()).hexdigest(), replace(reading, raw=raw)


# Who does what


def _long(items: list[Item], workers: int) -> list[Item]:
    """Documents that one worker would be at when all others are done."""
    if workers == 1:
        return []
    fair = max(LONG, sum(item.bytes for item in items) // workers)
    # Two of one id are compared where both are read.
    ids = Counter(item.id for item in items)
    return [item for item in items if not item.lines and item.bytes > fair and ids[item.id] == 1]


def _cut(items: list[Item], workers: int) -> list[Item]:
    """Large files of lines in ranges."""
    size = max(LEAST, min(sources.RANGE, sum(item.size for item in items) // max(1, workers)))
    counted = {}
    for item in items:
        if item.lines and len(ranges := sources.ranges(item, size)) > 1:
            counted[item] = [_count_lines.remote(item.path, start, end) for start, end in ranges]
    cut = []
    for item in items:
        cut.extend(sources.cut(item, tasks.get(counted[item])) if item in counted else [item])
    return cut


def _shards(items: list[Item], workers: int) -> list[list[Item]]:
    """Items in shards of about equal sizes: the largest first, each to the shard that has least."""
    wanted = max(workers, math.ceil(sum(item.bytes for item in items) / SHARD))
    shards: list[list[Item]] = [[] for _ in range(max(1, min(wanted, len(items))))]
    fill = [(0, n) for n in range(len(shards))]
    for item in sorted(items, key=lambda item: -item.bytes):
        size, n = fill[0]
        shards[n].append(item)
        heapq.heapreplace(fill, (size + item.bytes, n))
    return shards


_count_lines = ray.remote(sources.count_lines)
_survey_file = ray.remote(dataset.survey_file)
