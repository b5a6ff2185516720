"""docs/benchmarks.md, from what was measured, the experiments' tables and `page.md`; and the README's figure."""

from __future__ import annotations

import csv
import math
import string
from pathlib import Path
from typing import Any

from .measure import DOCUMENT, FEW, IN_A_ROW, LENGTHS, PLACES, QUERIES, SCORED, Result
from .systems import PaperModel

Text = dict[str, Any]
"""A text's name, its numbers of tokens, and what was measured of each system."""

# docs/repro.md of locuslab/open-unlearning: TOFU, Llama-2-7b-chat, forget10.
UNLEARNING = [
    ["Llama-2-7b, trained without them", "1.00", ".61"],
    ["the same, trained with them, nothing forgotten", "4·10⁻²⁵", ".63"],
    ["NPO", ".42", ".54"],
    ["RMU", "7·10⁻²¹", ".03"],
    ["GradAscent", "1·10⁻²³⁹", ".00"],
]
# arXiv 2202.05262, table 4, and arXiv 2210.07229, table 2.
EDITING = [
    ["ROME, GPT-2 XL, one edit at a time", "100.0", "96.4", "75.4", "89.2", "–"],
    ["ROME, GPT-J, 10,000 edits together", "50.2", "50.4", "50.2", "50.3", "–"],
    ["MEMIT, GPT-J, 10,000 edits together", "98.9", "88.6", "73.7", "85.8", "–"],
]
MEASURES = ("efficacy", "paraphrase", "specificity", "score")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table, its first column to the left."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def number(value: float | None, unit: float = 1.0) -> str:
    """Three digits."""
    if value is None:
        return "–"
    value *= unit
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(digits, 3)}f}"


def costs(results: dict[str, Result]) -> str:
    """What it takes."""
    head = ["", "build, s", "bytes a token: disk", "RAM", "RAM, MB", "best next token, ms", "distribution, ms"]
    head += ["new text, µs a token", f"a document of {DOCUMENT:,} more, s", "and away, s"]
    rows = []
    for name, each in results.items():
        sizes = [number(each["disk"]), number(each["ram"] / each["tokens"]), number(each["ram"], 1e-6)]
        times = [number(each["query"], 1e3), number(each["distribution"], 1e3), number(each.get("score"), 1e6)]
        rows.append([name, number(each["build"]), *sizes, *times, number(each.get("come")), number(each.get("go"))])
    return table(head, rows)


def quality(results: dict[str, Result]) -> str:
    """How right it is."""
    head = ["", *(f"after {n}" for n in LENGTHS), "perplexity of new text", "impossible"]
    rows = []
    for name, each in results.items():
        share = f"{100 * each['impossible']:.1f} %" if "impossible" in each else "–"
        said = [f"{right:.2f}" for right in each["recall"]]
        rows.append([name, *said, number(each.get("perplexity")), share])
    return table(head, rows)


def section(text: Text) -> str:
    """What was measured with one text."""
    return (
        f"## {text['name']}: {text['known']:,} tokens, and {text['new']:,} new ones\n\n"
        f"{costs(text['results'])}\n"
        f"How often the next {IN_A_ROW} tokens are all right after so many, at {PLACES} places whose cue occurs once; "
        f"and the rest\nof the text as one document; infini-gram was asked for the first {SCORED:,} tokens.\n\n"
        f"{quality(text['results'])}\n"
    )


def below_all(share: float, digits: int, whole: float = 1.0) -> str:
    """A share, rounded; never to all of it unless it is."""
    return f"{share if share == whole else min(share, whole - 10**-digits):.{digits}f}"


def rows_of(docs: Path, experiment: str) -> list[dict[str, str]]:
    """The table that an experiment wrote."""
    with (docs / "experiments" / f"{experiment}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def unlearning(docs: Path) -> dict[str, str]:
    """TOFU, 20 of 200 authors."""
    rows = [row for row in rows_of(docs, "forgetting") if row["authors_forgotten"] == "20"]
    one = {(row["asked"], row["memory"]): row for row in rows}
    after = one["forgotten", "after"]
    same = after["digest"] == one["forgotten", "never knew them"]["digest"]
    kept = (float(one["kept", when]["utility"]) for when in ("before", "after"))
    ours = ["MeMo", f"{float(after['p_tokens']):.2f}", " → ".join(below_all(share, 4).lstrip("0") for share in kept)]
    rest = table(["", "forget quality", "utility"], [ours, *UNLEARNING])
    return {"unlearning": rest, "bits": "equal" if same else "different"}


def editing(docs: Path) -> str:
    """CounterFact, as scores and as accuracy."""
    lines = []
    for row in rows_of(docs, "editing"):
        if row["memory"] == "after":
            preferred, said = (
                [below_all(100 * float(row[f"{m}_{how}"]), 1, 100) for m in MEASURES] for how in ("preferred", "said")
            )
            lines.append([f"MeMo, {row['edits']}", *preferred, ", ".join(said)])
    return table(["", "efficacy", "paraphrase", "neighbour", "score", "said"], lines + EDITING)


def page(texts: list[Text], command: str, machine: str, docs: Path) -> str:
    """The whole page."""
    template = string.Template(Path(__file__).with_name("page.md").read_text(encoding="utf-8"))
    about = {
        "dim": PaperModel.DIM,
        "heads": PaperModel.HEADS,
        "layers": PaperModel.LAYERS,
        "few": " and ".join(f"{few:,}" for few in FEW),
    }
    about.update(command=command, machine=machine, queries=QUERIES, texts="".join(map(section, texts)))
    return template.substitute(**about, **unlearning(docs), editing=editing(docs))


COLOURS = {
    "MeMo": "#0072b2",
    "MeMo, frozen": "#56b4e9",
    "KenLM": "#d55e00",
    "KenLM, trie": "#e69f00",
    "infini-gram": "#009e73",
}


PANELS = [
    ("bytes a token, on disk", lambda each: each["disk"]),
    ("s to remove a document", lambda each: each.get("go")),
    (f"next {IN_A_ROW} right after {LENGTHS[1]}", lambda each: each["recall"][1]),
    ("perplexity of new text", lambda each: each["perplexity"]),
]


def figure(text: Text) -> str:
    """Bars, as SVG: what a token costs, what removing a document takes, how often text is recalled, and new text."""
    shown = {name: text["results"][name] for name in COLOURS}
    row, left, step, room = 18, 110, 190, 110
    width, height = left + step * len(PANELS), 44 + row * len(shown)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"']
    out[0] += ' font-size="12" fill="#222222">'
    out.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')
    out += [f'<text x="10" y="{44 + n * row}">{name}</text>' for n, name in enumerate(shown)]
    for panel, (title, measure) in enumerate(PANELS):
        x, values = left + panel * step, [measure(each) for each in shown.values()]
        most = max(value for value in values if value and math.isfinite(value))
        out.append(f'<text x="{x}" y="20" font-weight="bold">{title}</text>')
        for n, (name, value) in enumerate(zip(shown, values)):
            y, length = 34 + n * row, room * value / most if value and math.isfinite(value) else 0.0
            out.append(f'<rect x="{x}" y="{y}" width="{length:.1f}" height="12" fill="{COLOURS[name]}"/>')
            said = "read only" if value is None else "none" if math.isinf(value) else number(value)
            out.append(f'<text x="{x + length + 5:.1f}" y="{y + 10}">{said}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
