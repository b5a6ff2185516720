"""Tasks for lm_eval that need no hub: they read a file of yours.

    memo_lambada            the last word of each passage; accuracy and perplexity
    memo_word_perplexity    how probable a text is; perplexity by word and by byte

On the command line lm_eval gets the folder and the files, for whatever model::

    lm_eval --include_path "$(python -m memo_lm.tasks)" --tasks memo_lambada --metadata lambada=lambada_test.jsonl …

and in Python the tasks themselves, which need neither: `lm_eval.simple_evaluate(model, tasks=tasks(lambada=…))`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Union

File = Union[str, "PathLike[str]"]


def task_dir() -> Path:
    """The folder of the task files, for `--include_path` and `TaskManager`."""
    return Path(__file__).parent


def tasks(*, lambada: File | None = None, text: File | None = None) -> list[dict[str, Any]]:
    """The tasks whose files are given, as lm_eval's `simple_evaluate` takes them."""
    from lm_eval.tasks._yaml_loader import load_yaml

    given = {"memo_lambada": ("lambada", lambada), "memo_word_perplexity": ("text", text)}
    made = []
    for name, (key, file) in given.items():
        if file is not None:
            made.append({**load_yaml(task_dir() / f"{name}.yaml"), "dataset_kwargs": {key: str(file)}})
    if not made:
        raise ValueError("no task without data: give lambada=, a file of passages, or text=, a file of text")
    return made


def read_lambada(lambada: File | None = None, **_: object) -> Mapping[str, Any]:
    """Passages, one JSON object with a `text` a line: all but the last word, and the last word."""
    path = _given("lambada", lambada)
    rows = []
    for number, text in _lines(path):
        context, space, word = text.rpartition(" ")
        if not space:
            raise ValueError(f"{path}, line {number}: a passage of one word has no last word to predict")
        rows.append({"context": context, "word": word})
    return _test(rows)


def read_text(text: File | None = None, **_: object) -> Mapping[str, Any]:
    """Documents: a file is one, a `.jsonl` has one a line, in `text`."""
    path = _given("text", text)
    if path.suffix == ".jsonl":
        return _test([{"page": page} for _, page in _lines(path)])
    return _test([{"page": path.read_text(encoding="utf-8")}])


def _given(name: str, file: File | None) -> Path:
    if file is None:
        raise ValueError(f"this task reads a file of yours: add --metadata {name}=FILE")
    path = Path(file).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file; --metadata {name}=FILE names it")
    return path


def _lines(path: Path) -> list[tuple[int, str]]:
    found = []
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict) or not isinstance(row.get("text"), str):
                    raise ValueError(f'{path}, line {number}: not an object with a "text"')
                found.append((number, row["text"]))
    return found


def _test(rows: list[dict[str, str]]) -> Mapping[str, Any]:
    from datasets import Dataset

    return {"test": Dataset.from_list(rows)}
