"""What the benchmarks beside other systems stand on: the paper's equations, transcribed in NumPy, are the paper's."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from memo_lm import DenseMemo

sys.path.insert(0, str(Path(__file__).parent.parent / "bench"))

from peers.paper import Paper


def test_the_transcription_recalls_and_forgets_as_the_library_does() -> None:
    text = np.random.default_rng(1).integers(0, 2_000, 400).astype(np.uint32)
    paper = Paper(text, 512, 2, 2)
    paper.memorize(text)
    library = DenseMemo(2_000, dim=512, heads=2, layers=2, seed=1)
    library.memorize(text)
    said, _ = library.predict_along(text)

    def right() -> float:
        return float(np.mean([paper.predict(text[p - 4 : p].tolist()) == text[p] for p in range(4, len(text))]))

    assert right() > 0.98
    assert np.mean(said[3:-1] == text[4:]) > 0.98
    paper.memorize(text, -1)
    assert right() < 0.02
