"""Facts that are made to say something else: CounterFact's records, edited in a memory beside a model.

All records are edited; a sample of them is judged when all edits are in. A continuation counts by the mean
log-probability of its tokens; it is said if each of its tokens is the most probable one.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from intervals import Measure
from journal import Journal
from memo_lm import Memo
from memo_lm.hf import WithMemory

PROMPTS = {"efficacy": "prompt", "paraphrase": "rephrase_prompt", "neighbourhood": "locality_prompt"}
ALONE = "the model alone"

Record = dict[str, Any]


def judge_edits(lm: Any, tokenizer: Any, folder: Path, given: argparse.Namespace, journal: Journal) -> list[Measure]:
    """Judges a sample of the records by the model alone and beside each memory, from the same logits."""
    records = json.loads(Path(given.counterfact).read_text(encoding="utf-8"))
    judged = random.Random(given.seed).sample(records, min(given.records, len(records)))
    memories: dict[str, WithMemory | None] = {ALONE: None}
    for name, memo in edited(records, tokenizer, folder).items():
        memories[name] = WithMemory(lm, memo, tokenizer=tokenizer)
    won: dict[tuple[str, str, str], list[float]] = {}
    for first in range(0, len(judged), given.batch):
        some = judged[first : first + given.batch]
        key = f"CounterFact: from {first}"
        for *who, values in journal.get(key, lambda some=some: judge(lm, tokenizer, some, memories)):
            won.setdefault(tuple(who), []).extend(values)
    measures = [Measure("CounterFact", *key, values) for key, values in won.items()]
    print_table(measures, list(memories), len(records), len(judged))
    return measures


def judge(
    lm: Any, tokenizer: Any, records: Sequence[Record], memories: dict[str, WithMemory | None]
) -> list[tuple[str, str, str, list[float]]]:
    """Who, at which prompt, by which measure: 1 for each record that is as it should be."""
    made = []
    for asked, field in PROMPTS.items():
        # The neighbour is to keep what is true of it; the edited fact is to be the new one.
        names = ["target_new", "ground_truth"]
        wanted, other = reversed(names) if asked == "neighbourhood" else names
        prompts = [record[field] for record in records]
        ours = continuations(lm, tokenizer, prompts, [record[wanted] for record in records], memories)
        theirs = continuations(lm, tokenizer, prompts, [record[other] for record in records], memories)
        for who in memories:
            made.append((who, asked, "score", [float(a.log > b.log) for a, b in zip(ours[who], theirs[who])]))
            made.append((who, asked, "accuracy", [float(each.said) for each in ours[who]]))
    return made


def edited(records: Sequence[Record], tokenizer: Any, folder: Path) -> dict[str, Memo]:
    """Memories of the edits alone: each as `memo edit` makes it, as a sentence, and as sentences in both wordings."""
    made = {
        name: Memo.create(folder / f"{number}.memo", tokenizer=tokenizer)
        for number, name in enumerate(("edited", "memorized", "memorized in both wordings"))
    }
    edit, sentence, wordings = made.values()
    for record in records:
        edit.edit(record["prompt"], f" {record['target_new']}")
    sentence.memorize([said(record, "prompt") for record in records])
    wordings.memorize([said(record, field) for record in records for field in ("prompt", "rephrase_prompt")])
    return made


def said(record: Record, field: str) -> str:
    return f"{record[field]} {record['target_new']}"


class Continuation:
    """What is given to a continuation."""

    def __init__(self, logs: torch.Tensor, tokens: Sequence[int]) -> None:
        """logs: log-probabilities where each of its tokens comes next."""
        own = logs.gather(1, torch.tensor(tokens)[:, None])
        self.log = float(own.mean())
        self.said = logs.argmax(-1).tolist() == list(tokens)


def continuations(
    lm: Any, tokenizer: Any, prompts: Sequence[str], targets: Sequence[str], memories: dict[str, WithMemory | None]
) -> dict[str, list[Continuation]]:
    """What the model alone, and with each memory, gives some continuations of prompts."""
    heads = [tokenizer(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    tails = [tokenizer(f" {target}", add_special_tokens=False)["input_ids"] for target in targets]
    rows = [head + tail for head, tail in zip(heads, tails)]
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    hidden = lm.model(ids, attention_mask=mask).last_hidden_state
    made: dict[str, list[Continuation]] = {who: [] for who in memories}
    for at, (row, head, tail) in enumerate(zip(rows, heads, tails)):
        places = np.arange(len(head), len(row))
        logits = lm.lm_head(hidden[at, places - 1])[None]
        for who, both in memories.items():
            if both is None:
                logs = torch.log_softmax(logits.float(), -1)
            else:
                logs, _ = both.mixture.mixed(logits, [(np.array(row), places)])
            made[who].append(Continuation(logs[0], tail))
    return made


def print_table(measures: Sequence[Measure], names: Sequence[str], edits: int, judged: int) -> None:
    print(f"Percent, with intervals of 95 %; {edits:,} edits, {judged} records judged.\n")
    for kind in ("score", "accuracy"):
        print(f"| {kind} | efficacy | paraphrase | neighbourhood | harmonic mean |\n|---|---|---|---|---|")
        for who in names:
            found = [measure for measure in measures if (measure.who, measure.name) == (who, kind)]
            values = [measure.value for measure in found]
            mean = statistics.harmonic_mean(values)
            print(f"| {who} | {' | '.join(measure.cell() for measure in found)} | {100 * mean:.1f} |")
        print(flush=True)
