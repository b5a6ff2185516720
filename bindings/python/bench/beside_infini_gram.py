"""The next token after the last few tokens of memorized text, beside infini-gram.

    pip install infini-gram
    python bindings/python/bench/beside_infini_gram.py TEXT [TEXT ...]

A text is a file, a file of JSON lines with a field `text`, or a folder whose sources (`*.rs`, `*.py`, `*.md`, `*.ts`)
are read. Its gpt2 tokens are memorized by MeMo and indexed by infini-gram, and both are asked for the token at the same
1,000 random places, from the 3, 4, 8 and 16 tokens before it: infini-gram by the most probable token of `infgram_ntd`,
MeMo by a completion of one token whose prompt is looked for as a quote (`find=True`). Printed are the share of right
tokens, the time of a query and bytes on disk a token. Queries are asked one by one; both have been asked a hundred
times before time is taken, which is that of the processor, in all threads.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from infini_gram.engine import InfiniGramEngine
from memo_lm import Memo

LENGTHS = (3, 4, 8, 16)
PLACES = 1_000
WARM = 100
SUFFIXES = {".rs", ".py", ".md", ".ts", ".tsx"}
# infini-gram's separator of documents.
SEPARATOR = 0xFFFF

Ask = Callable[[list[int]], "int | None"]


def read(path: Path) -> str:
    """The text of a file, of JSON lines or of a folder of sources."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
        hidden = ("target", "node_modules")
        kept = [f for f in files if not any(p in hidden or p.startswith(".") for p in f.relative_to(path).parts)]
        return "".join(file.read_text(encoding="utf-8", errors="replace") for file in kept)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        return "\n".join(json.loads(line)["text"] for line in text.splitlines())
    return text


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def index(tokens: np.ndarray, folder: Path) -> InfiniGramEngine:
    """An index of tokens: its indexer wants a tokenizer from a hub, and takes tokens that are already there."""
    folder.mkdir()
    documents = np.concatenate([[SEPARATOR], tokens]).astype("<u2")
    (folder / "tokenized.0").write_bytes(documents.tobytes())
    (folder / "offset.0").write_bytes(np.zeros(1, dtype="<u8").tobytes())
    # With two threads the halves of a short text overlap, and the index has places twice.
    command = [sys.executable, "-m", "infini_gram.indexing", "--data_dir", str(folder), "--temp_dir", str(folder)]
    command += ["--save_dir", str(folder), "--token_dtype", "u16", "--cpus", "1", "--mem", "2", "--ulimit", "4096"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return InfiniGramEngine(str(folder), eos_token_id=50_256, vocab_size=50_257, version=4, token_dtype="u16")


def measure(ask: Ask, tokens: list[int], places: list[int], length: int) -> tuple[float, float, float]:
    """The share of places whose token is right, and the milliseconds that a query takes: mean and median."""
    for place in places[:WARM]:
        ask(tokens[place - length : place])
    right, times = 0, []
    for place in places:
        start = time.process_time()
        answer = ask(tokens[place - length : place])
        times.append(1e3 * (time.process_time() - start))
        right += answer == tokens[place]
    return right / len(places), sum(times) / len(times), statistics.median(times)


def compare(path: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        with Memo.create(folder / "text.memo", tokenizer="gpt2") as memo:
            ids = memo.encode(read(path))
            memo.memorize(ids, "text", progress=False)
            memo.checkpoint()
            memo.freeze(folder / "frozen.memo")
        engine = index(ids, folder / "index")
        tokens = ids.tolist()
        places = random.Random(1).sample(range(max(LENGTHS), len(tokens)), PLACES)

        def theirs(prompt: list[int]) -> int | None:
            found = engine.infgram_ntd(prompt_ids=prompt, max_support=1_000)["result_by_token_id"]
            return max(found, key=lambda token: found[token]["prob"], default=None)

        def asking(memo: Memo) -> Ask:
            def ours(prompt: list[int]) -> int | None:
                made = memo.completion(prompt, 1, find=True).tokens
                return made[0].token if made else None

            return ours

        sizes = {"infini-gram": size(folder / "index"), "MeMo": size(folder / "text.memo")}
        sizes["MeMo, frozen"] = size(folder / "frozen.memo")
        print(f"{path.name}: {len(tokens):,} tokens")
        with (
            Memo.open(folder / "text.memo", read_only=True) as live,
            Memo.open(folder / "frozen.memo", read_only=True) as frozen,
        ):
            asked: dict[str, Ask] = {"infini-gram": theirs, "MeMo": asking(live), "MeMo, frozen": asking(frozen)}
            for name, ask in asked.items():
                each = [measure(ask, tokens, places, length) for length in LENGTHS]
                right, mean, median = (" / ".join(f"{value:.3f}" for value in column) for column in zip(*each))
                per_token = sizes[name] / len(tokens)
                print(
                    f"  {name:13} right {right}  ms {mean}  median {median}  bytes a token {per_token:.1f}", flush=True
                )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for given in sys.argv[1:]:
        compare(Path(given))
