"""What a neural language model answers with a memory beside it: questions about authors that it never read of, before
and after a tenth of them is forgotten, and facts that are made to say something else.

    python bench/facts.py MODEL --tofu retain90.jsonl forget10.jsonl --counterfact counterfact.json --csv facts.csv

MODEL is a directory of transformers' or a .gguf file. The tables are Markdown; the CSV has one line for each number of
them. Samples are drawn by --seed; intervals are of 95 %. With --journal, a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
import transformers
from answers import ask_authors
from edits import judge_edits
from intervals import Measure
from journal import Journal
from memo_lm import __version__
from partner import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a directory of transformers', or a .gguf file")
    parser.add_argument("--tofu", nargs=2, metavar=("RETAIN", "FORGET"), help="TOFU's questions: to keep, to forget")
    parser.add_argument("--questions", type=int, default=100, help="questions asked of each of the two files")
    parser.add_argument("--counterfact", metavar="FILE", help="CounterFact's records; all of them are edited")
    parser.add_argument("--records", type=int, default=500, help="records that are judged")
    parser.add_argument("--csv", metavar="FILE", help="every number, one a line")
    parser.add_argument("--journal", metavar="FILE", help="what is done; the same command goes on from there")
    parser.add_argument("--batch", type=int, default=20, help="texts that the model reads at once")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if not (given.tofu or given.counterfact):
        parser.error("there is nothing to do: give --tofu, --counterfact or both")
    torch.set_num_threads(given.threads)
    transformers.logging.set_verbosity_error()
    lm, tokenizer = load(given.model)
    versions = f"memo_lm {__version__}, torch {torch.__version__}, transformers {transformers.__version__}"
    print(f"{versions}, {given.threads} thread, seed {given.seed}\n")
    settings = {name: value for name, value in vars(given).items() if name not in ("csv", "journal", "threads")}
    journal = Journal(given.journal, {"versions": versions, **settings})
    measures: list[Measure] = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        if given.tofu:
            measures += timed("TOFU", lambda: ask_authors(lm, tokenizer, Path(folder), given, journal))
        if given.counterfact:
            measures += timed("CounterFact", lambda: judge_edits(lm, tokenizer, Path(folder), given, journal))
    if given.csv:
        with open(given.csv, "w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(["experiment", "who", "asked", "measure", "value", "low", "high", "sample"])
            lines.writerows(measure.cells() for measure in measures)


def timed(name: str, work: Any) -> list[Measure]:
    start = time.process_time()
    made = work()
    print(f"{name}: {(time.process_time() - start) / 60:.1f} minutes of CPU time", file=sys.stderr, flush=True)
    return made


if __name__ == "__main__":
    main()
