"""The compiled part. Thin: what users call is in `memo_lm` itself. What has many fields comes back as JSON."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__version__: str

_Matches = tuple[
    NDArray[np.uint32],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.uint32],
    NDArray[np.float64],
]
"""matched, times, kinds, quote, familiarity, best, probability."""

Progress = Callable[[str, int, int], object]
"""Called with what is done, how much of it, and how much there is to do."""

Given = tuple[str | None, str | NDArray[np.uint32], dict[str, str] | None]
"""A document: its id, its content and its labels."""

Pattern = tuple[str | None, str | None, str | None]
"""Subject, predicate and object, of which None is anything."""

class MemoError(Exception):
    """Something that a model refused. Nothing has changed, unless it says so."""

class NotAModelError(MemoError, FileNotFoundError): ...
class ExistsError(MemoError, FileExistsError): ...
class BusyError(MemoError): ...
class DamagedError(MemoError): ...
class NotFoundError(MemoError, LookupError): ...
class StateError(MemoError): ...
class RollbackError(MemoError): ...
class MergeError(MemoError): ...
class EditError(MemoError): ...
class InvalidError(MemoError, ValueError): ...
class ReadOnlyError(MemoError): ...
class StorageError(MemoError, OSError): ...

class ModelOptions(TypedDict):
    """What a new model should be."""

    tokenizer: str
    tokenizer_json: bytes | None
    words_from: list[str] | None
    words: bool
    seed: int
    lexicon: Lexicon | None

class ForgetOptions(TypedDict):
    """What to forget: ids, a text, facts, or what documents have in common."""

    ids: list[str] | None
    text: str | None
    facts: Pattern | None
    labels: dict[str, str]
    glob: str | None
    older_than: str | None

class CompletionOptions(TypedDict):
    """How a prompt is continued."""

    max_tokens: int
    stop: list[str]
    temperature: float
    top_k: int
    top_p: float
    frequency_penalty: float
    presence_penalty: float
    seed: int | None
    probabilities: bool
    contexts: bool
    heal: bool
    find: bool
    guess: bool
    generalize: float

class LexiconOptions(TypedDict):
    """How a lexicon is read."""

    format: str | None
    language: str | None
    depths: list[int]
    levels: int
    on_conflict: str | None
    all_senses: bool
    inflect: bool
    max_bytes: int | None

@final
class Lexicon:
    """Which words are alike."""

    def __new__(cls, entries: Sequence[tuple[str, Sequence[str | None]]]) -> Lexicon:
        """Of words and their classes on each level, the finest first."""

    @staticmethod
    def read(path: str, options: LexiconOptions) -> tuple[Lexicon, list[tuple[int, str, list[str]]]]:
        """From a file of any format; and what of it is not in the lexicon: how many, why, and some of them."""

    @staticmethod
    def from_bytes(data: bytes) -> Lexicon:
        """From the bytes that `to_bytes` gave."""

    @staticmethod
    def induce(
        texts: Sequence[str], classes: int, min_count: int, rounds: int, progress: Progress | None = None
    ) -> tuple[Lexicon, list[float]]:
        """From texts; and the perplexity of these before the first round and after each."""

    def to_bytes(self) -> bytes: ...
    def save(self, path: str) -> None:
        """Writes the canonical form: the whole of it, or nothing."""

    @property
    def digest(self) -> str: ...
    @property
    def levels(self) -> int: ...
    @property
    def sources(self) -> int:
        """How many texts it was induced from."""

    def is_from(self, text: str) -> bool:
        """Whether it was induced from a text, among others."""

    def __len__(self) -> int: ...
    def __contains__(self, key: str, /) -> bool: ...
    def classes(self, word: str) -> list[str | None]:
        """The classes of a word, level by level; nothing if it has none at all."""

    def members(self, name: str, level: int | None = None) -> list[str]:
        """The words of a class, on a level or on the first that has one of that name."""

    def names(self, level: int) -> list[str]:
        """The names of the classes of a level."""

    def words(self) -> list[str]:
        """All words in normal form, in order."""

@final
class Memo:
    """A model directory, open. Every method may be called from any thread; the GIL is released while it works."""

    @staticmethod
    def create(path: str, options: ModelOptions) -> Memo:
        """Makes a model where nothing is yet."""

    @staticmethod
    def open(path: str, *, read_only: bool = False, rebuild: bool = False) -> Memo:
        """Opens a model; for writing, one for all handles of a process. A frozen one can only be read.
        With `rebuild`, its memory is made anew from the ledger."""

    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def path(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def tokenizer(self) -> str: ...
    @property
    def tokenizer_json(self) -> str | None: ...
    @property
    def raw(self) -> bool:
        """Whether the tokenizer takes the bytes of a file as they are, rather than text."""

    @property
    def settings(self) -> str: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def eos(self) -> int: ...
    @property
    def eos_text(self) -> str: ...
    @property
    def transaction(self) -> int: ...
    @property
    def window(self) -> int:
        """How many of the last tokens of a context can matter."""

    # Tokens and text
    def encode(self, text: str) -> NDArray[np.uint32]: ...
    def encode_many(self, texts: Sequence[str]) -> list[NDArray[np.uint32]]: ...
    def decode(self, tokens: NDArray[np.uint32]) -> str: ...
    def token_bytes(self, token: int) -> bytes | None: ...

    # Changes
    def memorize(
        self,
        documents: Sequence[Given],
        reason: str | None = None,
        progress: Progress | None = None,
        replace: bool = True,
    ) -> str:
        """Unless `replace`, documents of other files are not replaced."""

    def write_portion(self, documents: Sequence[Given], index: int, count: int, path: Path) -> None:
        """Writes a portion of a memory of documents to a file; the model does not change."""

    def memorize_portions(self, documents: Sequence[Given], portions: Sequence[Path]) -> str:
        """Memorizes documents whose memory is in portions; documents of other files are not replaced."""

    def forget(self, what: ForgetOptions, reason: str | None) -> str: ...
    def preview_forget(self, what: ForgetOptions) -> str: ...
    def state(self, facts: Sequence[tuple[str, str, str]], reason: str | None) -> str: ...
    def add_graph(
        self,
        data: bytes,
        name: str,
        format: str | None,
        language: str | None,
        id: str | None,
        reason: str | None,
        progress: Progress | None = None,
    ) -> str:
        """The graph of a file's bytes. Without a format, the file's name says it."""

    def add_rules(self, id: str, text: str, reason: str | None, progress: Progress | None = None) -> str: ...
    def retire(self, id: str, reason: str | None = None) -> str: ...
    def restore(self, id: str, reason: str | None = None) -> str: ...
    def edit(self, prompt: NDArray[np.uint32], target: NDArray[np.uint32], reason: str | None = None) -> str: ...
    def edit_text(self, prompt: str, target: str, exact: bool, reason: str | None = None) -> str:
        """The same with texts: where a document has the prompt, its text goes on after the target."""

    def replace(self, old: str, new: str, id: str | None = None, reason: str | None = None) -> str: ...
    def rollback(self, transaction: int, reason: str | None = None) -> str: ...
    def merge(
        self,
        other: Memo,
        conflict: Literal["refuse", "ours", "theirs", "rename"] = "refuse",
        reason: str | None = None,
        progress: Progress | None = None,
    ) -> str: ...
    def rebuild(self, progress: Progress | None = None) -> str: ...
    def rebuild_with_lexicon(self, lexicon: Lexicon | None, progress: Progress | None = None) -> str:
        """The same with another lexicon, or with none."""

    def checkpoint(self) -> None: ...

    # Copies
    def freeze(self, path: str) -> str: ...
    def backup(self, path: str) -> None: ...

    # What is in it
    def docs(self) -> str: ...
    def document(self, id: str) -> str: ...
    def show(self, id: str, version: int | None = None) -> str: ...
    def text(self, id: str, version: int | None = None) -> str: ...
    def find(self, text: str, ignore_case: bool, context: int) -> str: ...
    def closest(self, text: str, limit: int) -> str: ...
    def log(self) -> str: ...
    def history(self, id: str) -> str: ...
    def stats(self) -> str: ...
    def fill(self) -> str: ...
    @property
    def lexicon(self) -> Lexicon | None: ...
    def word_classes(self, word: str) -> str: ...
    def class_members(self, name: str, limit: int | None = None) -> str: ...
    def ask(self, pattern: Pattern, most: int) -> str: ...
    def graphs(self) -> str: ...
    def export_graph(self, id: str | None, format: str) -> str: ...
    def rules(self) -> str: ...
    def preview_rules(self, id: str, text: str, examples: int, progress: Progress | None = None) -> str: ...
    def why(self, statement: str) -> str: ...
    def verify(self) -> str: ...
    def prove(self, without: Sequence[str], progress: Progress | None = None) -> str: ...
    def digest(self) -> str: ...

    # Reading
    def next_token(self, context: NDArray[np.uint32], generalize: float = 1.0) -> NDArray[np.float64]: ...
    def log_distributions(
        self, tokens: NDArray[np.uint32], start: int, end: int, generalize: float = 1.0
    ) -> NDArray[np.float32]:
        """log p(token | tokens[:p]) of every token, for p in start..end (end at most len(tokens) + 1)."""

    def matches(self, tokens: NDArray[np.uint32], generalize: float = 1.0) -> _Matches:
        """How well each position is known, one more than there are tokens."""

    def logprobs(
        self, tokens: NDArray[np.uint32], progress: Progress | None = None, generalize: float = 1.0
    ) -> NDArray[np.float64]:
        """One more than there are tokens: the end after the last."""

    def score_many(
        self,
        requests: Sequence[tuple[NDArray[np.uint32], int]],
        progress: Progress | None = None,
        generalize: float = 1.0,
    ) -> list[tuple[NDArray[np.float64], bool]]:
        """For each (tokens, start): log-probabilities of tokens[start:], and whether each was the most probable."""

    def complete_many(
        self,
        prompts: Sequence[NDArray[np.uint32]],
        options: Sequence[CompletionOptions],
        progress: Progress | None = None,
    ) -> list[tuple[NDArray[np.uint32], str]]:
        """For each prompt its continuation: tokens, and text."""

    def complete(self, prompt: NDArray[np.uint32], options: CompletionOptions, sources: bool) -> str:
        """The continuation of a prompt, as JSON."""

    def stream(self, prompt: NDArray[np.uint32], options: CompletionOptions) -> CompletionStream:
        """A completion of a prompt, which has no token yet."""

    def next_text(self, stream: CompletionStream) -> str | None:
        """Goes on with a completion until it has more text; None at its end."""

    def recall(
        self, texts: Sequence[NDArray[np.uint32]], progress: Progress | None = None, generalize: float = 1.0
    ) -> str: ...
    def score(
        self, texts: Sequence[NDArray[np.uint32]], progress: Progress | None = None, generalize: float = 1.0
    ) -> str: ...
    def explain(self, prompt: NDArray[np.uint32], candidates: int = 3, generalize: float = 1.0) -> str: ...
    def breakdown(self, prompt: NDArray[np.uint32], candidates: int = 3, generalize: float = 1.0) -> str: ...

def auto() -> list[tuple[str, float]]:
    """The constants of `weight="auto"`, in the order in which `weights` takes them."""

def weights(
    constants: Sequence[float],
    matched: NDArray[np.uint32],
    times: NDArray[np.int64],
    kinds: NDArray[np.int64],
    quote: NDArray[np.float64],
    familiarity: NDArray[np.float64],
    memory: NDArray[np.float64],
    model: NDArray[np.float64],
    agreed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The memory's weight at each position, by a rule with these constants."""

