"""How many of the samples a monitor should have taken in the window are there (method 20), of one file."""

from __future__ import annotations

from typing import Any

import numpy as np

from jobs.arrays.array import Array
from jobs.raw.trial_context import TrialFacts

LATE_PERIODS = 0.25
"""A gap of up to 1.75 periods is one late sample; from there on one is missing."""


def sampling_rounds(
    kind: str, about: dict[str, str], epoch_s: Array, since_epoch_s: Array, facts: TrialFacts
) -> list[dict[str, Any]]:
    """The row of `monitor_rounds`: none without a sample in the window, or a window.

    about: trial and host. epoch_s: each time the monitor sampled, once; since_epoch_s: the time before,
    NaN at the first.
    """
    if facts.window is None:
        return []
    start_s, end_s = facts.window
    at_s = epoch_s - facts.clock_offset_s
    inside = (at_s > start_s) & (at_s <= end_s)
    at_s = at_s[inside]
    if not len(at_s):
        return []
    # a round before the window, or none: what is missing is counted from its start
    since_s = np.fmax(since_epoch_s[inside] - facts.clock_offset_s, start_s)
    gaps_s = np.append(at_s - since_s, end_s - at_s.max())
    missing = np.floor(gaps_s / facts.period_s + LATE_PERIODS) - 1
    lost = int(np.maximum(missing, 0.0).sum())
    return [{**about, "kind": kind, "seen": len(at_s), "lost": lost}]
