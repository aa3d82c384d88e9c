"""Two one-sided tests (TOST): required for "no effect", "similar" and "flat" (method 2).

Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability. J. Pharmacokinetics and Biopharmaceutics 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
from scipy import stats

NAME = "two one-sided t tests"
MARGIN = (0.8, 1.25)


def equivalence_p(
    first: Sequence[float], later: Sequence[float], margin: tuple[float, float] = MARGIN
) -> float:
    """p of "the ratio of `later` to `first` lies outside `margin`"; a small p means it lies inside.

    The larger p of two one-sided Welch t tests on logarithms. At least 2 units per arm, all positive.
    """
    low, high = margin
    a, b = (np.log(np.asarray(arm, dtype=float)) for arm in (first, later))
    if a.std() == b.std() == 0.0:
        return 0.0 if low < float(np.exp(b[0] - a[0])) < high else 1.0
    above = stats.ttest_ind(b, a + log(low), equal_var=False, alternative="greater").pvalue
    below = stats.ttest_ind(b, a + log(high), equal_var=False, alternative="less").pvalue
    return float(max(above, below))
