"""Decisions with known truth: rarely too few hosts, rarely far too many. Large: tests/bench."""

from __future__ import annotations

import numpy as np

from tests.support.capacity.decisions import decisions
from tests.support.capacity.populations import truths


def test_too_few_hosts_are_rare_and_the_excess_is_small() -> None:
    outcomes = decisions(truths(20, 3), (2, 4, 6, 8, 12, 16), repetitions=5, questions=10, seed=5)
    assert len(outcomes) == 200
    assert np.mean([outcome.too_few for outcome in outcomes]) <= 0.02
    assert np.mean([outcome.excess_allowed for outcome in outcomes]) >= 0.88, (
        "a band for 200; the bench holds 0.9"
    )
    exact = np.mean([outcome.chosen == outcome.needed for outcome in outcomes])
    best = np.mean([outcome.best == outcome.needed for outcome in outcomes])
    assert 0.4 <= exact <= best <= 0.95
