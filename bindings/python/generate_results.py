"""Writes `python/memo_lm/results.py`: a dataclass for each type that the Rust library answers with.

    python bindings/python/generate_results.py

The types are defined once, in Rust (`crates/memo-store`). Their schema has names, types and descriptions; what is more
than data (`Document.current`) is in `memo_lm/mixins.py`, as `DocumentMixin`.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent / "python" / "memo_lm"
RESULTS = PACKAGE / "results.py"
WIDTH = 120

HEAD = '''\
"""What a model answers with, as the Rust library defines it. Written by `generate_results.py`; not to be edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from .mixins import (
{mixins}
)
from .mixins import Result as Result
'''

SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def schemas() -> dict[str, Any]:
    """The schema of every result, by name."""
    # The tests have built it already, beside the program that they are given.
    built = Path(os.environ.get("MEMO_BIN", "")).parent / "examples" / "schema"
    cargo = ["cargo", "run", "--quiet", "--package", "memo-store", "--features", "schema", "--example", "schema"]
    command = [str(built.absolute())] if "MEMO_BIN" in os.environ and built.exists() else cargo
    printed = subprocess.run(command, cwd=Path(__file__).parent, check=True, stdout=subprocess.PIPE).stdout
    found: dict[str, Any] = json.loads(printed)["components"]["schemas"]
    return found


def generate(schemas: dict[str, Any]) -> str:
    """The module."""
    mixins = set(re.findall(r"^class (\w+)", (PACKAGE / "mixins.py").read_text(encoding="utf-8"), re.M))
    written: dict[str, str] = {}

    def write(name: str) -> None:
        if name not in written:
            # What a class mentions comes before it.
            for other in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schemas[name])):
                write(other)
            written[name] = _enum(name, schemas[name]) if "enum" in schemas[name] else _class(name, schemas, mixins)

    for name in sorted(schemas):
        write(name)
    enums = "\n".join(text for name, text in written.items() if "enum" in schemas[name])
    classes = "\n\n".join(text for name, text in written.items() if "enum" not in schemas[name])
    used = [*sorted(mixin for mixin in mixins - {"Result"} if re.search(rf"\b{mixin}\b", classes)), "date_time"]
    head = HEAD.format(mixins="\n".join(f"    {name}," for name in used))
    return f"{head}\n{enums}\n\n{classes}"


def _enum(name: str, schema: dict[str, Any]) -> str:
    values = ", ".join(json.dumps(value) for value in schema["enum"])
    return f"{name} = Literal[{values}]\n{_doc(schema['description'], 0)}"


def _class(name: str, schemas: dict[str, Any], mixins: set[str]) -> str:
    schema, base = schemas[name], f"{name}Mixin" if f"{name}Mixin" in mixins else "Result"
    about = schema["description"]
    if "allOf" in schema:
        # Another type's fields, and some more.
        inherited, schema = schema["allOf"]
        base = _name(inherited)
    lines = [f"@dataclass(frozen=True)\nclass {name}({base}):\n{_doc(about, 4)}\n"]
    # What is a keyword of Python has an underscore after it; `memo_lm.mixins.Result` knows.
    fields = {f"{field}_" if keyword.iskeyword(field) else field: of for field, of in schema["properties"].items()}
    nested = {field: kind for field, kind in ((field, _nested(of, schemas)) for field, of in fields.items()) if kind}
    if nested:
        of = ", ".join(f'"{field}": {kind}' for field, kind in nested.items())
        line = f"    _nested: ClassVar[Mapping[str, type[Result]]] = {{{of}}}"
        if len(line) > WIDTH:
            each = "".join(f'        "{field}": {kind},\n' for field, kind in nested.items())
            line = f"    _nested: ClassVar[Mapping[str, type[Result]]] = {{\n{each}    }}"
        lines.append(f"{line}\n\n")
    lines.extend(f"    {field}: {_type(of)}\n{_doc(_about(of), 4)}" for field, of in fields.items())
    if fields.get("time", {}).get("format") == "date-time":
        kind = _type(fields["time"]).replace("str", "datetime")
        lines.append(f'\n    @property\n    def when(self) -> {kind}:\n        """The time as a datetime, in UTC."""\n')
        lines.append("        return date_time(self.time)\n")
    return "".join(lines)


def _doc(text: str, indent: int) -> str:
    """A docstring, on several lines if it is long."""
    margin = " " * indent
    whole = f'{margin}"""{text}"""'
    if len(whole) > WIDTH:
        whole = textwrap.fill(f'"""{text}', WIDTH, initial_indent=margin, subsequent_indent=margin)
        whole += f'\n{margin}"""' if len(whole.splitlines()[-1]) + 3 > WIDTH else '"""'
    return whole + "\n"


def _name(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _given(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """A schema without the null that it may be."""
    if "oneOf" in schema:
        (inside,) = [each for each in schema["oneOf"] if each.get("type") != "null"]
        return inside, True
    kind = schema.get("type")
    return ({**schema, "type": kind[0]}, True) if isinstance(kind, list) else (schema, False)


def _about(schema: dict[str, Any]) -> str:
    return str(schema.get("description") or _given(schema)[0]["description"])


def _type(schema: dict[str, Any]) -> str:
    inside, may_be_none = _given(schema)
    if "$ref" in inside:
        kind = _name(inside)
    elif inside["type"] == "array":
        kind = f"list[{_type(inside['items'])}]"
    elif inside["type"] == "object":
        kind = f"dict[str, {_type(inside['additionalProperties'])}]"
    else:
        kind = SCALARS[inside["type"]]
    return f"{kind} | None" if may_be_none else kind


def _nested(schema: dict[str, Any], schemas: dict[str, Any]) -> str | None:
    """The class of a field's value, or of what is in its list."""
    inside, _ = _given(schema)
    inside = inside.get("items", inside)
    return _name(inside) if "$ref" in inside and "enum" not in schemas[_name(inside)] else None


if __name__ == "__main__":
    RESULTS.write_text(generate(schemas()), encoding="utf-8")