@final
class Follower:
    """Texts that grow token by token: what was read of each is kept, so that the next position costs one query."""

    def __new__(cls, memo: Memo, generalize: float = 1.0) -> Follower: ...
    def read(
        self, requests: Sequence[tuple[NDArray[np.uint32], int, int]]
    ) -> list[tuple[NDArray[np.float32], _Matches]]:
        """For each (tokens, start, end): log p(token | tokens[:p]) of every token, for p in start..end (end at most
        len(tokens) + 1), and how well each of these positions is known."""

    def propose(
        self, context: NDArray[np.uint32], most: int, least: float
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """What the memory would say after a context: tokens and their probabilities, at most `most`, until one has less
        than `least` or is the end."""

@final
class CompletionStream:
    """A completion that is made step by step, by a model or by a reader of shards."""

    @property
    def ended(self) -> bool: ...
    def completion(self) -> str:
        """What it is so far, as JSON."""

@final
class Tokenizer:
    """A tokenizer by itself: of a name or path, of JSON, or of the words of some texts."""

    def __new__(cls, name: str, json: bytes | None = None, words_from: Sequence[str] | None = None) -> Tokenizer: ...
    @property
    def name(self) -> str: ...
    @property
    def json(self) -> str | None:
        """What must be kept to have it again; None if its name is enough."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def eos(self) -> int: ...
    def encode_all(self, texts: Sequence[str], progress: Progress | None = None) -> list[NDArray[np.uint32]]: ...
    def decode(self, ids: NDArray[np.uint32]) -> str: ...
    def decode_after(self, prompt: NDArray[np.uint32], ids: NDArray[np.uint32]) -> str:
        """The text of ids that come after those of a prompt."""

Predictions = tuple[NDArray[np.uint32], NDArray[np.float32]]
"""Tokens, and their weights."""

@final
class DenseMemo:
    """The paper's model in float32, with its matrices open to be looked at."""

    def __new__(
        cls,
        vocab: int,
        dim: int,
        heads: int,
        layers: int,
        *,
        seed: int = 0,
        codes: Literal["gaussian", "hadamard"] = "gaussian",
        composition: Literal["jlt", "bind", "product"] = "jlt",
        recall: Literal["stored", "computed"] | float = "stored",
        distiller: Literal["memory", "unclamped", "exact", "off"] = "memory",
        stride: Literal["token", "block"] = "token",
        edges: Literal["inside", "padded"] = "inside",
        update_rows: int = 1024,
        threads: int = 0,
        memory_limit: int | None = None,
    ) -> DenseMemo: ...
    def save(self, path: str, notes: dict[str, str], progress: Progress | None = None) -> None:
        """Writes a safetensors file: the whole of it, or nothing."""

    @staticmethod
    def load(
        path: str, threads: int = 0, memory_limit: int | None = None, progress: Progress | None = None
    ) -> tuple[DenseMemo, dict[str, str]]:
        """Reads such a file; its notes come too."""

    def to_bytes(self, notes: dict[str, str]) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes, threads: int = 0) -> tuple[DenseMemo, dict[str, str]]: ...
    @property
    def config(self) -> str: ...
    @property
    def threads(self) -> int: ...
    @property
    def parameters(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def window(self) -> int: ...
    def expected_recall(self) -> float: ...
    def memorize_all(self, texts: Sequence[NDArray[np.uint32]], progress: Progress | None = None) -> None: ...
    def forget_all(
        self, texts: Sequence[NDArray[np.uint32]], completely: bool = False, progress: Progress | None = None
    ) -> None: ...
    def weights_all(
        self, contexts: Sequence[NDArray[np.uint32]], progress: Progress | None = None
    ) -> NDArray[np.float32]: ...
    def predict_all(self, contexts: Sequence[NDArray[np.uint32]], progress: Progress | None = None) -> Predictions: ...
    def predict_along(self, text: NDArray[np.uint32], progress: Progress | None = None) -> Predictions: ...
    def complete_all(
        self,
        prompts: Sequence[NDArray[np.uint32]],
        max_tokens: int,
        end: int | None = None,
        progress: Progress | None = None,
    ) -> list[NDArray[np.uint32]]:
        """The tokens that follow each prompt, before `end` or where nothing is remembered."""

    def trace(self, context: NDArray[np.uint32], top: int = 5) -> str: ...
    def codes(self, first: int = 0, last: int | None = None) -> NDArray[np.float32]:
        """Rows of E. A view if they are stored, else they are made."""

    def reduction(self, layer: int) -> NDArray[np.float32]:
        """W_V of a layer, from 1: (d/h, d)."""

    def projection(self, layer: int) -> NDArray[np.float32] | None:
        """Prj of a layer, from 1: (d, h·d); None for the last layer, and where composition is not linear."""

    def memory(self, layer: int) -> NDArray[np.float32] | None:
        """C of a layer, from 1: a read-only view (d, d), rows are keys; it changes when the model does."""

    def set_memory(self, layer: int, cells: NDArray[np.float32]) -> None: ...
    def compose(self, layer: int, codes: NDArray[np.float32]) -> NDArray[np.float32]:
        """The code of h codes (h, d), as a layer's Prj or bind makes it."""

@final
class Oracle:
    """The same model without vectors: exact counts."""

    def __new__(
        cls,
        vocab: int,
        heads: int,
        layers: int,
        *,
        composition: Literal["jlt", "bind", "product"] = "jlt",
        recall: Literal["stored", "computed"] | float = "stored",
        distiller: Literal["memory", "unclamped", "exact", "off"] = "memory",
        stride: Literal["token", "block"] = "token",
        edges: Literal["inside", "padded"] = "inside",
    ) -> Oracle: ...
    def memorize_all(self, texts: Sequence[NDArray[np.uint32]]) -> None: ...
    def forget_all(self, texts: Sequence[NDArray[np.uint32]], completely: bool = False) -> None: ...
    def weights_all(self, contexts: Sequence[NDArray[np.uint32]]) -> NDArray[np.float32]: ...
    def layer_weights(self, context: NDArray[np.uint32], layer: int) -> NDArray[np.float64]:
        """What one layer, from 1, gives to every token."""

@final
class SingleMemory:
    """A single memory, from windows of h tokens to the token that follows. Windows come one after the other."""

    def __new__(
        cls,
        vocab: int,
        dim: int,
        heads: int,
        *,
        head_dim: int | None = None,
        codes: Literal["gaussian", "hadamard"] = "gaussian",
        seed: int = 0,
        symbols: NDArray[np.float32] | None = None,
    ) -> SingleMemory: ...
    def memorize_all(self, texts: Sequence[NDArray[np.uint32]]) -> None: ...
    def forget_all(self, texts: Sequence[NDArray[np.uint32]]) -> None: ...
    def memorize_pairs(self, windows: NDArray[np.uint32], next: NDArray[np.uint32]) -> None: ...
    def forget_pairs(self, windows: NDArray[np.uint32], next: NDArray[np.uint32]) -> None: ...
    def weights_all(self, windows: NDArray[np.uint32]) -> NDArray[np.float32]: ...
    def predict_all(self, windows: NDArray[np.uint32]) -> Predictions: ...
    def expected_recall(self) -> float: ...
    def memory(self) -> NDArray[np.float32]:
        """C: a read-only view (h·d_h, d), rows are keys; it changes when the model does."""

Request = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]]
"""Keys of each table."""

