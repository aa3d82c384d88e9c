"""The time of a trial that took turns with another: it stands still while the other one works.

So rates, percentiles, series and shares of CPU of such a trial are those of its own turns, by the same rules
as for any other trial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from density_study.workloads.rows.arrays.arrow_tables import Array

Turns = Sequence[tuple[float, float]]
"""Begin and end of each turn, in order, in epoch seconds of the controller's clock."""
ROUNDING_S = 1e-4


def own_time(epoch_s: Array, window_end_s: float, turns: Turns) -> Array:
    """The trial's time at these moments, in epoch seconds as well. It equals the clock's until the first turn
    of either, passes within turns, and after the last turn of either passes again. NaN stays NaN."""
    edges_s = np.array(turns).ravel()
    passed_s = np.diff(turns, axis=1).ravel()
    done_s = np.cumsum(passed_s)
    begin_s = window_end_s - done_s[-1]  # of the first turn of either
    own_s = begin_s + np.column_stack([done_s - passed_s, done_s]).ravel()
    # before the first turn and from the last on, a moment maps to the nearest edge
    inside: Array = np.interp(epoch_s, edges_s, own_s)
    all_s = 2 * done_s[-1]  # the other one has as much
    after_s = np.maximum(epoch_s - begin_s - all_s, 0.0)
    before_s = np.minimum(epoch_s - begin_s, 0.0)
    return np.where(np.isnan(epoch_s), np.nan, inside + after_s + before_s)
