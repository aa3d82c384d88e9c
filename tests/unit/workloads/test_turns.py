"""Turns of a duet, and the time of a trial that takes turns."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from density_study.workloads.base.values import Turns
from density_study.workloads.planning.duet import drawn
from density_study.workloads.rows.raw.own_time import own_time
from density_study.workloads.rows.raw.trial_context import TrialFacts

TURNS = ((10.0, 14.0), (18.0, 22.0), (30.0, 34.0))
FACTS = TrialFacts(window=(7.0, 22.0), turns=TURNS, period_s=1.0)
"""Its clients warmed up for 3 s before the first turn."""


def turns(own_s: float, turn_s: float, seed: int) -> tuple[Turns, Turns]:
    return drawn(("a", "b"), own_s, turn_s, Random(seed))


@given(st.floats(2, 2000), st.floats(2, 60), st.integers(0, 99))
def test_both_share_the_time_equally_and_never_work_at_once(
    own_s: float, turn_s: float, seed: int
) -> None:
    first, second = turns(own_s, turn_s, seed)
    for one in (first, second):
        assert sum(end - begin for begin, end in one.own) == pytest.approx(
            own_s, abs=0.01 * len(one.own)
        )
    every = sorted((*first.own, *second.own))
    assert every[0][0] == 0
    assert every[-1][1] == pytest.approx(2 * own_s, abs=0.001)
    assert all(end == begin for (_, end), (begin, _) in pairwise(every))
    length_s = own_s / max(1, round(own_s / turn_s))
    assert all(end - begin < 2 * length_s + 0.01 for begin, end in every)
    assert (first.beside, second.beside) == ("b", "a")


def test_their_order_is_random_and_drawn_by_the_seed() -> None:
    assert turns(100, 4, 1) == turns(100, 4, 1) != turns(100, 4, 2)
    begins = [turns(100, 4, seed)[0].own[0][0] for seed in range(200)]
    assert 60 < sum(begin == 0 for begin in begins) < 140


def test_turns_since_a_moment() -> None:
    one = Turns(beside="b", own=((0.0, 4.0), (8.0, 12.0)))
    assert one.since(100.0).own == ((100.0, 104.0), (108.0, 112.0))


def test_time_stands_still_in_turns_of_others() -> None:
    moments = np.array([3.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 26.0, 30.0, 34.0, 40.0])
    own = own_time(moments, 22.0, TURNS)
    assert own.tolist() == [3, 10, 12, 14, 14, 14, 16, 18, 18, 18, 22, 28]


def test_before_its_first_turn_no_time_passes() -> None:
    own = own_time(np.array([9.0, 10.0, 13.0, 14.0, 15.0, 19.0, np.nan]), 14.0, ((14.0, 18.0),))
    assert own[:-1].tolist() == [9, 10, 10, 10, 11, 15]
    assert np.isnan(own[-1])


def test_before_the_first_turn_clients_warm_up() -> None:
    own = FACTS.at_s(np.array([7.0, 9.0, 10.0, 12.0, 16.0, 34.0]))
    assert own.tolist() == [7, 9, 10, 12, 14, 22]


def test_after_its_last_turn_time_waits_for_the_end_of_the_others() -> None:
    own = own_time(np.array([13.0, 14.0, 16.0, 18.0, 19.0]), 14.0, ((10.0, 14.0),))
    assert own.tolist() == [13, 14, 14, 14, 15]


def test_a_sample_that_reaches_into_another_turn_has_no_length() -> None:
    until_s = np.array([11.0, 14.0, 15.0, 18.5, 19.0, 26.0])
    since, until = FACTS.spans_s(until_s, 1.0)
    assert (until - since).tolist() == [1, 1, 0, 0, 1, 0]
    since, until = TrialFacts(window=(10.0, 22.0)).spans_s(until_s, 1.0)
    assert (until - since).tolist() == [1] * 6


def test_the_files_clock_is_corrected_first() -> None:
    facts = replace(FACTS, clock_offset_s=100.0)
    assert facts.moment_s(119.0) == 15.0
    assert TrialFacts(window=(10.0, 22.0), clock_offset_s=100.0).moment_s(119.0) == 19.0