Response = tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.int64]]
"""How many entries each key has; the tokens of all entries, and their counts."""

@final
class Shard:
    """What one process holds of a memory: some partitions of its tables."""

    def __new__(
        cls,
        settings: str,
        tokenizer: str,
        tokenizer_json: bytes | None,
        lexicon: bytes | None,
        index: int,
        count: int,
    ) -> Shard: ...
    def write(self, documents: Sequence[NDArray[np.uint32]], weight: int = 1) -> None:
        """Writes what is its own of documents; weight -1 forgets. All are checked before anything changes."""

    def find(self, request: Request) -> Response: ...
    def unigrams(self) -> NDArray[np.int64]: ...
    def derived(self) -> NDArray[np.int64]: ...
    def leaves(self) -> bytes: ...
    @property
    def cells(self) -> int: ...
    @property
    def nbytes(self) -> int: ...

@final
class ShardReader:
    """The reader's side: is given what a query needs, and reads as an undivided memory would."""

    @staticmethod
    def create(count: int, options: ModelOptions) -> ShardReader: ...
    @property
    def settings(self) -> str: ...
    @property
    def tokenizer(self) -> str: ...
    @property
    def tokenizer_json(self) -> str | None: ...
    @property
    def lexicon(self) -> Lexicon | None: ...
    @property
    def vocab_size(self) -> int: ...
    @property
    def eos(self) -> int: ...
    @property
    def window(self) -> int: ...
    def encode(self, text: str) -> NDArray[np.uint32]: ...
    def decode(self, tokens: NDArray[np.uint32]) -> str: ...
    def refresh(self, unigrams: NDArray[np.int64], derived: NDArray[np.int64]) -> None:
        """After every write: what was fetched is dropped, and the counts of all shards, added up, are taken."""

    def want(self) -> list[Request | None]:
        """What the last read found missing, shard by shard."""

    def take(self, shard: int, request: Request, response: Response) -> None: ...
    def score(
        self,
        texts: Sequence[NDArray[np.uint32]],
        positions: Sequence[tuple[int, int]],
        generalize: float = 1.0,
    ) -> list[NDArray[np.float64]] | None:
        """Log-probabilities of texts[i][p] (the end at p == len); None: more is wanted."""

    def best(
        self,
        texts: Sequence[NDArray[np.uint32]],
        positions: Sequence[tuple[int, int]],
        generalize: float = 1.0,
    ) -> list[NDArray[np.uint32]] | None:
        """The most probable tokens; None: more is wanted."""

    def next_token(self, context: NDArray[np.uint32], generalize: float = 1.0) -> NDArray[np.float64] | None: ...
    def stream(self, prompt: NDArray[np.uint32], options: CompletionOptions) -> CompletionStream:
        """A completion of a prompt, which has no token yet."""

    def step(self, stream: CompletionStream) -> bool:
        """Goes on with a completion by a token; False: more is wanted."""

