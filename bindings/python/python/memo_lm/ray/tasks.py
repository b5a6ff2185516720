"""What Ray tasks return and raise."""

from __future__ import annotations

from typing import Any

import ray

from .._memo import MemoError


def get(refs: list[Any]) -> list[Any]:
    """What tasks return. What a model refused is raised as if it had been refused here."""
    try:
        return list(ray.get(refs))
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, MemoError):
            raise error.cause from None
        raise
