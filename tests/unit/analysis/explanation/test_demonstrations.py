"""Five disturbances, of which reports once had no word, beside charts in which they jumped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from density_study.analysis.explanation.course import Course, Place, Series
from density_study.analysis.explanation.explain import Explained, explain, of_group
from density_study.analysis.explanation.explain import sentence as of_spell
from tests.unit.analysis.explanation.healthy_cluster import FIRST, SECONDS, Cluster, slowed

SPELL = slice(30, 38)
WORKER, SERVER = "w1", "w1/regionserver"


class Demonstration(NamedTuple):
    """What its places are set to in the slow seconds, the first causes, and what the sentence says."""

    values: Mapping[Place, float]
    causes: tuple[str, ...]
    words: tuple[str, ...]


DEMONSTRATIONS = {
    "updates are blocked, calls wait for 900 ms": Demonstration(
        {Place("updates_blocked", WORKER, SERVER): 100, Place("queue_time", WORKER, SERVER): 900},
        ("updates-blocked",),
        ("w1/regionserver on w1 100 %", "w1/regionserver on w1 900 ms"),
    ),
    "a card drops packets, a core is full of softirq": Demonstration(
        {
            Place("dropped_share", WORKER, "cpu2"): 20,
            Place("card_drops", WORKER, "eth0"): 5_000,
            Place("softirq", WORKER, "cpu2"): 95,
        },
        ("packets-dropped", "softirq"),
        ("cpu2 on w1 95.0 %", "eth0 on w1 5,000"),
    ),
    "tasks wait for a core, and for memory": Demonstration(
        {
            Place("cpu_stall", WORKER): 85,
            Place("run_delay", WORKER): 400,
            Place("memory_stall", WORKER): 60,
        },
        ("memory-stall", "core-wait"),
        ("some task waited for a core of w1 85.0 %", "of w1 60.0 %"),
    ),
    "the cache misses, regions are elsewhere": Demonstration(
        {Place("cache_hits", WORKER, SERVER): 40, Place("locality", WORKER, SERVER): 5},
        ("remote-regions", "cache-misses"),
        ("w1/regionserver on w1 5.00 %", "w1/regionserver on w1 40.0 %"),
    ),
}


def _healthy(seed: int) -> Course:
    """Without slow seconds of its own."""
    rng = np.random.default_rng(seed)
    made = Cluster.of(3, rng).trial(rng)
    rate = 3000 * rng.lognormal(0, 0.03, SECONDS)
    return replace(made, rate=rate, worst_ms=40 * rng.lognormal(0, 0.1, SECONDS))


def _with(course: Course, values: Mapping[Place, float], seconds: slice) -> Course:
    sampled = course.series.values.copy()
    for place, value in values.items():
        sampled[course.series.places.index(place), seconds] = value
    return replace(course, series=Series(course.series.places, sampled))


def _explained(course: Course) -> Explained:
    (made,) = explain({"t": course})
    return made


@pytest.mark.parametrize("name", DEMONSTRATIONS)
@pytest.mark.parametrize("seed", range(5))
def test_what_jumps_in_slow_seconds_is_named(name: str, seed: int) -> None:
    demonstration = DEMONSTRATIONS[name]
    made = _explained(slowed(_with(_healthy(seed), demonstration.values, SPELL), SPELL, 0.3))
    (found,) = [one for one in made.spells if one[0].first <= FIRST + SPELL.start <= one[0].last]
    text = of_spell(made.course, found[0], made.usual, found[1])
    first = [cause.rule.id for cause in found[1]][: len(demonstration.causes)]
    assert first == [*demonstration.causes], text
    assert all(words in text for words in demonstration.words), text


@pytest.mark.parametrize("seed", range(5))
def test_a_disk_that_is_slower_than_its_peers_throughout_is_named(seed: int) -> None:
    """No second of the trial is slower than the others: only its peers show it."""
    healthy = _healthy(seed)
    disk = Place("read_await", WORKER, "sd1")
    usual = float(np.median(healthy.series.values[healthy.series.places.index(disk)]))
    rows = [*of_group([_explained(_with(healthy, {disk: 40 * usual}, slice(None)))])]
    assert rows and rows[0]["cause"] == "slow-disk" and rows[0]["lasting"], rows
    assert "all of the trial" in rows[0]["sentence"] and "sd1 on w1" in rows[0]["sentence"]


@pytest.mark.parametrize("name", DEMONSTRATIONS)
def test_slow_seconds_in_which_it_does_not_move_do_not_name_it(name: str) -> None:
    made = _explained(slowed(_healthy(0), SPELL, 0.3))
    (found,) = [one for one in made.spells if one[0].first <= FIRST + SPELL.start <= one[0].last]
    assert not {*DEMONSTRATIONS[name].causes} & {cause.rule.id for cause in found[1]}
    assert "moved more than in other seconds" in of_spell(made.course, found[0], made.usual, ())


@pytest.mark.parametrize("every_s, lasts", ((SECONDS, False), (2, True)))
def test_what_happens_in_one_second_does_not_last(every_s: int, lasts: bool) -> None:
    """Regions that move in one second are a whole trial's mean of 0.2 moves a second, and are over then."""
    moved = _with(
        _healthy(0), {Place("region_moves", "m", "m/hmaster"): 12.0}, slice(0, None, every_s)
    )
    trials = {str(n): _healthy(0) for n in range(5)}
    trials["moved"] = slowed(moved, slice(None), 0.6)
    named = [row["cause"] for row in of_group(explain(trials)) if row["lasting"]]
    assert ("regions-in-transition" in named) == lasts


def test_flushes_in_a_part_of_a_trial_are_named_against_trials_without_one() -> None:
    """Each is too short, and too little slower than other seconds, for a spell of slow seconds."""
    flushing = {Place("flushing", WORKER, SERVER): 100.0}
    trials = {
        str(n): _with(_healthy(0), dict.fromkeys(flushing, 0.0), slice(None)) for n in range(5)
    }
    trials["flushed"] = slowed(_with(trials["0"], flushing, slice(0, None, 4)), slice(None), 0.6)
    (row,) = of_group(explain(trials))
    assert (row["trial"], row["cause"], row["lasting"]) == ("flushed", "flush", True)


def test_a_region_that_moves_is_flushed_and_the_move_is_named() -> None:
    values = {
        Place("flushing", WORKER, SERVER): 100.0,
        Place("regions_moved", WORKER, SERVER): 3.0,
        Place("region_moves", "m", "m/hmaster"): 3.0,
    }
    healthy = _with(_healthy(0), dict.fromkeys(values, 0.0), slice(None))
    made = _explained(slowed(_with(healthy, values, SPELL), SPELL, 0.3))
    ((_, found),) = made.spells
    assert [cause.rule.id for cause in found] == ["regions-in-transition"]
