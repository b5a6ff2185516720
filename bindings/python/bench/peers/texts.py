"""Texts: read, made up where none is given, and cut into a part that is memorized and one that is held out."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from memo_lm import Memo
from numpy.typing import NDArray

Ids = NDArray[np.uint32]

VOCABULARY = 50_257
END = 50_256


@dataclass(frozen=True)
class Parts:
    """A text as tokens of gpt2."""

    name: str
    known: Ids
    """The first four fifths, up to a line end: what every system is made of."""
    new: Ids
    """The rest."""


# Files of a folder that are read.
CODE = {".c", ".cc", ".go", ".h", ".java", ".js", ".py", ".rs", ".ts"}


def read(path: Path) -> str:
    """A text; or JSON lines, of `text` or of `question` and `answer`; or the sources in a folder, in order."""
    if path.is_dir():
        return "".join(file.read_text(encoding="utf-8") for file in sorted(path.rglob("*")) if file.suffix in CODE)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return "".join(_line(json.loads(line)) + "\n" for line in text.splitlines() if line.strip())
    # KenLM refuses a text that has its own name for unknown words.
    return text.replace("<unk>", "unk")


def _line(record: dict[str, str]) -> str:
    text = record["text"] if "text" in record else f"{record['question']} {record['answer']}"
    return " ".join(text.splitlines())


def made_up(words: int = 150_000, seed: int = 1) -> str:
    """Sentences of invented words that come about as often as those of a language: by Zipf's law, and after each word
    some much more than others."""
    draw = random.Random(seed)
    beginnings, ends = "bdfgklmnprstvw", ["a", "e", "i", "o", "u", "an", "el", "or", "in", "us"]
    vocabulary: list[str] = []
    while len(vocabulary) < 8_000:
        vocabulary.append("".join(draw.choice(beginnings) + draw.choice(ends) for _ in range(draw.randint(1, 4))))
    ranks = [1 / (n + 2) for n in range(len(vocabulary))]
    followers: dict[str, list[str]] = {}
    lines, word, count = [], vocabulary[0], 0
    while count < words:
        sentence = []
        for _ in range(draw.randint(6, 20)):
            if word not in followers:
                followers[word] = draw.choices(vocabulary, ranks, k=12)
            follows = followers[word]
            word = (
                follows[min(int(draw.expovariate(0.6)), 11)]
                if draw.random() < 0.7
                else draw.choices(vocabulary, ranks)[0]
            )
            sentence.append(word)
        count += len(sentence)
        lines.append(" ".join(sentence).capitalize() + ".")
    return "\n".join(lines) + "\n"


def parts(name: str, text: str, folder: Path) -> Parts:
    """A text cut at the line end after four fifths of its characters."""
    cut = text.index("\n", 4 * len(text) // 5) + 1
    with Memo.open_or_create(folder / "tokenizer.memo", tokenizer="gpt2") as memo:
        known, new = memo.encode_all([text[:cut], text[cut:]])
    return Parts(name, known, new)
