"""Questions about authors, answered by a model, by a memory, and by both; some authors are then forgotten.

A document of the memory is a question and its answer, a line each. The model reads the question by its own chat
template, the memory reads it as a line, as `memo serve --partner` has them do in a chat.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from intervals import Measure
from journal import Journal
from memo_lm import Memo
from memo_lm.hf import WithMemory
from memo_lm.hf.mixture import Mixture

Pair = tuple[str, str]

Mark = tuple[float, float, int]
"""The ROUGE-L of an answer, whether it is the true one, and how many distributions were compared with a twin's."""


def ask_authors(lm: Any, tokenizer: Any, folder: Path, given: argparse.Namespace, journal: Journal) -> list[Measure]:
    """Asks samples of what is forgotten and of what is kept, before and after."""
    kept, gone = (pairs(path) for path in given.tofu)
    drawn = random.Random(given.seed)
    asked = {"forgotten": sample(drawn, gone, given.questions), "kept": sample(drawn, kept, given.questions)}
    never = Memo.create(folder / "never.memo", tokenizer=tokenizer)
    memorize(never, "kept", kept)
    memo = Memo.create(folder / "authors.memo", tokenizer=tokenizer)
    memorize(memo, "kept", kept)
    memorize(memo, "gone", gone)
    students = {
        "the model alone": Student(lm, tokenizer),
        "the memory alone": Student(lm, tokenizer, memo, weight=1.0),
        "both": Student(lm, tokenizer, memo),
    }
    marks: dict[tuple[str, str], list[Mark]] = {}
    for who, student in students.items():
        marks |= mark(who, student, asked, given.batch, journal)
    memo.forget([f"gone-{number}" for number in range(len(gone))])
    if memo.digest() != never.digest():
        sys.exit("after forgetting, the memory is not one that never knew these authors")
    for who, student in list(students.items())[1:]:
        # The twin mixes the same logits with the memory that never knew them: every bit must be the same.
        student.twin = Student(lm, tokenizer, never, weight=student.weight)
        marks |= mark(f"{who}, after forgetting", student, asked, given.batch, journal)
    measures = [
        Measure("TOFU", who, part, name, [each[at] for each in found])
        for (who, part), found in marks.items()
        for at, name in enumerate(("ROUGE-L", "exact match"))
    ]
    compared = sum(each[2] for found in marks.values() for each in found)
    print_table(measures, given.questions)
    print(f"\nAfter forgetting, {compared:,} distributions were, bit for bit, those of a memory that never knew.\n")
    return measures


def pairs(path: str) -> list[Pair]:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [(record["question"], record["answer"]) for record in map(json.loads, lines)]


def sample(drawn: random.Random, some: Sequence[Pair], count: int) -> list[Pair]:
    """So many at random, in the order of their answers' lengths, so that those of a batch end together."""
    return sorted(drawn.sample(some, min(count, len(some))), key=lambda pair: len(pair[1]))


def memorize(memo: Memo, name: str, some: Sequence[Pair]) -> None:
    memo.memorize([(f"{name}-{number}", f"{asked}\n{answer}") for number, (asked, answer) in enumerate(some)])


