"""Slow seconds that no rule explains: what moved is told, whatever it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from density_study.analysis.explanation.course import Course, Happening, Place, Series
from density_study.analysis.explanation.explain import explain, sentence
from density_study.workloads.monitors.devices import devices

SECONDS = 60
SPELL = slice(30, 33)
NAMES = sorted({metric.name for device in devices().values() for metric in device.metrics})


def _told(
    series: Mapping[Place, Any], events: tuple[Happening, ...] = (), spell: slice = SPELL
) -> str:
    rng = np.random.default_rng(7)
    rate = 3000 * rng.lognormal(0, 0.02, SECONDS)
    rate[spell] = 300
    sampled = Series.of(series, SECONDS)
    course = Course(0, rate, np.full(SECONDS, 20.0), events, sampled)
    (made,) = explain({"t": course})
    spell, found = made.spells[0]
    return sentence(course, spell, made.usual, found)


def _jumps(usual: float, then: float) -> Any:
    values = np.full(SECONDS, usual)
    values[SPELL] = then
    return values


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_sampled_and_moves_is_told(name: str) -> None:
    text = _told({Place(name, "w1"): _jumps(2.0, 900.0), Place("iowait", "w2"): _jumps(1.0, 1.0)})
    assert "900" in text
    assert "none moved" not in text


def test_a_quantity_that_falls_has_moved() -> None:
    text = _told({Place("memstore", "w1", "rs-1"): _jumps(99.0, 40.0)})
    assert text.endswith(
        "No rule held. Moved most: memstores of rs-1 on w1 40.0 MiB, 99.0 MiB in the median second."
    )


def test_what_moved_most_comes_first() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(50.0, 10.0, SECONDS)
    noise[SPELL] = 95.0
    text = _told({Place("tcp_memory", "w1"): noise, Place("dirty", "w1"): _jumps(0.0, 60.0)})
    assert text.index("not yet being written") < text.index("buffers")


def test_a_pause_too_short_for_its_rule_is_told() -> None:
    pause = Happening("gc pause", "w1/regionserver-1", 30.1, 30.4, "Pause Full")
    assert "time in a gc pause of w1/regionserver-1 10.0 %" in _told({}, (pause,))


def test_where_nothing_moves_a_randomisation_test_says_so() -> None:
    steady = {Place("iowait", f"w{n}"): _jumps(1.0, 1.0) for n in range(3)}
    assert _told(steady).endswith(
        "No rule held; of 3 sampled series none moved more than in other seconds (p = 1, 55 random windows)."
    )


def test_of_many_series_the_one_that_jumps_most_is_chance() -> None:
    """Heavy tails: in nearly every window some series lies many deviations away."""
    rng = np.random.default_rng(3)
    many = {Place(f"series_{n}", "w1"): rng.pareto(0.8, SECONDS) for n in range(300)}
    assert "of 300 sampled series none moved more than in other seconds" in _told(many)
    jump = np.array(many[Place("series_7", "w1")])
    jump[SPELL] = 1e6
    assert "Moved most: series_7" in _told({**many, Place("series_7", "w1"): jump})


def test_few_other_seconds_can_tell_nothing() -> None:
    text = _told({Place("iowait", "w1"): np.full(SECONDS, 1.0)}, spell=slice(5, 30))
    assert text.endswith(
        "has not moved more than in other seconds, as far as so few other seconds can tell."
    )
