"""Decisions with known truth: seldom too few hosts, seldom many too many. Large: tests/bench."""

from __future__ import annotations

import numpy as np

from tests.support.decisions import decisions
from tests.support.populations import truths


def test_too_few_hosts_are_rare_and_the_excess_is_small() -> None:
    found = decisions(truths(20, 3), (2, 4, 6, 8, 12, 16), repetitions=5, questions=10, seed=5)
    assert len(found) == 200
    assert np.mean([one.too_few for one in found]) <= 0.02
    assert np.mean([one.excess_allowed for one in found]) >= 0.88, (
        "a band for 200; the bench holds 0.9"
    )
    exact = np.mean([one.chosen == one.needed for one in found])
    best = np.mean([one.best == one.needed for one in found])
    assert 0.4 <= exact <= best <= 0.95
