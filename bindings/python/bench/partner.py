"""What a memory is worth beside a neural language model, as a Markdown page.

    python bench/partner.py MODEL --text code=src/**/*.rs --text wiki=wiki.txt --text facts=facts.jsonl > partner.md

MODEL is a directory of transformers' or a .gguf file. Each text is a name and files: every file, line of a .jsonl, or
article of a text with `= Headings =` is a document. Four fifths of the documents are memorized, the last fifth is held
out. Perplexities are those of windows of both parts, a token; of unrelated text, with the memory of another text.
"""

from __future__ import annotations

import argparse
import glob
import json
import math
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from memo_lm import Memo, __version__
from memo_lm.hf import WithMemory, draft_generate
from transformers import AutoModelForCausalLM, AutoTokenizer

PROMPT = 16
"""Tokens after which a memorized text is recognised."""

WEIGHTS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass
class Scores:
    """Log-probabilities of the tokens of some windows."""

    model: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    auto: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)
    """Whether the greedy token was right, where at least `PROMPT` tokens stood before it."""

    def perplexity(self, which: str) -> float:
        return math.exp(-float(np.mean(getattr(self, which))))

    def best_fixed(self) -> tuple[float, float]:
        """The fixed weight that does best on these very tokens, and its perplexity."""
        model, memory = np.array(self.model), np.array(self.memory)
        mixed = {w: float(np.logaddexp(model + math.log1p(-w), memory + math.log(w)).mean()) for w in WEIGHTS}
        best = max(mixed, key=lambda weight: mixed[weight])
        return best, math.exp(-mixed[best])


def documents(pattern: str) -> list[str]:
    """The documents of files."""
    found: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        text = Path(path).read_text(encoding="utf-8", errors="replace")
        if path.endswith(".jsonl"):
            for line in text.splitlines():
                record = json.loads(line)
                found.append(record["text"] if "text" in record else f"{record['question']} {record['answer']}")
        elif re.search(r"^ = [^=].* = $", text, re.M):
            found += [part for part in re.split(r"(?m)^(?= = [^=].* = $)", text) if part.strip()]
        else:
            found.append(text)
    return [text for text in found if text.strip()]


def windows(tokenizer: Any, texts: list[str], tokens: int, size: int, seed: int) -> list[list[int]]:
    """Windows of texts, drawn without looking, that have so many tokens in all."""
    drawn = random.Random(seed)
    chosen = texts[:]
    drawn.shuffle(chosen)
    found: list[list[int]] = []
    for text in chosen:
        if sum(map(len, found)) >= tokens:
            break
        ids = tokenizer(text[:100_000], add_special_tokens=False)["input_ids"]
        parts = [ids[at : at + size] for at in range(0, len(ids), size)]
        parts = [part for part in parts if len(part) > 16] or [ids]
        found += drawn.sample(parts, min(len(parts), 2))
    return [each for each in found if len(each) > 1]


def measure(both: WithMemory, parts: list[list[int]]) -> Scores:
    """The tokens of windows, each from those before it, by the model, by the memory and by both."""
    scores = Scores()
    for part in parts:
        ids = torch.tensor([part])
        with torch.no_grad():
            logits = both.lm(ids).logits[:, :-1]
            known = [(ids[0].numpy(), np.arange(1, len(part)))]
            mixed, _ = both.mixture.mixed(logits, known)
            asked = ids[0, 1:, None]
            scores.model += torch.log_softmax(logits[0].float(), -1).gather(1, asked)[:, 0].tolist()
            scores.auto += mixed[0].gather(1, asked)[:, 0].tolist()
            scores.right += (mixed[0].argmax(-1) == ids[0, 1:]).tolist()[PROMPT - 1 :]
        scores.memory += both.memo.logprobs(part)[1:-1].tolist()
    return scores


