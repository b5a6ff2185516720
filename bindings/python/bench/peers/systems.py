"""What is compared: each system made of tokens in a folder, then asked. All are given the same ids."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from memo_lm import Memo
from numpy.typing import NDArray

from .paper import Paper
from .texts import END, VOCABULARY, Ids


class System(Protocol):
    """A system that was made."""

    reach: int
    """How many tokens of a context can matter."""

    def best(self, context: list[int]) -> int | None:
        """The most probable next token."""

    def distribution(self, context: list[int]) -> object:
        """The probability of every token, or what comes nearest to it."""

    def score(self, ids: Ids) -> NDArray[np.float64] | None:
        """Natural logarithms of the probabilities of tokens, each after all before it."""


def size(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


class KenLm:
    """KenLM: an n-gram model of order 5 with modified Kneser–Ney smoothing."""

    ORDER = 5
    reach = ORDER - 1
    kind = "probing"

    @classmethod
    def build(cls, ids: Ids, folder: Path) -> None:
        """Estimates a model and makes it binary, as its users do."""
        programs = Path(os.environ["KENLM_BIN"])
        words = " ".join(map(str, ids.tolist())) + "\n"
        # A short text has no word seen three times in some order: then its discounts are a guess.
        options = [
            "-o",
            str(cls.ORDER),
            "--discount_fallback",
            "--vocab_pad",
            str(VOCABULARY),
            "-S",
            "20%",
            "-T",
            folder,
        ]
        arpa = folder / "text.arpa"
        subprocess.run([programs / "lmplz", *options, "--arpa", arpa], input=words.encode(), check=True, **QUIET)
        subprocess.run([programs / "build_binary", cls.kind, arpa, folder / "text.bin"], check=True, **QUIET)
        arpa.unlink()

    def __init__(self, ids: Ids, folder: Path) -> None:
        import kenlm

        self._kenlm, self._model = kenlm, kenlm.Model(str(folder / "text.bin"))
        self._known = [str(token) for token in np.unique(ids)]

    def distribution(self, context: list[int]) -> NDArray[np.float64]:
        """The probabilities of all known words, as logarithms."""
        before, after = self._kenlm.State(), self._kenlm.State()
        self._model.NullContextWrite(before)
        for token in context[-self.reach :]:
            self._model.BaseScore(before, str(token), after)
            before, after = after, before
        score = self._model.BaseScore
        return np.array([score(before, word, after) for word in self._known])

    def best(self, context: list[int]) -> int | None:
        return int(self._known[int(np.argmax(self.distribution(context)))])

    def score(self, ids: Ids) -> NDArray[np.float64] | None:
        found = self._model.full_scores(" ".join(map(str, ids.tolist())), eos=False)
        return math.log(10) * np.array([score for score, _, _ in found])


class KenLmTrie(KenLm):
    """The same in KenLM's smaller form."""

    kind = "trie"


class InfiniGram:
    """infini-gram: a suffix array of the tokens; what followed the longest match."""

    reach = 64

    @classmethod
    def build(cls, ids: Ids, folder: Path) -> None:
        """Its indexer wants a tokenizer from a hub, and takes tokens that are there already."""
        documents = np.concatenate([[0xFFFF], ids]).astype("<u2")
        (folder / "tokenized.0").write_bytes(documents.tobytes())
        (folder / "offset.0").write_bytes(np.zeros(1, dtype="<u8").tobytes())
        # With two threads the halves of a short text overlap, and the index has places twice.
        places = [option for name in ("data_dir", "temp_dir", "save_dir") for option in (f"--{name}", str(folder))]
        options = ["--token_dtype", "u16", "--cpus", "1", "--mem", "2", "--ulimit", "1024"]
        subprocess.run([sys.executable, "-m", "infini_gram.indexing", *places, *options], check=True, **QUIET)

    def __init__(self, ids: Ids, folder: Path) -> None:
        from infini_gram.engine import InfiniGramEngine

        self._engine = InfiniGramEngine(
            str(folder), eos_token_id=END, vocab_size=VOCABULARY, version=4, token_dtype="u16"
        )

    def _followed(self, context: list[int]) -> dict[int, dict[str, float]]:
        return self._engine.infgram_ntd(prompt_ids=context, max_support=1_000)["result_by_token_id"]

    def best(self, context: list[int]) -> int | None:
        found = self._followed(context)
        return max(found, key=lambda token: found[token]["prob"], default=None)

    def distribution(self, context: list[int]) -> object:
        return self._followed(context)

    def score(self, ids: Ids) -> NDArray[np.float64] | None:
        tokens = ids.tolist()
        contexts = ((tokens[max(0, at - self.reach) : at], token) for at, token in enumerate(tokens))
        found = [self._engine.infgram_prob(prompt_ids=before, cont_id=token)["prob"] for before, token in contexts]
        with np.errstate(divide="ignore"):
            return np.log(np.array(found, dtype=np.float64))


class MeMo:
    """A model of this project, as `memo memorize` makes it."""

    reach = 64
    frozen = False

    @classmethod
    def build(cls, ids: Ids, folder: Path) -> None:
        with Memo.create(folder / "text.memo", tokenizer="gpt2") as memo:
            memo.memorize(ids, "text", progress=False)
            memo.checkpoint()
            if cls.frozen:
                memo.freeze(folder / "frozen.memo")
        if cls.frozen:
            shutil.rmtree(folder / "text.memo")

    def __init__(self, ids: Ids, folder: Path) -> None:
        self.memo = Memo.open(folder / ("frozen.memo" if self.frozen else "text.memo"), read_only=True)

    def best(self, context: list[int]) -> int | None:
        made = self.memo.completion(context, 1, find=True).tokens
        return made[0].token if made else None

    def distribution(self, context: list[int]) -> object:
        return self.memo.next_token(context)

    def score(self, ids: Ids) -> NDArray[np.float64] | None:
        # The last is the end of the document.
        return self.memo.logprobs(ids)[:-1]


class MeMoFrozen(MeMo):
    """The same, frozen: smaller, without its text, and read only."""

    frozen = True


class PaperModel:
    """The paper's equations in NumPy."""

    reach = 64
    DIM, HEADS, LAYERS = 1024, 4, 2

    @classmethod
    def model(cls, ids: Ids) -> Paper:
        """An empty model for the tokens of a text."""
        return Paper(ids, cls.DIM, cls.HEADS, cls.LAYERS)

    @classmethod
    def build(cls, ids: Ids, folder: Path) -> None:
        model = cls.model(ids)
        model.memorize(ids)
        np.savez(folder / "memories.npz", *model.C)

    def __init__(self, ids: Ids, folder: Path) -> None:
        self.paper = self.model(ids)
        with np.load(folder / "memories.npz") as saved:
            self.paper.C = [saved[name] for name in saved.files]

    def best(self, context: list[int]) -> int | None:
        return self.paper.predict(context)

    def distribution(self, context: list[int]) -> object:
        return self.paper.weights(context)

    def score(self, ids: Ids) -> NDArray[np.float64] | None:
        return None


QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

PAPER = "the paper's equations"
SYSTEMS: dict[str, Any] = {
    "MeMo": MeMo,
    "MeMo, frozen": MeMoFrozen,
    "KenLM": KenLm,
    "KenLM, trie": KenLmTrie,
    "infini-gram": InfiniGram,
    PAPER: PaperModel,
}
