"""A model directory, as Python sees it."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import warnings
from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import timedelta
from enum import Enum
from types import TracebackType
from typing import Any, Literal, NoReturn, overload

import numpy as np
from numpy.typing import NDArray

from . import _memo, corpus, inputs
from ._memo import InvalidError, NotAModelError, NotFoundError
from .corpus import CorpusOptions
from .inputs import Document as NewDocument
from .inputs import Labels, Path, Text, Tokenizer, Tokens, number, string, whole
from .knowledge import Knowledge
from .lexicon import Lexicon, LexiconLike, lexicon_of
from .matches import Matches
from .progress import Progress, watching
from .results import (
    Breakdown,
    ChangeReport,
    ClassMembers,
    ClosestPassages,
    Completion,
    Document,
    DocumentText,
    EditReport,
    Explanation,
    ForgetPreview,
    FreezeReport,
    MemorizeReport,
    MemoryFill,
    MergeReport,
    Proof,
    RebuildReport,
    RecallReport,
    Receipt,
    ScoreReport,
    Stats,
    TextMatches,
    Transaction,
    VerifyReport,
    WordClass,
)


class Keep(Enum):
    """What is not given stays as it is."""

    KEEP = "keep"


class Memo(Knowledge):
    """A language model that is a memory: it memorizes documents, completes, explains, and forgets.

    >>> with Memo.create("notes.memo") as memo:
    ...     memo.memorize("The owl reads at night.", id="note")
    ...     memo.complete("The owl reads")

    A text to memorize, complete, score, edit or explain may be given as token ids: a list, or an array of any integer
    type. Iterating gives the ids of live documents. Methods may be called from any thread, and others run meanwhile.
    Ctrl-C ends a long call by KeyboardInterrupt; nothing has changed then.

    A model belongs to the process that opened it. A fork can read it, as it was when it was first asked there. Pickled,
    it is its path: where it is unpickled, it is opened to be read.
    """

    def __init__(self, inner: _memo.Memo) -> None:
        if not isinstance(inner, _memo.Memo):
            raise TypeError("Memo.open(path) opens a model, and Memo.create(path) makes one")
        self._memo = inner

    @staticmethod
    def create(
        path: Path,
        *,
        tokenizer: Tokenizer = "gpt2",
        words_from: Iterable[str] | None = None,
        words: bool = True,
        seed: int = 1,
        lexicon: LexiconLike | None = None,
        **gone: NoReturn,
    ) -> Memo:
        """Makes a model where nothing is yet. It has no size: it grows with what it memorizes.

        tokenizer: gpt2, cl100k, o200k, bytes, the path of a tokenizer.json, or an object of `tokenizers` or
        `transformers`, which is kept in the model. words_from, some texts, makes one of their words instead.
        words: whether it also sees contexts of words, so that case and layout of a prompt do not matter.
        lexicon: which words are alike, so that what was said of one is expected of the others: a `Lexicon`, the path of
        one in any format, or a dict of words and their classes.
        """
        inputs.refuse_gone("create", gone)
        options = inputs.options(tokenizer, words_from, words, seed, lexicon_of(lexicon))
        return Memo(_memo.Memo.create(os.fspath(path), options))

    @staticmethod
    def open(path: Path, *, read_only: bool = False, rebuild: bool = False) -> Memo:
        """Opens a model. One process writes at a time; read_only reads beside it. A frozen model can only be read.

        A model that this process has open for writing already is shared: it is closed when all who opened it have.
        rebuild makes the memory anew from its documents, where its file is damaged.
        """
        return Memo(_memo.Memo.open(os.fspath(path), read_only=read_only, rebuild=rebuild))

    @staticmethod
    def open_or_create(path: Path, **options: Any) -> Memo:
        """Opens a model for writing, or makes it if nothing is there; options are those of `create`."""
        try:
            return Memo.open(path)
        except NotAModelError:
            return Memo.create(path, **options)

    def close(self) -> None:
        """Lets others write the model. What was done is on disk already."""
        self._memo.close()

    def __enter__(self) -> Memo:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<memo_lm.Memo, closed>"
        mode = ", read-only" if self.read_only else ""
        return f"<memo_lm.Memo {str(self.path)!r}: {self.tokenizer}{mode}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _open_to_read, (os.path.abspath(self.path),)

    def __iter__(self) -> Iterator[str]:
        return iter([document.id for document in self.docs() if document.state == "live"])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and self.document(id).state == "live"
        except (NotFoundError, InvalidError):
            return False

    def __bool__(self) -> bool:
        # An empty model is one, too.
        return True

    # What it is

    @property
    def core(self) -> _memo.Memo:
        """The compiled module's own, for what has no method here: many requests with options each, tokens as bytes."""
        return self._memo

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._memo.closed

    @property
    def path(self) -> pathlib.Path:
        """Its directory."""
        return pathlib.Path(self._memo.path)

    @property
    def read_only(self) -> bool:
        """Whether it can only be read."""
        return self._memo.read_only

    @property
    def tokenizer(self) -> str:
        """The tokenizer's name."""
        return self._memo.tokenizer

    @property
    def tokenizer_json(self) -> str | None:
        """The tokenizer as it is kept in the model, if it did not come with the program."""
        return self._memo.tokenizer_json

    @property
    def settings(self) -> dict[str, Any]:
        """Vocabulary, contexts and seed."""
        settings: dict[str, Any] = json.loads(self._memo.settings)
        return settings

    @property
    def lexicon(self) -> Lexicon | None:
        """Which words are alike, if it was told."""
        inner = self._memo.lexicon
        return None if inner is None else Lexicon._of(inner)

    @property
    def vocab_size(self) -> int:
        """How many token ids there are, the end of a document included."""
        return self._memo.vocab_size

    @property
    def eos(self) -> int:
        """The end of a document, which is no text's token."""
        return self._memo.eos

    @property
    def eos_text(self) -> str:
        """How the end of a document is written, where it has to be."""
        return self._memo.eos_text

    @property
    def window(self) -> int:
        """How many of the last tokens of a context can matter."""
        return self._memo.window

    @property
    def transaction(self) -> int:
        """The number of the last transaction."""
        return self._memo.transaction

    # Tokens and text

    def encode(self, text: str) -> NDArray[np.uint32]:
        """The token ids of a text."""
        return self._memo.encode(string("text", text))

    def encode_all(self, texts: Iterable[str]) -> list[NDArray[np.uint32]]:
        """The token ids of many texts, by all threads at once."""
        if isinstance(texts, str):
            raise InvalidError("texts must be several; encode takes one")
        return self._memo.encode_many([string("text", text, f"text {n}: ") for n, text in enumerate(texts)])

    def decode(self, tokens: Tokens) -> str:
        """The text of token ids."""
        return self._memo.decode(inputs.token_ids(tokens, self.vocab_size))

    def _ids(self, text: Text) -> NDArray[np.uint32]:
        return self._encoded(inputs.content(text, self.vocab_size))

    def _several(self, texts: Iterable[Text]) -> list[str | NDArray[np.uint32]]:
        if isinstance(texts, str) or inputs.is_tokens(texts):
            raise InvalidError("texts must be several, in a list for example; this is one")
        return inputs.texts(texts, self.vocab_size)

    def _ids_all(self, texts: Iterable[Text]) -> list[NDArray[np.uint32]]:
        return [self._encoded(each) for each in self._several(texts)]

    def _encoded(self, text: str | NDArray[np.uint32]) -> NDArray[np.uint32]:
        return self._memo.encode(text) if isinstance(text, str) else text

    # Changes

    def memorize(
        self,
        what: Text | NewDocument | Iterable[NewDocument],
        id: str | None = None,
        *,
        labels: Labels | None = None,
        reason: str | None = None,
        progress: Progress = None,
    ) -> MemorizeReport:
        """Memorizes a document, or an iterable of them, in one transaction: all or none.

        A document is a text or token ids, alone or as (id, text) or {"text": …, "id": …, "labels": …}. Without an id it
        gets one from its content. A known id with the same content changes nothing; with another it makes a new
        version. labels are given to all.
        """
        documents = inputs.documents(what, self.vocab_size, id, labels)
        with watching(progress) as callback:
            return MemorizeReport.read(self._memo.memorize(documents, _reason(reason), callback))

    def memorize_files(
        self,
        *paths: Path,
        id: str | None = None,
        labels: Labels | None = None,
        reason: str | None = None,
        jsonl_field: str | None = None,
        id_field: str | None = None,
        label_fields: str | Iterable[str] = (),
        prefix: str = "",
        include: str | Iterable[str] = (),
        exclude: str | Iterable[str] = (),
        ignore: bool = True,
        strict: bool = False,
        max_bytes: int | str | None = None,
        replace: bool = False,
        progress: Progress = None,
    ) -> MemorizeReport:
        """Memorizes files, folders, globs and .jsonl as the command line does, and gives documents the same ids.

        jsonl_field reads every file as JSON lines, and takes the text from this field; id_field and label_fields name
        the fields of ids and labels. prefix is put before all ids. Of folders and globs, only files that match include,
        and none that match exclude, are read; ignore=False reads what .gitignore and .ignore name, too. A file of a
        folder that cannot be read is skipped with a warning, or with strict an error. A document keeps its file as the
        label `file`; one of the same id and other content from another file is refused, unless replace.
        """
        options = CorpusOptions(
            self._memo.raw,
            jsonl_field,
            id_field,
            corpus.names(label_fields),
            prefix,
            corpus.names(include),
            corpus.names(exclude),
            ignore,
            strict,
            inputs.size("max_bytes", max_bytes),
        )
        if _memo.FILE_LABEL in {*(labels or ()), *options.label_fields}:
            raise InvalidError(f"the label {_memo.FILE_LABEL!r} says where a document was read; choose another name")
        reading = _memo.Corpus([os.fspath(path) for path in paths], vars(options))
        found = [{"text": text, "id": name, "labels": its} for name, text, its, _ in corpus.documents(reading)]
        for where, why, failed in reading.skipped:
            if failed:
                warnings.warn(f"skipped {where}: {why}", stacklevel=2)
        if not found:
            raise InvalidError(f"there is nothing to memorize in {', '.join(map(str, paths)) or 'no file at all'}")
        documents = inputs.documents(found, self.vocab_size, id, labels)
        with watching(progress) as told:
            return MemorizeReport.read(self._memo.memorize(documents, _reason(reason), told, replace))

    @overload
    def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        text: str | None = None,
        labels: Labels | None = None,
        glob: str | None = None,
        older_than: str | timedelta | None = None,
        reason: str | None = None,
        dry_run: Literal[False] = False,
    ) -> Receipt: ...

    @overload
    def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        text: str | None = None,
        labels: Labels | None = None,
        glob: str | None = None,
        older_than: str | timedelta | None = None,
        reason: str | None = None,
        dry_run: Literal[True],
    ) -> ForgetPreview: ...

    def forget(
        self,
        ids: str | Iterable[str] | None = None,
        *,
        text: str | None = None,
        labels: Labels | None = None,
        glob: str | None = None,
        older_than: str | timedelta | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> Receipt | ForgetPreview:
        """Forgets documents with all their versions, or a text wherever it stands. Nothing undoes that.

        The memory is then, bit for bit, one that never saw it, and no byte of it is left in the directory.

        labels, glob, older_than: forgets the documents that fit all of these: labels that they have; a glob of their
        ids, as in "mail/**/*.txt"; how long ago they were memorized at least, as a timedelta or as in "90d".
        dry_run: says what would go, and changes nothing.
        """
        what = inputs.forget_options(ids, text, labels, glob, older_than)
        if dry_run:
            return ForgetPreview.read(self._memo.preview_forget(what))
        return Receipt.read(self._memo.forget(what, _reason(reason)))

    def retire(self, id: str, *, reason: str | None = None) -> ChangeReport:
        """Takes a document out of the memory and keeps it in the ledger."""
        return ChangeReport.read(self._memo.retire(string("id", id), _reason(reason)))

    def restore(self, id: str, *, reason: str | None = None) -> ChangeReport:
        """Brings a retired document back."""
        return ChangeReport.read(self._memo.restore(string("id", id), _reason(reason)))

    def edit(self, prompt: Text, target: Text, *, exact: bool = False, reason: str | None = None) -> EditReport:
        """Makes target what follows prompt, with the smallest weight up to 8 with which it wins for good.

        Where a document has the prompt word for word, its text goes on after the target; where prompt and target are
        words that meet, a space is put between them. exact, and token ids, are taken as they are.
        """
        if isinstance(prompt, str) and isinstance(target, str):
            given = string("prompt", prompt), string("target", target)
            return EditReport.read(self._memo.edit_text(*given, bool(exact), _reason(reason)))
        return EditReport.read(self._memo.edit(self._ids(prompt), self._ids(target), _reason(reason)))

    def replace(self, old: str, new: str, id: str | None = None, *, reason: str | None = None) -> ChangeReport:
        """Replaces a text in one document, or in all. Each gets a new version."""
        return ChangeReport.read(
            self._memo.replace(string("old", old), string("new", new), inputs.optional("id", id), _reason(reason))
        )

    def rollback(self, transaction: int, *, reason: str | None = None) -> ChangeReport:
        """Undoes a transaction, if no later one depends on it."""
        return ChangeReport.read(self._memo.rollback(whole("transaction", transaction), _reason(reason)))

    def merge(
        self,
        other: Memo | Path,
        conflict: Literal["refuse", "ours", "theirs", "rename"] = "refuse",
        *,
        reason: str | None = None,
        progress: Progress = None,
    ) -> MergeReport:
        """Adds the live documents of another model of equal settings. conflict: what to do where both have an id with
        different contents."""
        if not isinstance(other, Memo):
            with Memo.open(other) as opened:
                return self.merge(opened, conflict, reason=reason, progress=progress)
        with watching(progress) as callback:
            return MergeReport.read(self._memo.merge(other._memo, conflict, _reason(reason), callback))

    def rebuild(
        self,
        *,
        lexicon: LexiconLike | Literal["none"] | Keep | None = Keep.KEEP,
        progress: Progress = None,
        **gone: NoReturn,
    ) -> RebuildReport:
        """Makes the memory anew from its documents, with the lexicon that it has unless another is given.

        lexicon: as in `create`, where None is no lexicon; "none" is the same, as on the command line.
        """
        inputs.refuse_gone("rebuild", gone)
        if isinstance(lexicon, Keep):
            with watching(progress) as callback:
                return RebuildReport.read(self._memo.rebuild(callback))
        given = lexicon_of(None if lexicon == "none" else lexicon)
        core = None if given is None else given.core
        with watching(progress) as callback:
            return RebuildReport.read(self._memo.rebuild_with_lexicon(core, callback))

    def checkpoint(self) -> None:
        """Writes the memory to disk as it is, so that opening need not read the ledger."""
        self._memo.checkpoint()

    # Copies

    def freeze(self, path: Path, **gone: NoReturn) -> FreezeReport:
        """Writes a read-only copy of the memory, without ledger and texts; says what it recalls."""
        inputs.refuse_gone("freeze", gone)
        return FreezeReport.read(self._memo.freeze(os.fspath(path)))

    def backup(self, path: Path) -> None:
        """Writes a copy that is a model itself."""
        self._memo.backup(os.fspath(path))

    # What is in it

    def docs(self) -> list[Document]:
        """All documents that were ever here, by id."""
        return Document.read_all(self._memo.docs())

    def document(self, id: str) -> Document:
        """A document and all its versions."""
        return Document.read(self._memo.document(string("id", id)))

    def show(self, id: str, version: int | None = None) -> DocumentText:
        """A document with its text as it is now, or that of one of its versions; None if that was forgotten."""
        return DocumentText.read(self._memo.show(string("id", id), whole("version", version, 32)))

    def text(self, id: str, version: int | None = None) -> str:
        """The text of a document as it is now, or of one of its versions."""
        return self._memo.text(string("id", id), whole("version", version, 32))

    def find(self, text: str, *, ignore_case: bool = False, context: int = 0) -> TextMatches:
        """The documents that contain a text, and where.

        ignore_case: whether `Owl` finds `owl`. context: lines to show before and after that of a match.
        """
        return TextMatches.read(self._memo.find(string("text", text), bool(ignore_case), whole("context", context, 32)))

    def closest(self, text: str, limit: int = 5) -> ClosestPassages:
        """The passages of live documents that share the rarest words with a text, the closest first.

        Case, layout and apostrophes make no difference.
        """
        return ClosestPassages.read(self._memo.closest(string("text", text), whole("limit", limit)))

    def log(self) -> list[Transaction]:
        """All transactions, in order."""
        return Transaction.read_all(self._memo.log())

    def history(self, id: str) -> list[Transaction]:
        """The transactions that changed a document, in order."""
        return Transaction.read_all(self._memo.history(string("id", id)))

    def stats(self) -> Stats:
        """The model in figures."""
        return Stats.read(self._memo.stats())

    def fill(self) -> MemoryFill:
        """How full the memory is, and how noisy, slot by slot."""
        return MemoryFill.read(self._memo.fill())

    def word_classes(self, word: str) -> list[WordClass]:
        """The classes that the lexicon has for a word, level by level; none if there is no lexicon."""
        return WordClass.read_all(self._memo.word_classes(string("word", word)))

    def class_members(self, name: str, limit: int | None = None) -> ClassMembers:
        """The words of a class of the lexicon, or the first of them, on the first level that has it."""
        return ClassMembers.read(self._memo.class_members(string("class", name), whole("limit", limit)))

    def digest(self) -> str:
        """The digest of the memory: equal if and only if every count is."""
        return self._memo.digest()

    def verify(self) -> VerifyReport:
        """Checks everything, and says what is damaged."""
        return VerifyReport.read(self._memo.verify())

    def prove(self, without: str | Iterable[str] = (), *, progress: Progress = None) -> Proof:
        """Proves that forgetting leaves nothing, and changes nothing.

        The documents are forgotten in a copy of the memory, another memory is made from nothing of all others, and the
        two are compared by their digests. Without documents, or with such as were forgotten before, the memory itself
        is compared.
        """
        with watching(progress) as callback:
            return Proof.read(self._memo.prove(inputs.ids(without), callback))

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
        find: bool | None = None,
        generalize: float = 1.0,
    ) -> str:
        """What follows a prompt, up to the end of a document or before a stop, whichever comes first.

        At a temperature of 0 every token is the most probable one; above, tokens are drawn, the same for the same seed,
        and others each time without one. `completion` names the seed.
        frequency_penalty, presence_penalty: what the log-probability of a token falls by each time that it was
        generated already, and once it was; from -2, which makes it rise, to 2.
        guess: whether to go on where the memory does not know how; otherwise the text ends there.
        find: whether the prompt is looked for in the memory, put right if it is nearly there, and continued as a quote.
        Text is; tokens are continued as they are, unless this is true.
        generalize: how much the lexicon counts, from 0, not at all, to 1; without one it makes no difference.
        """
        text = isinstance(prompt, str)
        options = inputs.completion_options(
            max_tokens,
            temperature,
            top_k,
            top_p,
            seed,
            stop,
            frequency_penalty=frequency_penalty,
            presence_penalty=presence_penalty,
            text=text,
            guess=guess,
            find=find,
            generalize=generalize,
        )
        ((_, made),) = self._memo.complete_many([self._ids(prompt)], [options])
        return made

    def complete_all(
        self,
        prompts: Iterable[Text],
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
        find: bool | None = None,
        generalize: float = 1.0,
        progress: Progress = None,
    ) -> list[str]:
        """What follows each of many prompts, as `complete` says it, by all threads at once."""
        given = self._several(prompts)
        stops = [stop] if isinstance(stop, str) else list(stop)
        options = [
            inputs.completion_options(
                max_tokens,
                temperature,
                top_k,
                top_p,
                seed,
                stops,
                frequency_penalty=frequency_penalty,
                presence_penalty=presence_penalty,
                text=isinstance(each, str),
                guess=guess,
                find=find,
                generalize=generalize,
            )
            for each in given
        ]
        with watching(progress) as callback:
            made = self._memo.complete_many([self._encoded(each) for each in given], options, callback)
        return [text for _, text in made]

    def completion(
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
        probabilities: bool = False,
        contexts: bool = False,
        guess: bool = False,
        find: bool | None = None,
        generalize: float = 1.0,
        sources: bool = False,
    ) -> Completion:
        """As `complete`, with its tokens and why it ended.

        probabilities, contexts: whether each token has its probability, and the longest context that knew it; both take
        time.
        sources: whether it says where it comes from, stretch by stretch; a frozen model has no texts and does not.
        If the memory does not know a text, `closest` has the passages that share enough of its words.
        """
        options = inputs.completion_options(
            max_tokens,
            temperature,
            top_k,
            top_p,
            seed,
            stop,
            frequency_penalty=frequency_penalty,
            presence_penalty=presence_penalty,
            probabilities=probabilities,
            contexts=contexts,
            text=isinstance(prompt, str),
            guess=guess,
            find=find,
            generalize=generalize,
        )
        return Completion.read(self._memo.complete(self._ids(prompt), options, bool(sources)))

    @overload
    def generate(
        self,
        prompt: Text,
        max_tokens: int = 64,
        *,
        stream: Literal[False] = False,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        seed: int | None = None,
        stop: str | Iterable[str] = (),
        guess: bool = False,
        generalize: float = 1.0,
    ) -> str: ...

    @overload
    def generate(
        self,
        prompt: Text,
        max_tokens: int = 64,
        *,
        stream: Literal[True],
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        seed: int | None = None,
        stop: str | Iterable[str] = (),
        guess: bool = False,
        generalize: float = 1.0,
    ) -> Iterator[str]: ...

    def generate(
        self,
        prompt: Text,
        max_tokens: int = 64,
        *,
        stream: bool = False,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        frequency_penalty: float = 0.0,
        presence_penalty: float = 0.0,
        seed: int | None = None,
        stop: str | Iterable[str] = (),
        guess: bool = False,
        generalize: float = 1.0,
    ) -> str | Iterator[str]:
        """As `complete`; with stream=True, piece by piece as it comes."""
        if not stream:
            return self.complete(
                prompt,
                max_tokens,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                frequency_penalty=frequency_penalty,
                presence_penalty=presence_penalty,
                seed=seed,
                stop=stop,
                guess=guess,
                generalize=generalize,
            )
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
        # What is wrong with them is said here, and not when the first piece is asked for.
        made = self._memo.stream(self._ids(prompt), options)
        return iter(lambda: self._memo.next_text(made), None)

    def generate_async(
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
    ) -> AsyncIterator[str]:
        """As `generate` with stream=True, for `async for`: pieces are made on another thread; the loop goes on."""
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
        return self._pieces(self._memo.stream(self._ids(prompt), options))

    async def _pieces(self, made: _memo.CompletionStream) -> AsyncIterator[str]:
        while (piece := await asyncio.to_thread(self._memo.next_text, made)) is not None:
            yield piece

    def logprobs(self, text: Text, *, generalize: float = 1.0, progress: Progress = None) -> NDArray[np.float64]:
        """The log-probability of every token given those before it, and of the end after the last.

        generalize: how much the lexicon counts, from 0 to 1, as in `complete`.
        """
        ids = self._ids(text)
        with watching(progress) as callback:
            return self._memo.logprobs(ids, callback, number("generalize", generalize))

    def logprobs_all(
        self, texts: Iterable[Text], *, generalize: float = 1.0, progress: Progress = None
    ) -> list[NDArray[np.float64]]:
        """What `logprobs` gives for each of many texts, by all threads at once."""
        end = np.array([self.eos], np.uint32)
        ended = [(np.concatenate([ids, end]), 0) for ids in self._ids_all(texts)]
        with watching(progress) as callback:
            scored = self._memo.score_many(ended, callback, number("generalize", generalize))
        return [logs for logs, _ in scored]

    def next_token(self, context: Text, *, generalize: float = 1.0) -> NDArray[np.float64]:
        """The probability of every token to come next: not logarithms; they sum to 1."""
        return self._memo.next_token(self._ids(context), number("generalize", generalize))

    def log_distributions(
        self, text: Text, start: int = 0, end: int | None = None, *, generalize: float = 1.0
    ) -> NDArray[np.float32]:
        """For each position from start to end, the log-probability of every token given those before it: one row each.

        The last position there is, after the last token, is that of what comes next.
        """
        ids = self._ids(text)
        positions = len(ids) + 1
        end = positions if end is None else end
        if not 0 <= start <= end <= positions:
            raise InvalidError(
                f"positions {start} to {end} were asked of a text that has {positions}, its end included"
            )
        return self._memo.log_distributions(ids, start, end, number("generalize", generalize))

    def matches(self, text: Text, *, generalize: float = 1.0) -> Matches:
        """How well the memory knows each position of a text: how far back it saw it, how often, how sure it is.

        One more position than there are tokens: the last is that of what comes next.
        """
        return Matches(*self._memo.matches(self._ids(text), number("generalize", generalize)))

    def score(self, text: Text | Iterable[Text], *, generalize: float = 1.0, progress: Progress = None) -> ScoreReport:
        """How probable a text is, or several are, their ends included."""
        ids = [self._encoded(each) for each in inputs.texts(text, self.vocab_size)]
        with watching(progress) as callback:
            return ScoreReport.read(self._memo.score(ids, callback, number("generalize", generalize)))

    def recall(
        self, text: Text | Iterable[Text], *, generalize: float = 1.0, progress: Progress = None
    ) -> RecallReport:
        """How much of a text, or of several, the model recalls, each token from those before it."""
        ids = [self._encoded(each) for each in inputs.texts(text, self.vocab_size)]
        with watching(progress) as callback:
            return RecallReport.read(self._memo.recall(ids, callback, number("generalize", generalize)))

    def explain(self, prompt: Text, candidates: int = 3, *, generalize: float = 1.0) -> Explanation:
        """Why the model says what it says after a prompt: what each slot remembers, and from which documents.

        Printed, it is a list; in a notebook, a table. What the lexicon had to do with it is "matched as …".
        """
        given = whole("candidates", candidates), number("generalize", generalize)
        return Explanation.read(self._memo.explain(self._ids(prompt), *given))

    def breakdown(self, prompt: Text, candidates: int = 3, *, generalize: float = 1.0) -> Breakdown:
        """The probabilities of the likeliest continuations as sums: which contexts occurred, and what each adds."""
        given = whole("candidates", candidates), number("generalize", generalize)
        return Breakdown.read(self._memo.breakdown(self._ids(prompt), *given))


def _open_to_read(path: str) -> Memo:
    """A model that was pickled."""
    return Memo.open(path, read_only=True)


def _reason(given: str | None) -> str | None:
    return inputs.optional("reason", given)
