"""Text that is handed out while it is made, and ends before a stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._memo import Generation


def pieces(generation: Generation, max_tokens: int, stops: Sequence[str]) -> Iterator[str]:
    """Texts of tokens. What may turn out to begin a stop is held back until it is known."""
    held = ""
    for _, (_, text, _) in zip(range(max_tokens), generation):
        held += text
        end = _first(held, stops)
        if end is not None:
            if end > 0:
                yield held[:end]
            return
        sure = len(held) - _begun(held, stops)
        if sure > 0:
            yield held[:sure]
        held = held[sure:]
    held += generation.finish()
    held = held[: _first(held, stops)]
    if held:
        yield held


def _first(text: str, stops: Sequence[str]) -> int | None:
    """Where the first stop begins."""
    return min((at for at in (text.find(stop) for stop in stops) if at >= 0), default=None)


def _begun(text: str, stops: Sequence[str]) -> int:
    """The length of the longest end of a text that a stop begins with."""
    lengths = (n for stop in stops for n in range(1, min(len(stop), len(text) + 1)) if text.endswith(stop[:n]))
    return max(lengths, default=0)
