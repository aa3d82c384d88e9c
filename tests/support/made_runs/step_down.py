"""Holm's correction for many drawn reports at once, one a row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def rejected(scores: NDArray[np.float64], limits: Sequence[float]) -> NDArray[np.bool_]:
    """Which comparisons of each report are claimed: the lowest score against the first limit, the next one
    against the second, until one is above."""
    order = scores.argsort(axis=1)
    below = np.take_along_axis(scores, order, axis=1) <= np.asarray(limits)
    found = np.empty_like(below)
    np.put_along_axis(found, order, np.logical_and.accumulate(below, axis=1), axis=1)
    return found
