"""Results: the fields that the Rust library has, and nothing of their own."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shutil
from pathlib import Path

import pytest
from memo_lm import EditReport, Memo, results
from memo_lm.mixins import Result

PACKAGE = Path(__file__).parent.parent
CLASSES = [each for each in vars(results).values() if isinstance(each, type) and dataclasses.is_dataclass(each)]


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo, which prints the schema, is not installed")
def test_the_module_is_what_the_schema_makes() -> None:
    spec = importlib.util.spec_from_file_location("generate_results", PACKAGE / "generate_results.py")
    assert spec and spec.loader
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    written = generator.RESULTS.read_text(encoding="utf-8")
    assert written == generator.generate(generator.schemas()), "run python bindings/python/generate_results.py"


def test_no_result_is_defined_twice() -> None:
    assert len(CLASSES) > 20
    assert all(issubclass(each, Result) for each in CLASSES)
    sources = [path for path in (PACKAGE / "python").rglob("*.py") if path.name != "results.py"]
    defined = {line for path in sources for line in path.read_text(encoding="utf-8").splitlines()}
    for each in CLASSES:
        assert not any(line.startswith((f"class {each.__name__}(", f"class {each.__name__}:")) for line in defined)


def test_results_become_plain_data(notes: Memo) -> None:
    """What the compiled module said, field for field."""
    for result, said in (
        (notes.docs()[0], json.loads(notes.core.docs())[0]),
        (notes.log()[0], json.loads(notes.core.log())[0]),
        (notes.stats(), json.loads(notes.core.stats())),
        (notes.fill(), json.loads(notes.core.fill())),
        (notes.breakdown("The owl"), json.loads(notes.core.breakdown(notes.encode("The owl")))),
        (notes.show("owl"), json.loads(notes.core.show("owl"))),
        (notes.explain("The owl"), json.loads(notes.core.explain(notes.encode("The owl")))),
    ):
        assert result.to_dict() == said


def test_fields_that_are_not_known_are_passed_over() -> None:
    known = {
        "transaction": 1,
        "document": "a",
        "weight": 2,
        "space_added": False,
        "replaced": None,
        "goes_on": None,
        "digest_after": "b",
    }
    assert EditReport.read(json.dumps({**known, "later": {"x": 1}})) == EditReport(**known)  # type: ignore[arg-type]
