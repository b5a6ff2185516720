"""The actors that hold a sharded memory, and how one that is lost is made again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import ray
from numpy.typing import NDArray

from .. import _memo
from .._memo import StateError
from . import tasks

# Tokens, and documents, that are written by one request.
TOKENS = 1 << 20
DOCUMENTS = 256
# How often a lost actor is made again before its loss is an error.
ATTEMPTS = 3


Memory = tuple[str, str, Optional[bytes], Optional[bytes]]
"""What all actors of a memory know: its settings, its tokenizer by name and as JSON, and its lexicon."""


class Holder:
    """An actor: it holds some partitions of the tables. It is given all text, and writes what is its own."""

    def __init__(self, of: Memory, index: int, count: int) -> None:
        assigned = ray.get_runtime_context().get_assigned_resources().get("CPU", 1)
        os.environ["RAYON_NUM_THREADS"] = str(max(1, int(assigned)))
        self._shard = _memo.Shard(*of, index, count)

    def write(self, weight: int, *documents: NDArray[np.uint32]) -> None:
        """Memorizes documents, or forgets them if weight is -1."""
        self._shard.write(documents, weight)

    def find(self, request: _memo.Request) -> _memo.Response:
        """What it has of what a reader wants."""
        return self._shard.find(request)

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Its share of the counts that every reader needs."""
        return self._shard.unigrams(), self._shard.derived()

    def leaves(self) -> bytes:
        """Its share of the digest."""
        return self._shard.leaves()

    def held(self) -> tuple[int, int]:
        """Cells and bytes that it holds."""
        return self._shard.cells, self._shard.nbytes

    def process(self) -> int:
        """Its process."""
        return os.getpid()


@dataclass(frozen=True)
class Kept:
    """A document that is in the memory."""

    digest: str
    """Of its tokens, under a secret of the memory."""
    tokens: int
    ref: Any
    """Its tokens, in Ray's object store: from these a lost actor is made again."""


class Holders:
    """All actors of a memory, and the documents that they have written."""

    def __init__(self, of: Memory, count: int, options: Mapping[str, Any]) -> None:
        self._of = of
        self._make = ray.remote(Holder).options(**{"num_cpus": 1, "scheduling_strategy": "SPREAD", **options})
        self.documents: dict[str, Kept] = {}
        self.actors: list[Any] = [self._make.remote(of, index, count) for index in range(count)]
        # Nobody knows what actors hold after a write that was interrupted.
        self._sure = True
        self.ask("held")

    def close(self) -> None:
        """Ends them. What they held is gone."""
        for actor in self.actors:
            ray.kill(actor)
        self.actors, self.documents = [], {}

    def change(self, gone: list[Kept], come: list[Kept], after: dict[str, Kept]) -> None:
        """Has all take documents out and write others. One that is lost meanwhile is made from what is to be."""
        self._settle()
        self._sure = False
        batches = [(-1, batch) for batch in _batches(gone)] + [(1, batch) for batch in _batches(come)]
        sent = [[_write(actor, weight, batch) for weight, batch in batches] for actor in self.actors]
        for index, refs in enumerate(sent):
            try:
                tasks.get(refs)
            except ray.exceptions.RayActorError:
                self._replace(index, after)
        self.documents, self._sure = after, True

    def ask(self, method: str, given: Mapping[int, tuple[Any, ...]] | None = None) -> list[Any]:
        """What actors answer: all, or those that are given something. One that is lost is made anew and asked again."""
        self._settle()
        asked = dict.fromkeys(range(len(self.actors)), ()) if given is None else given
        refs = {index: getattr(self.actors[index], method).remote(*args) for index, args in asked.items()}
        answers = []
        for index, args in asked.items():
            try:
                (answer,) = tasks.get([refs[index]])
            except ray.exceptions.RayActorError:
                self._replace(index, self.documents)
                (answer,) = tasks.get([getattr(self.actors[index], method).remote(*args)])
            answers.append(answer)
        return answers

    def _settle(self) -> None:
        """Refuses if there are none any more; makes all anew if nobody knows what they hold."""
        if not self.actors:
            raise StateError("the memory is shut down")
        if not self._sure:
            for index in range(len(self.actors)):
                self._replace(index, self.documents)
            self._sure = True

    def _replace(self, index: int, documents: Mapping[str, Kept]) -> None:
        """Makes an actor anew, and has it write all documents."""
        for attempt in range(ATTEMPTS):
            # It may be only out of reach.
            ray.kill(self.actors[index])
            actor = self._make.remote(self._of, index, len(self.actors))
            self.actors[index] = actor
            try:
                tasks.get([_write(actor, 1, batch) for batch in _batches(documents.values())])
                return
            except ray.exceptions.RayActorError:
                if attempt == ATTEMPTS - 1:
                    raise


def _write(actor: Any, weight: int, batch: list[Kept]) -> Any:
    return actor.write.remote(weight, *(kept.ref for kept in batch))


def _batches(documents: Iterable[Kept]) -> Iterator[list[Kept]]:
    """As many documents as one request should have."""
    batch: list[Kept] = []
    tokens = 0
    for each in documents:
        batch.append(each)
        tokens += each.tokens
        if tokens >= TOKENS or len(batch) >= DOCUMENTS:
            yield batch
            batch, tokens = [], 0
    if batch:
        yield batch
