"""Unlearning, measured: what forgetting leaves, beside a memory that never saw what was forgotten.

    >>> from memo_lm import unlearning
    >>> measured = unlearning.run("forget10.jsonl", "retain90.jsonl")
    >>> measured["forget_quality"], measured["digests_equal"]
    (1.0, True)

Files have one question and answer a line, `{"question": …, "answer": …}`, as TOFU has them. Everything is memorized,
first `retain`, then `forget`; the last pairs are forgotten; the memory is asked for answers before and after, beside
one that never saw them. The numbers are those of `memo-lab forgetting`, which also makes a page of them.

Metrics, under the names that TOFU, MUSE and open-unlearning use:

    exact_memorization   the share of the answers' tokens whose most probable token is right
    extraction_strength  1 - k/n for the smallest k from which the rest of an answer of n tokens is all right
    rouge_l              ROUGE-L recall of what is said when only the question is given
    probability          exp of the mean log-likelihood of an answer's tokens
    forget_quality       p-value of a Kolmogorov-Smirnov test: could the log-likelihoods of the forgotten answers be
                         those of a memory that never saw them? TOFU's compares truth ratios, which need wrong answers
                         beside the right one; this needs the pairs alone. It is 1 by construction where the digests are
                         equal; what chance does to it is seen from `other_seed`
    utility              harmonic mean of probability and rouge_l on what was kept. TOFU's also has truth ratios, real
                         authors and world facts, of which a memory knows nothing that it was not told
    digests_equal        whether the memory equals, bit for bit, the one that never saw them; then all else agrees too
"""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any, Union

from ._memo import forgetting

File = Union[str, "PathLike[str]"]

_METRICS = ("answers", "tokens", "exact_memorization", "extraction_strength", "rouge_l", "probability")


def run(forget: File, retain: File, *, tokenizer: str = "gpt2", seed: int = 1, quick: bool = False) -> dict[str, Any]:
    """Memorizes both files, forgets, and measures.

    The metrics on top are those of forgetting the whole file `forget`, asked for it afterwards; `utility` is of what
    was kept. `levels` has them for each amount that was forgotten (1 author in 100, the file, everything), each with:

        authors_forgotten, authors, percent    how much; an author is 20 pairs
        tokens_forgotten, tokens, parameters   in tokens, and the memory's cells
        forget                                 asked for what is forgotten: `before`, `after`, `never` (a memory that
                                               never saw it), `other_seed` (another such memory: what chance alone does)
        retain                                 asked for what was kept: `before`, `after`; None if nothing was
        forget_quality, utility, digests_equal
        digest, digest_before                  of the memory after and before forgetting
        memorize_seconds, forget_seconds       for all tokens that are forgotten

    `quick` asks for 40 pairs instead of 400. `tokenizer` is gpt2, cl100k, o200k, bytes, words, or a tokenizer.json.
    """
    outcomes = json.loads(forgetting(fspath(forget), fspath(retain), tokenizer, seed, quick))
    levels = [_level(outcome) for outcome in outcomes]
    # Everything forgotten says nothing of what is kept: the file is the last level before, if there is one.
    main = next((level for level in reversed(levels) if level["retain"] is not None), levels[-1])
    shown = ("exact_memorization", "extraction_strength", "rouge_l", "probability")
    return {
        **{name: main["forget"]["after"][name] for name in shown},
        **{name: main[name] for name in ("forget_quality", "utility", "digests_equal")},
        "levels": levels,
    }


def _level(outcome: dict[str, Any]) -> dict[str, Any]:
    kept = None
    if outcome["kept_after"] is not None:
        kept = {when: _measures(outcome[f"kept_{when}"]) for when in ("before", "after")}
    states = {"before": "before", "after": "after", "never": "never", "other_seed": "other"}
    return {
        "authors_forgotten": outcome["forgotten_authors"],
        "authors": outcome["authors"],
        "percent": outcome["percent"],
        "tokens_forgotten": outcome["forgotten_tokens"],
        "tokens": outcome["tokens"],
        "parameters": outcome["parameters"],
        "forget": {name: _state(outcome[key]) for name, key in states.items()},
        "retain": kept,
        "forget_quality": outcome["after"]["answers"]["p_value"],
        "utility": None if kept is None else kept["after"]["utility"],
        "digests_equal": outcome["digest"] == outcome["digest_never"],
        "digest": outcome["digest"],
        "digest_before": outcome["digest_before"],
        "memorize_seconds": outcome["memorizing"],
        "forget_seconds": outcome["forgetting"],
    }


def _state(state: dict[str, Any]) -> dict[str, Any]:
    """Measures, and the test against the memory that never saw it: of answers, and of tokens."""
    tests = {"forget_quality": state["answers"]["p_value"], "forget_quality_tokens": state["tokens"]["p_value"]}
    return {**_measures(state["measures"]), **tests}


def _measures(measures: dict[str, Any]) -> dict[str, Any]:
    probability, rouge = measures["probability"], measures["rouge_l"]
    utility = 0.0 if min(probability, rouge) <= 0 else 2 / (1 / probability + 1 / rouge)
    return {**{name: measures[name] for name in _METRICS}, "utility": utility}
