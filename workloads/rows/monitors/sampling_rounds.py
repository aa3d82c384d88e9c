"""Count the expected and the missing samples of a monitor in the window (method 20), for one file."""

from __future__ import annotations

from typing import Any

import numpy as np

from density_study.workloads.rows.arrays.arrow_tables import Array
from density_study.workloads.rows.raw.trial_context import TrialFacts

# A gap below 1.75 periods is a late sample; a longer one has a missing sample.
LATE_PERIODS = 0.25


def sampling_rounds(
    kind: str, about: dict[str, str], epoch_s: Array, since_epoch_s: Array, facts: TrialFacts
) -> list[dict[str, Any]]:
    """The row of `monitor_rounds`; none without a window, or without a sample in it.

    about: trial and host. epoch_s: distinct sampling times; since_epoch_s: the previous time, NaN for the
    first.
    """
    if facts.window is None:
        return []
    start_s, end_s = facts.window
    at_s = facts.at_s(epoch_s)
    inside = (at_s > start_s) & (at_s <= end_s)
    at_s = at_s[inside]
    if not len(at_s):
        return []
    # if the previous round is before the window, or there is none, count missing samples from its start
    since_s = np.fmax(facts.at_s(since_epoch_s[inside]), start_s)
    # the last gap ends with the window: a monitor that died early also loses samples
    gaps_s = np.append(at_s - since_s, end_s - at_s.max())
    missing = np.floor(gaps_s / facts.period_s + LATE_PERIODS) - 1
    lost = int(np.maximum(missing, 0.0).sum())  # an early sample makes up for no lost one
    # in turns of another trial no time passes, and its rounds make up for none
    seen = int((at_s > since_s).sum()) if facts.turns else len(at_s)
    return [{**about, "kind": kind, "seen": seen, "lost": lost}]
