"""The guide and the readme: what they type is run, and prints what they say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent
PROJECT = PACKAGE.parent.parent
PAGES = [PROJECT / "README.md", PROJECT / "docs" / "python.md", PACKAGE / "README.md"]
# Numbers that differ from run to run are written as …
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def sessions(page: Path) -> str:
    """The `>>>` of a page, up to the parts that need other libraries."""
    text = page.read_text().split("\n## Hugging Face")[0]
    return "\n\n".join(re.findall(r"```python\n(>>>.*?)```", text, re.S))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.name}")
def test_a_page_says_what_is_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest(sessions(page).replace("…", "..."), {}, page.name, str(page), 0)
    assert len(test.examples) > 3
    said: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert failed == 0, "".join(said)
