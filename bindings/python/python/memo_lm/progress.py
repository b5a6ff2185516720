"""How far long work is: a bar of tqdm where there is one, or whatever the caller wants to be told."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

from ._memo import InvalidError

Callback = Callable[[str, int, int], object]
"""Called with what is done, how much of it, and how much there is to do."""

Progress = Union[bool, Callback, None]
"""None: a bar if tqdm is installed, standard error is a terminal, and it takes a while. True: a bar. False: none."""

# Seconds before a bar appears that nobody asked for: what is done by then needs none.
DELAY = 0.3


@contextmanager
def watching(progress: Progress) -> Iterator[Callback | None]:
    """The callback of a call, if there is one; the last bar is gone afterwards."""
    if callable(progress):
        yield progress
        return
    bars = _bars(progress)
    try:
        yield bars
    finally:
        if bars is not None:
            bars.close()


def _bars(progress: bool | None) -> Bars | None:
    if progress is False or (progress is None and not sys.stderr.isatty()):
        return None
    try:
        tqdm = importlib.import_module("tqdm")
    except ImportError:
        if progress is None:
            return None
        raise InvalidError("progress=True needs tqdm; pip install 'memo_lm[progress]'") from None
    return Bars(tqdm.tqdm, 0 if progress else DELAY)


class Bars:
    """One bar after the other, for each thing that is done."""

    def __init__(self, make: Callable[..., Any], delay: float) -> None:
        self._make = make
        self._delay = delay
        self._what: str | None = None
        self._bar: Any = None

    def __call__(self, what: str, done: int, whole: int) -> None:
        if what != self._what:
            self.close()
            self._what = what
            self._bar = self._make(desc=what, total=whole, unit="", unit_scale=True, leave=False, delay=self._delay)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        """Takes the last bar away."""
        if self._bar is not None:
            self._bar.close()
        self._bar = self._what = None
