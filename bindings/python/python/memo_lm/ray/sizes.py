"""How many tokens fit."""

from __future__ import annotations

from .._memo import InvalidError

# Cells a token of a full memory, and below which a memory loses what it was given.
CELLS = 92
LEAST = 60


def load(cells: int, tokens: int) -> float:
    """How full a memory is: 1 is full."""
    return CELLS * tokens / cells


def check(cells: int, tokens: int) -> None:
    """Refuses more tokens than a memory can recall."""
    if tokens > 0 and cells // tokens < LEAST:
        full = 100 * load(cells, tokens)
        need = CELLS * tokens / 2**20
        raise InvalidError(
            f"the memory would be {full:.0f} % full, and lose some of it; it needs {need:.0f}MiB, or pass force=True"
        )
