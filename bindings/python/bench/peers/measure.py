"""What is measured of a system and a text. Each system is made in one process and asked in another, so that what one
takes of the memory is not another's. Times are those of processors, in all threads: work, not waiting."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import random
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from memo_lm import Memo

from .systems import PAPER, SYSTEMS, MeMo, System, size
from .texts import Ids, Parts

Result = dict[str, Any]
T = TypeVar("T")

LENGTHS = (3, 4, 8, 16)
# Places where a text is recalled, tokens that are to be said at each, and contexts whose answers are timed.
PLACES, IN_A_ROW, QUERIES, WARM = 100, 8, 100, 3
# A document that comes and goes, and tokens that are scored.
DOCUMENT, SCORED = 1_000, 2_000
# Tokens that the paper's model is made of: as many as it can hold, and more.
FEW = (2_048, 16_384)


def measure(name: str, parts: Parts, home: Path, tokens: int | None = None) -> Result:
    """All of a system and a text, of which only the first tokens may count."""
    known = parts.known[:tokens]
    with tempfile.TemporaryDirectory(dir=home) as folder:
        made = _alone(_made, name, known, folder)
        return {**made, **_alone(_asked, name, known, parts.new, folder), "tokens": len(known)}


def _alone(work: Callable[..., Result], *given: Any) -> Result:
    """Does work in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *given).result()


def _processor() -> float:
    """Seconds of processors that this process and those that it started and ended took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _timed(work: Callable[[], object]) -> float:
    start = _processor()
    work()
    return _processor() - start


def _resident() -> int:
    """Bytes of RAM that this process has now."""
    return 1024 * int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])


def _made(name: str, known: Ids, folder: str) -> Result:
    system = SYSTEMS[name]
    seconds = _timed(lambda: system.build(known, Path(folder)))
    made = {"build": seconds, "disk": size(Path(folder)) / len(known)}
    if name == "MeMo":
        made.update(_changed(known, Path(folder)))
    elif "MeMo" not in name:
        made.update(_rebuilt(name, known, seconds))
    return made


def _changed(known: Ids, folder: Path) -> Result:
    """A document that is memorized and forgotten in a copy of a model."""
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder / "text.memo", copy)
    document = known[:DOCUMENT][::-1].copy()
    with Memo.open(copy) as memo:
        before = memo.digest()
        come = _timed(lambda: memo.memorize(document, "document", progress=False))
        go = _timed(lambda: memo.forget("document"))
        same = memo.digest() == before
    shutil.rmtree(copy)
    return {"come": come, "go": go, "as_before": same}


def _rebuilt(name: str, known: Ids, seconds: float) -> Result:
    """What a document costs where there is no other way than to begin again; the paper's model adds and subtracts."""
    system = SYSTEMS[name]
    document = known[:DOCUMENT][::-1].copy()
    if name == "infini-gram":
        # A further index can be beside the first.
        with tempfile.TemporaryDirectory() as folder:
            return {"come": _timed(lambda: system.build(document, Path(folder))), "go": seconds}
    if name == PAPER:
        model = system.model(known)
        come = _timed(lambda: model.memorize(document))
        return {"come": come, "go": _timed(lambda: model.memorize(document, -1))}
    return {"come": seconds, "go": seconds}


def _asked(name: str, known: Ids, new: Ids, folder: str) -> Result:
    tokens = known.tolist()
    places = random.Random(1).sample(range(max(LENGTHS), len(tokens) - IN_A_ROW), len(tokens) // 2)
    held = _resident()
    system: System = SYSTEMS[name](known, Path(folder))

    def timed(work: Callable[[], T], times: int) -> tuple[T, float]:
        start = _processor()
        done = work()
        return done, (_processor() - start) / times

    cues = [tokens[place - max(LENGTHS) : place] for place in places[:QUERIES]]
    for cue in cues[:WARM]:
        system.distribution(cue)
    found: Result = {}
    _, found["query"] = timed(lambda: [system.best(cue) for cue in cues], len(cues))
    _, found["distribution"] = timed(lambda: [system.distribution(cue) for cue in cues], len(cues))
    found["ram"] = _resident() - held
    found["recall"] = [_recall(system, tokens, places, length) for length in LENGTHS]
    rest = new[:SCORED] if name == "infini-gram" else new
    scores, seconds = timed(lambda: system.score(rest), len(rest))
    if scores is not None:
        found["score"], found["impossible"] = seconds, float(np.mean(np.isneginf(scores)))
        found["perplexity"] = float(np.exp(-np.mean(scores)))
    if isinstance(system, MeMo):
        system.memo.close()
    return found


def _recall(system: System, tokens: list[int], places: list[int], length: int) -> float:
    """The share of places, of those whose cue occurs once, that go on as the text does."""
    times = Counter(zip(*(tokens[n:] for n in range(length))))
    once = [place for place in places if times[tuple(tokens[place - length : place])] == 1][:PLACES]
    return sum(_continues(system, tokens, place, length) for place in once) / len(once)


def _continues(system: System, tokens: list[int], place: int, length: int) -> bool:
    """Whether the next tokens are said after a cue, each after those that were said before it."""
    said = tokens[place - length : place]
    for at in range(place, place + IN_A_ROW):
        if system.best(said) != tokens[at]:
            return False
        said = [*said, tokens[at]]
    return True