def timed(make: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    made = make()
    return time.perf_counter() - start, made


def drafts(model: Any, memo: Memo, prompts: list[list[int]], tokens: int) -> dict[str, float]:
    """How much sooner a model's greedy text comes with drafts, and whether it is the same."""
    plain = drafted = same = made = steps = accepted = proposed = 0.0
    for prompt in prompts:
        ids = torch.tensor([prompt])
        options = {"max_new_tokens": tokens, "do_sample": False, "attention_mask": torch.ones_like(ids)}
        spent, own = timed(lambda ids=ids, options=options: model.generate(ids, **options))
        plain += spent
        spent, other = timed(lambda ids=ids, options=options: draft_generate(model, memo, ids, **options))
        drafted += spent
        same += float(torch.equal(own, other.sequences))
        made, steps = made + other.tokens, steps + other.steps
        accepted, proposed = accepted + other.accepted, proposed + other.proposed
    return {
        "same": same / len(prompts),
        "accepted": accepted / max(steps, 1),
        "share": accepted / max(proposed, 1),
        "plain": made / plain,
        "drafted": made / drafted,
    }


def load(path: str) -> tuple[Any, Any]:
    place = Path(path)
    options: dict[str, Any] = {"gguf_file": place.name} if place.suffix == ".gguf" else {}
    folder = place.parent if options else place
    lm = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options).eval()
    return lm, AutoTokenizer.from_pretrained(folder, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a directory of transformers', or a .gguf file")
    parser.add_argument("--text", action="append", required=True, metavar="NAME=FILES", help="a text, as a glob")
    parser.add_argument("--tokens", type=int, default=3000, help="tokens of each part that are scored")
    parser.add_argument("--window", type=int, default=384, help="tokens that the model sees at once")
    parser.add_argument("--generate", type=int, default=64, help="tokens of a draft experiment's continuations")
    parser.add_argument("--prompts", type=int, default=6, help="prompts of a draft experiment")
    parser.add_argument(
        "--drafts", metavar="NAMES", help="the texts of draft experiments, with commas; all unless given"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    transformers.logging.set_verbosity_error()
    lm, tokenizer = load(given.model)
    texts = {name: documents(files) for name, files in (each.split("=", 1) for each in given.text)}
    for name, found in texts.items():
        if len(found) < 5:
            sys.exit(f"{name}: {len(found)} documents were found; a text needs five")
    print(f"memo_lm {__version__}, torch {torch.__version__}, transformers {transformers.__version__}, ", end="")
    print(f"{given.threads} thread, windows of {given.window} tokens, seed {given.seed}\n")
    with tempfile.TemporaryDirectory() as folder:
        report(lm, tokenizer, texts, folder, given)


def report(lm: Any, tokenizer: Any, texts: dict[str, list[str]], folder: str, given: argparse.Namespace) -> None:
    partners: dict[str, WithMemory] = {}
    parts: dict[str, tuple[list[list[int]], list[list[int]]]] = {}
    for name, found in texts.items():
        cut = len(found) * 4 // 5
        memo = Memo.create(f"{folder}/{name}.memo", tokenizer=tokenizer)
        memo.memorize(found[:cut])
        partners[name] = WithMemory(lm, memo, tokenizer=tokenizer)
        seen = windows(tokenizer, found[:cut], given.tokens // 2, given.window, given.seed)
        parts[name] = seen, windows(tokenizer, found[cut:], given.tokens, given.window, given.seed)
    heads = ["text", "part", "tokens", "model", "memory", "both", "both / model", "best fixed weight", "/ model"]
    print(f"| {' | '.join(heads)} | greedy right after {PROMPT} |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, both in partners.items():
        for kind, chosen in zip(("memorized", "held out"), parts[name]):
            line(name, kind, measure(both, chosen))
    names = list(partners)
    for at, name in enumerate(names):
        other = names[(at + 1) % len(names)]
        if other != name:
            chosen = parts[other][1][: max(1, len(parts[other][1]) // 2)]
            line(f"{other}, memory of {name}", "unrelated", measure(partners[name], chosen))
    print("\n| drafts | same text | accepted a pass | of those proposed | tokens/s | with drafts | speed-up |")
    print("|---|---|---|---|---|---|---|")
    for name in given.drafts.split(",") if given.drafts else names:
        both = partners[name]
        for kind, chosen in zip(("memorized", "held out"), parts[name]):
            prompts = [part[:48] for part in chosen if len(part) >= 64][: given.prompts]
            if not prompts:
                continue
            for title, model in (("model", lm), ("both", both)):
                got = drafts(model, both.memo, prompts, given.generate)
                cells = f"{got['same']:.2f} | {got['accepted']:.2f} | {got['share']:.2f} | {got['plain']:.1f}"
                faster = got["drafted"] / got["plain"]
                print(f"| {name}, {kind}, {title} | {cells} | {got['drafted']:.1f} | {faster:.2f} |", flush=True)


def line(name: str, part: str, scores: Scores) -> None:
    model, memory, both = (scores.perplexity(which) for which in ("model", "memory", "auto"))
    weight, fixed = scores.best_fixed()
    cells = f"{len(scores.model):,} | {model:.2f} | {memory:,.2f} | {both:.2f} | {both / model:.3f}"
    right = f"{np.mean(scores.right):.3f}" if scores.right else "–"
    print(f"| {name} | {part} | {cells} | {weight:g}: {fixed:.2f} | {fixed / model:.3f} | {right} |", flush=True)


if __name__ == "__main__":
    main()