def combine(settings: str, leaves: Sequence[bytes]) -> str:
    """The digest of a memory from the leaves of all its shards, in hexadecimal."""

FILE_LABEL: str
"""The label that holds the file in which a document was read."""

@final
class Corpus:
    """Documents of files, folders, globs and .jsonl, one at a time, as the command line reads them: id, content (bytes
    if `raw`), labels with the file among them, and where it was read. `options` are those of
    `memo_lm.corpus.CorpusOptions`, all of them."""

    def __new__(cls, paths: Sequence[str], options: Mapping[str, object]) -> Corpus: ...
    @staticmethod
    def files(paths: Sequence[str], options: Mapping[str, object]) -> list[tuple[Path, str, bool, bool]]:
        """The files that would be read: canonical path, id, whether it was found rather than given, and whether its
        lines are documents."""

    @staticmethod
    def of_file(
        path: str,
        id: str,
        found: bool,
        options: Mapping[str, object],
        start: int = 0,
        end: int | None = None,
        line: int = 1,
    ) -> Corpus:
        """A file that was found, or of its lines those from byte `start` to `end`; `line` is the first one's number."""

    def __iter__(self) -> Corpus: ...
    def __next__(self) -> tuple[str, str | bytes, dict[str, str], str]: ...
    @property
    def skipped(self) -> list[tuple[str, str, bool]]:
        """What was skipped so far: where, why, and whether it should have been read."""

def forgetting(forget: str, retain: str, tokenizer: str = "gpt2", seed: int = 1, quick: bool = False) -> str:
    """What `memo-lab forgetting` measures, as JSON: a list of levels."""
