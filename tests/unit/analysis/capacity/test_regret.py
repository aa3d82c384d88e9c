"""The count of least regret, by the slow way and at its edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from analysis.capacity.sizing.candidate import A_HOST, SURE, TOO_MUCH, least_regret


def regret(need: np.ndarray, hosts: float) -> float:
    each = [
        float(n > hosts) + TOO_MUCH * (hosts - n > max(1, n / 10)) + A_HOST * max(0.0, hosts - n)
        for n in need
    ]
    return float(np.mean(each))


@given(st.lists(st.integers(2, 60), min_size=5, max_size=40))
def test_none_is_better(need: list[int]) -> None:
    found = np.array(need, dtype=float)
    least = float(np.quantile(found, SURE, method="higher"))
    chosen = least_regret(found)
    assert chosen is not None and chosen >= least
    others = [regret(found, hosts) for hosts in set(found) if hosts >= least]
    assert regret(found, chosen) <= min(others) + 1e-9


def test_a_neighbour_is_taken_where_it_is_safe_and_a_far_count_is_not() -> None:
    assert least_regret(np.array([4.0] * 95 + [5.0] * 5)) == 5
    assert least_regret(np.array([4.0] * 98 + [40.0] * 2)) == 4
    assert least_regret(np.array([4.0] * 95 + [np.inf] * 5)) == 4
    assert least_regret(np.array([4.0] * 80 + [np.inf] * 20)) is None