class Student:
    """A model, a memory or both, that answers by greedy search."""

    def __init__(self, lm: Any, tokenizer: Any, memo: Memo | None = None, *, weight: Any = "auto") -> None:
        # Without a say, the model need not read.
        self.lm = lm if weight != 1.0 else None
        self.tokenizer = tokenizer
        self.weight = weight
        self.mixture: Mixture | None = None
        self.twin: Student | None = None
        model = lm if memo is None else WithMemory(lm, memo, weight, tokenizer=tokenizer)
        if isinstance(model, WithMemory):
            self.mixture = model.mixture
        ends = model.generation_config.eos_token_id
        self.ends = {ends} if isinstance(ends, int) else set(ends)

    def answer(self, batch: Sequence[Pair]) -> list[Mark]:
        """Answers, each of at most as many tokens as the true one; to be the true one, it must also end there."""
        rows = [self.ids(f"{asked}\n") for asked, _ in batch]
        most = [len(self.ids(answer)) for _, answer in batch]
        said: list[list[int]] = [[] for _ in batch]
        ended = [False] * len(batch)
        steps = 0
        reader = Reader(self.lm, self.tokenizer, [asked for asked, _ in batch])
        for _ in range(max(most) + 1):
            logits = reader.logits()
            steps += 1
            texts = [(np.array(row + more), np.array([len(row) + len(more)])) for row, more in zip(rows, said)]
            chosen = self.mixed(logits, texts).argmax(-1).tolist()
            for row, token in enumerate(chosen):
                if ended[row] or len(said[row]) > most[row]:
                    continue
                ended[row] = token in self.ends
                if not ended[row]:
                    said[row].append(token)
            if all(over or len(tokens) > limit for over, tokens, limit in zip(ended, said, most)):
                break
            reader.read(chosen)
        texts = [self.tokenizer.decode(tokens[:limit]).strip() for tokens, limit in zip(said, most)]
        compared = steps if self.twin is not None else 0
        return [
            (recall(text, true), float(over and text == true.strip()), compared)
            for text, over, (_, true) in zip(texts, ended, batch)
        ]

    def mixed(self, logits: torch.Tensor, texts: list[Any]) -> torch.Tensor:
        if self.mixture is None:
            return logits
        logs, _ = self.mixture.mixed(logits[:, None], texts)
        if self.twin is not None and not torch.equal(logs[:, 0], self.twin.mixed(logits, texts)):
            sys.exit("after forgetting, the mixture is not that of a memory that never knew these authors")
        return logs[:, 0]

    def ids(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]


class Reader:
    """A model that reads questions by its template, and then what is answered; without a model, nothing is read."""

    def __init__(self, lm: Any, tokenizer: Any, questions: Sequence[str]) -> None:
        self.lm = lm
        if lm is None:
            self.none = torch.zeros(len(questions), len(tokenizer))
            return
        chats = [[{"role": "user", "content": question}] for question in questions]
        texts = [tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False) for chat in chats]
        rows = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        longest = max(map(len, rows))
        self.ids = torch.tensor([[0] * (longest - len(row)) + row for row in rows])
        self.mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        self.cache: Any = None

    def logits(self) -> torch.Tensor:
        """What the model says comes next."""
        if self.lm is None:
            return self.none
        positions = (self.mask.cumsum(-1) - 1).clamp(min=0)[:, -self.ids.shape[1] :]
        read = self.lm(
            self.ids,
            attention_mask=self.mask,
            position_ids=positions,
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        self.cache = read.past_key_values
        return read.logits[:, -1]

    def read(self, tokens: Sequence[int]) -> None:
        if self.lm is not None:
            self.ids = torch.tensor(tokens)[:, None]
            self.mask = torch.cat([self.mask, torch.ones_like(self.ids)], 1)


def mark(
    who: str, student: Student, asked: dict[str, list[Pair]], size: int, journal: Journal
) -> dict[tuple[str, str], list[Mark]]:
    marks: dict[tuple[str, str], list[Mark]] = {}
    for part, some in asked.items():
        for first in range(0, len(some), size):
            batch = some[first : first + size]
            key = f"TOFU: {who}, {part}, from {first}"
            marks.setdefault((who, part), []).extend(journal.get(key, lambda batch=batch: student.answer(batch)))
    return marks


def recall(said: str, true: str) -> float:
    """ROUGE-L as TOFU takes it: the longest common subsequence of words, over the words of the true answer."""
    ours, theirs = (re.findall(r"[^\W_]+", text.lower()) for text in (said, true))
    row = [0] * (len(theirs) + 1)
    for word in ours:
        before = 0
        for at, other in enumerate(theirs, 1):
            before, row[at] = row[at], before + 1 if word == other else max(row[at], row[at - 1])
    return row[-1] / max(1, len(theirs))


def print_table(measures: Sequence[Measure], count: int) -> None:
    print(f"Percent, with intervals of 95 %; {count} questions each.\n")
    print("| who answers | forgotten authors: ROUGE-L | exact | authors that are kept: ROUGE-L | exact |")
    print("|---|---|---|---|---|")
    for who in dict.fromkeys(measure.who for measure in measures):
        cells = [measure.cell() for measure in measures if measure.who == who]
        print(f"| {who} | {' | '.join(cells)} |", flush=True)
