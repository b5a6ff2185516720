"""MeMo on more than one machine, with Ray (`pip install 'memo_lm[ray]'`).

`memorize` makes a model of much text with many workers; `ShardedMemo` is a memory that no single machine could hold.
"""

from __future__ import annotations

try:
    import ray as _ray  # noqa: F401  # Ray itself, not this package
except ImportError as error:
    raise ImportError("memo_lm.ray needs Ray: pip install 'memo_lm[ray]'") from error

from .memorize import memorize
from .sharded import ShardedMemo, ShardedReceipt, ShardedStats

__all__ = ["ShardedMemo", "ShardedReceipt", "ShardedStats", "memorize"]
