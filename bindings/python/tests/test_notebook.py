"""The notebook of the paper: its cells are run, in order and in one process, and print what it shows.

MEMO_UPDATE=1 writes what they print into the notebook.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).parent.parent / "examples" / "paper.ipynb"


def test_the_notebook_shows_what_its_cells_print() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    names: dict[str, Any] = {}
    for number, cell in enumerate(cells, 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("".join(cell["source"]), f"cell {number} of {NOTEBOOK.name}", "exec"), names)
        lines = printed.getvalue().splitlines(keepends=True)
        if os.environ.get("MEMO_UPDATE"):
            cell["execution_count"] = number
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if lines else []
        shown = [line for output in cell["outputs"] for line in output["text"]]
        assert lines == shown, f"cell {number}; MEMO_UPDATE=1 writes what it prints"
    if os.environ.get("MEMO_UPDATE"):
        NOTEBOOK.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
