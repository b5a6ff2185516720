"""Numbers of a sample with their intervals of 95 %."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measure:
    """The mean of a sample: a share, if all values are 0 or 1."""

    experiment: str
    who: str
    asked: str
    name: str
    values: Sequence[float]

    @property
    def value(self) -> float:
        return float(np.mean(self.values))

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval for shares, and one by resampling for other means."""
        values = np.asarray(self.values, float)
        count, mean = len(values), float(values.mean())
        if not np.isin(values, (0.0, 1.0)).all():
            draws = np.random.default_rng(1).integers(0, count, (2000, count))
            low, high = np.quantile(values[draws].mean(1), (0.025, 0.975))
            return float(low), float(high)
        z = 1.959964
        middle = (mean + z * z / (2 * count)) / (1 + z * z / count)
        half = z * math.sqrt(mean * (1 - mean) / count + z * z / (4 * count * count)) / (1 + z * z / count)
        return max(0.0, middle - half), min(1.0, middle + half)

    def cell(self) -> str:
        """For a table, in percent."""
        low, high = self.interval
        return f"{100 * self.value:.1f} ({100 * low:.1f}–{100 * high:.1f})"

    def cells(self) -> list[object]:
        """For a file."""
        numbers = [f"{each:.6f}" for each in (self.value, *self.interval)]
        return [self.experiment, self.who, self.asked, self.name, *numbers, len(self.values)]
