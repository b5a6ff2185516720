"""The guide: what a section types is run, and must print what it says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "python.md"


def run(section: str) -> None:
    """Runs the `>>>` of a section of the guide, in the present folder."""
    text = GUIDE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    run_text(text, section, GUIDE)


def run_page(name: str) -> None:
    """Runs the `>>>` of another page of the documentation, in the present folder."""
    page = GUIDE.with_name(name)
    run_text(page.read_text(encoding="utf-8"), name, page)


def run_text(text: str, title: str, page: Path) -> None:
    """Runs the `>>>` of a text, which must print what it says."""
    sessions = "\n\n".join(re.findall(r"```python\n(>>>.*?)```", text, re.S))
    test = doctest.DocTestParser().get_doctest(sessions, {}, title, str(page), 0)
    assert test.examples
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    assert failed == 0, "".join(said)
