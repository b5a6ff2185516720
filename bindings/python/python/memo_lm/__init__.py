"""MeMo: a language model that is a memory.

>>> from memo_lm import Memo
>>> with Memo.create("notes.memo") as memo:
...     memo.memorize("The owl reads at night.", id="note")
...     memo.complete("The owl reads")
"""

from __future__ import annotations

from ._memo import (
    BusyError,
    DamagedError,
    EditError,
    EngineError,
    ExistsError,
    InvalidError,
    MemoError,
    MergeError,
    NotAModelError,
    NotFoundError,
    ReadOnlyError,
    RollbackError,
    StateError,
    StorageError,
    __version__,
)
from .dense import DenseMemo, Trace
from .memo import Memo
from .oracle import Oracle
from .predictions import Prediction
from .results import (
    Candidate,
    Copy,
    Document,
    Edited,
    Explanation,
    Forgotten,
    Found,
    Frozen,
    Heard,
    Memorized,
    Merged,
    Op,
    Origin,
    Place,
    Recalled,
    Receipt,
    Role,
    Stats,
    Transaction,
    Verified,
    Version,
)
from .single import SingleMemory

__all__ = [
    "BusyError",
    "Candidate",
    "Copy",
    "DamagedError",
    "DenseMemo",
    "Document",
    "EditError",
    "Edited",
    "EngineError",
    "ExistsError",
    "Explanation",
    "Forgotten",
    "Found",
    "Frozen",
    "Heard",
    "InvalidError",
    "Memo",
    "MemoError",
    "Memorized",
    "MergeError",
    "Merged",
    "NotAModelError",
    "NotFoundError",
    "Op",
    "Oracle",
    "Origin",
    "Place",
    "Prediction",
    "ReadOnlyError",
    "Recalled",
    "Receipt",
    "Role",
    "RollbackError",
    "SingleMemory",
    "StateError",
    "Stats",
    "StorageError",
    "Trace",
    "Transaction",
    "Verified",
    "Version",
    "__version__",
]
