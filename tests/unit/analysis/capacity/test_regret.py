"""The count of least regret, compared with a plain search and at its edges."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from density_study.analysis.capacity.sizing.candidate import A_HOST, SURE, TOO_MUCH, least_regret


def regret(need: np.ndarray, hosts: float) -> float:
    each = [
        float(n > hosts) + TOO_MUCH * (hosts - n > max(1, n / 10)) + A_HOST * max(0.0, hosts - n)
        for n in need
    ]
    return float(np.mean(each))


@given(st.lists(st.integers(2, 60), min_size=5, max_size=40))
def test_no_other_count_has_less_regret(need: list[int]) -> None:
    needs = np.array(need, dtype=float)
    least = float(np.quantile(needs, SURE, method="higher"))
    chosen = least_regret(needs)
    assert chosen is not None and chosen >= least
    others = [regret(needs, hosts) for hosts in set(needs) if hosts >= least]
    assert regret(needs, chosen) <= min(others) + 1e-9


def test_a_near_count_is_chosen_where_it_is_safe_and_a_far_one_is_not() -> None:
    assert least_regret(np.array([4.0] * 95 + [5.0] * 5)) == 5
    assert least_regret(np.array([4.0] * 98 + [40.0] * 2)) == 4
    assert least_regret(np.array([4.0] * 95 + [np.inf] * 5)) == 4
    assert least_regret(np.array([4.0] * 80 + [np.inf] * 20)) is None
