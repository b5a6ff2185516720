"""A memory that no single machine could hold: its tables are divided among actors.

Whoever reads fetches the counts that a context needs, all that an actor has of them in one request, and reads them as
if the memory were whole. What is read, and the digest, are those of a memory that nobody divided.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import numpy as np
import ray
from numpy.typing import NDArray

from .. import _memo, inputs
from .._memo import InvalidError, NotFoundError, StateError
from ..inputs import Document, Text, Tokenizer, number, whole
from ..lexicon import Lexicon, LexiconLike, lexicon_of
from ..mixins import Result
from ..results import Completion, MemorizeReport, RecallReport
from .holders import Holders, Kept

T = TypeVar("T")
Ids = NDArray[np.uint32]
Span = tuple[int, int]

# Positions that are read at once. Each may need thousands of counts.
BATCH = 32


@dataclass(frozen=True)
class ShardedReceipt(Result):
    """What a forget did."""

    documents: list[str]
    tokens: int
    """Tokens that left the memory."""
    digest_after: str
    """The digest of the memory afterwards: that of one that never saw them."""


@dataclass(frozen=True)
class ShardedStats(Result):
    """A sharded memory in figures."""

    shards: int
    documents: int
    tokens: int
    cells: int
    """Cells that are not zero, of all shards."""
    bytes: int
    """Bytes held, of all shards."""
    bytes_by_shard: list[int]


class ShardedMemo:
    """A memory whose tables are held by the actors of a Ray cluster.

    >>> with ShardedMemo.create(4) as memo:
    ...     memo.memorize("The owl reads at night.", id="note")
    ...     memo.complete("The owl reads")

    It lives as long as its actors. One that is lost is made again from the documents, whose tokens are in Ray's object
    store. One call works at a time.
    """

    def __init__(self, reader: _memo.ShardReader, holders: Holders) -> None:
        self._reader = reader
        self._holders = holders
        self._secret = secrets.token_bytes(32)
        self._changes = 0
        # What the reader has fetched is of no use after a write.
        self._fresh = False
        self._lock = threading.RLock()

    @staticmethod
    def create(
        num_shards: int,
        *,
        tokenizer: Tokenizer = "gpt2",
        words_from: Iterable[str] | None = None,
        words: bool = True,
        seed: int = 1,
        lexicon: LexiconLike | None = None,
        actor_options: Mapping[str, Any] | None = None,
        **gone: NoReturn,
    ) -> ShardedMemo:
        """Makes an empty memory of so many shards, each held by an actor.

        The other options are those of `Memo.create`. actor_options: what Ray is told of the actors, such as
        {"num_cpus": 4, "memory": 64 << 30}.
        """
        inputs.refuse_gone("create", gone)
        count = whole("num_shards", num_shards)
        given = lexicon_of(lexicon)
        reader = _memo.ShardReader.create(count, inputs.options(tokenizer, words_from, words, seed, given))
        serialized = reader.tokenizer_json
        of = (
            reader.settings,
            reader.tokenizer,
            None if serialized is None else serialized.encode(),
            None if given is None else given.core.to_bytes(),
        )
        return ShardedMemo(reader, Holders(of, count, actor_options or {}))

    def shutdown(self) -> None:
        """Ends the actors. What they held is gone."""
        with self._lock:
            self._holders.close()

    def __enter__(self) -> ShardedMemo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()

    def __repr__(self) -> str:
        count = len(self._holders.actors)
        return f"<memo_lm.ray.ShardedMemo: {f'{count} shards, {self.tokenizer}' if count else 'shut down'}>"

    # What it is

    @property
    def settings(self) -> dict[str, Any]:
        """Its vocabulary, contexts and seed."""
        return json.loads(self._reader.settings)

    @property
    def tokenizer(self) -> str:
        """The tokenizer's name."""
        return self._reader.tokenizer

    @property
    def lexicon(self) -> Lexicon | None:
        """Which words are alike, if it was told."""
        inner = self._reader.lexicon
        return None if inner is None else Lexicon._of(inner)

    @property
    def vocab_size(self) -> int:
        """How many token ids there are, the end of a document included."""
        return self._reader.vocab_size

    @property
    def eos(self) -> int:
        """The end of a document, which is no text's token."""
        return self._reader.eos

    @property
    def window(self) -> int:
        """How many of the last tokens of a context can matter."""
        return self._reader.window

    def encode(self, text: str) -> NDArray[np.uint32]:
        """The token ids of a text."""
        return self._reader.encode(inputs.string("text", text))

    def decode(self, tokens: inputs.Tokens) -> str:
        """The text of token ids."""
        return self._reader.decode(inputs.token_ids(tokens, self.vocab_size))

    def docs(self) -> list[str]:
        """The ids of all documents that are in it."""
        return sorted(self._holders.documents)

    def stats(self) -> ShardedStats:
        """The memory in figures."""
        with self._lock:
            held = self._holders.ask("held")
            kept = self._holders.documents.values()
            return ShardedStats(
                shards=len(held),
                documents=len(kept),
                tokens=sum(each.tokens for each in kept),
                cells=sum(cells for cells, _ in held),
                bytes=sum(size for _, size in held),
                bytes_by_shard=[size for _, size in held],
            )

    def digest(self) -> str:
        """The digest of the memory: equal to that of a `Memo` of the same documents and settings."""
        with self._lock:
            return _memo.combine(self._reader.settings, self._holders.ask("leaves"))

    # Changes

    def memorize(self, what: Text | Document | Iterable[Document], id: str | None = None) -> MemorizeReport:
        """Memorizes a document, or an iterable of them: all or none.

        Documents are given as to `Memo.memorize`. A known id with the same content changes nothing; with another, the
        old content leaves the memory.
        """
        start = time.perf_counter()
        with self._lock:
            known = self._holders.documents
            new = self._named(what, id)
            given = len(new)
            unchanged = [name for name, (digest, _) in new.items() if name in known and known[name].digest == digest]
            for name in unchanged:
                del new[name]
            updated = [name for name in new if name in known]
            come = {name: Kept(digest, len(ids), ray.put(ids)) for name, (digest, ids) in new.items()}
            self._change([known[name] for name in updated], list(come.values()), {**known, **come})
            tokens, seconds = sum(each.tokens for each in come.values()), time.perf_counter() - start
            return MemorizeReport(
                transaction=self._changes if come else None,
                documents=given,
                added=[name for name in new if name not in known],
                updated=updated,
                unchanged=unchanged,
                tokens=tokens,
                seconds=seconds,
                tokens_per_second=tokens / seconds,
            )

    def forget(self, ids: str | Iterable[str]) -> ShardedReceipt:
        """Forgets documents. The memory is then, bit for bit, one that never saw them."""
        with self._lock:
            known = self._holders.documents
            names = dict.fromkeys([ids] if isinstance(ids, str) else ids)
            for name in names:
                if name not in known:
                    raise NotFoundError(f"there is no document {name!r}")
            gone = [known[name] for name in names]
            self._change(gone, [], {name: kept for name, kept in known.items() if name not in names})
            return ShardedReceipt(list(names), sum(each.tokens for each in gone), self.digest())

    def _named(self, what: Any, id: str | None) -> dict[str, tuple[str, Ids]]:
        """Documents by id, each with a digest of its tokens. Without an id it gets one from that."""
        new: dict[str, tuple[str, Ids]] = {}
        for given, content, labels in inputs.documents(what, self.vocab_size, id, None):
            if labels:
                raise InvalidError("a ShardedMemo keeps no labels")
            ids = self._encoded(content)
            digest = hashlib.blake2b(ids.tobytes(), key=self._secret, digest_size=32).hexdigest()
            name = f"doc-{digest[:16]}" if given is None else given
            if new.setdefault(name, (digest, ids))[0] != digest:
                raise StateError(f"document {name!r} was given twice with different contents")
        return new

    def _change(self, gone: list[Kept], come: list[Kept], after: dict[str, Kept]) -> None:
        if gone or come:
            self._fresh = False
            self._holders.change(gone, come, after)
            self._changes += 1

    # Reading

    def complete(
        self,
        prompt: Text,
        max_tokens: int = 64,
        *,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        seed: int | None = None,
        stop: str | Iterable[str] = (),
        guess: bool = False,
        generalize: float = 1.0,
    ) -> str:
        """What follows a prompt, as `Memo.complete` says it."""
        text = isinstance(prompt, str)
        options = inputs.completion_options(
            max_tokens,
            temperature,
            top_k,
            top_p,
            seed,
            stop,
            text=text,
            frequency_penalty=frequency_penalty,
            presence_penalty=presence_penalty,
            guess=guess,
            generalize=generalize,
        )
        with self._lock:
            stream = self._reader.stream(self._ids(prompt), options)
            while not stream.ended:
                # A token is chosen once nothing is missing.
                self._read(lambda: self._reader.step(stream) or None)
        return Completion.read(stream.completion()).completion

    def logprobs(self, text: Text, *, generalize: float = 1.0) -> NDArray[np.float64]:
        """The log-probability of every token given those before it, and of the end after the last."""
        (scores,) = self.logprobs_all([text], generalize=generalize)
        return scores

    def logprobs_all(self, texts: Sequence[Text], *, generalize: float = 1.0) -> list[NDArray[np.float64]]:
        """The same of several texts, which takes fewer requests than one after the other."""
        share = number("generalize", generalize)
        with self._lock:
            ids = [self._ids(text) for text in texts]
            read = partial(self._reader.score, generalize=share)
            return self._along(read, ids, [(0, len(each) + 1) for each in ids])

    def next_token(self, context: Text, *, generalize: float = 1.0) -> NDArray[np.float64]:
        """The probability of every token to come next: not logarithms; they sum to 1."""
        share = number("generalize", generalize)
        with self._lock:
            ids = self._ids(context)
            return self._read(lambda: self._reader.next_token(ids, share))

    def recall(self, text: Text | Iterable[Text], *, generalize: float = 1.0) -> RecallReport:
        """How much of a text, or of several, the memory recalls, each token from those before it."""
        start = time.perf_counter()
        read = partial(self._reader.best, generalize=number("generalize", generalize))
        with self._lock:
            ids = [self._encoded(each) for each in inputs.texts(text, self.vocab_size)]
            # The first token has nothing before it to be recalled from.
            found = self._along(read, ids, [(min(1, len(each)), len(each)) for each in ids])
        evaluated = sum(len(each) for each in found)
        correct = sum(int((each[1:] == best).sum()) for each, best in zip(ids, found))
        return RecallReport(
            tokens=sum(len(each) for each in ids),
            evaluated=evaluated,
            correct=correct,
            recall=correct / evaluated if evaluated else 1.0,
            tokens_per_second=evaluated / (time.perf_counter() - start),
        )

    def _along(
        self, read: Callable[[list[Ids], list[Span]], list[NDArray[Any]] | None], ids: list[Ids], spans: list[Span]
    ) -> list[NDArray[Any]]:
        """Reads positions of texts, some at a time, and puts together what belongs to each."""
        found: list[list[NDArray[Any]]] = [[] for _ in ids]
        for batch in _slices(spans):
            texts, within = [ids[n] for n, _ in batch], [span for _, span in batch]
            for (n, _), part in zip(batch, self._read(partial(read, texts, within))):
                found[n].append(part)
        return [np.concatenate(parts) if parts else np.empty(0) for parts in found]

    def _read(self, read: Callable[[], T | None]) -> T:
        """Reads, and fetches what was missing, until nothing is."""
        if not self._fresh:
            counts = self._holders.ask("counts")
            self._reader.refresh(sum(each[0] for each in counts), sum(each[1] for each in counts))
            self._fresh = True
        while (done := read()) is None:
            given = {index: (each,) for index, each in enumerate(self._reader.want()) if each is not None}
            for (index, (each,)), response in zip(given.items(), self._holders.ask("find", given)):
                self._reader.take(index, each, response)
        return done

    def _ids(self, text: Text) -> Ids:
        return self._encoded(inputs.content(text, self.vocab_size))

    def _encoded(self, text: str | Ids) -> Ids:
        return self._reader.encode(text) if isinstance(text, str) else text


def _slices(spans: Sequence[Span]) -> Iterator[list[tuple[int, Span]]]:
    """Positions of several texts, so many at a time: numbers of texts, with spans in them."""
    batch: list[tuple[int, Span]] = []
    room = BATCH
    for n, (start, end) in enumerate(spans):
        while start < end:
            stop = min(end, start + room)
            batch.append((n, (start, stop)))
            room -= stop - start
            start = stop
            if room == 0:
                yield batch
                batch, room = [], BATCH
    if batch:
        yield batch
