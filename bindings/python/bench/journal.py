"""The journal of a run: a line of JSON for each part that is done, so that an interrupted run goes on from there."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """Its first line names all that the results depend on; one with another first line is refused."""

    def __init__(self, path: str | None, depends_on: dict[str, Any]) -> None:
        self.done: dict[str, Any] = {}
        self.path = Path(path) if path else None
        if self.path is None:
            return
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        if lines and json.loads(lines[0]) != json.loads(json.dumps(depends_on)):
            sys.exit(f"{path} is of another run: {lines[0]}; remove it, or give another --journal")
        self.done = dict(map(json.loads, lines[1:]))
        if not lines:
            self.write(depends_on)

    def get(self, key: str, make: Callable[[], Any]) -> Any:
        """What was made of a part, now or in an earlier run."""
        if key not in self.done:
            self.done[key] = make()
            self.write([key, self.done[key]])
            print(key, file=sys.stderr, flush=True)
        return self.done[key]

    def write(self, line: Any) -> None:
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                print(json.dumps(line), file=file)
