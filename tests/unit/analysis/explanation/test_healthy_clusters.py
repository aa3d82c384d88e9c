"""On made-up clusters of 2 to 30 workers: a healthy trial names nothing, each rule's cause is named first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from density_study.analysis.explanation.course import Course, Place, Series
from density_study.analysis.explanation.explain import explain, of_group
from density_study.analysis.explanation.rules import Limit, Rule, Sign, rules
from density_study.analysis.explanation.slow import slow_spells
from tests.unit.analysis.explanation.healthy_cluster import FIRST, PERCENT, SECONDS, Cluster, slowed

pytestmark = pytest.mark.thorough
WORKERS = (2, 3, 5, 10, 30)
TRIALS = 6
"""Of a test case."""
SPELL = slice(30, 34)
STRONG = 4.0
"""Times the least that a rule asks for."""
RIGHT = 0.85
"""Of the causes. Those that are missed come and go in healthy trials as well, as strongly."""


def names(trials: Sequence[Course]) -> list[list[str]]:
    """Of each trial, the first name first; without what is common to most of them."""
    alike = explain({str(n): course for n, course in enumerate(trials)})
    found: list[list[str]] = [[] for _ in trials]
    for row in of_group(alike):
        if not row["common"]:
            found[int(row["trial"])].append(row["cause"])
    return found


@pytest.mark.slow
def test_healthy_trials_name_nothing() -> None:
    wrong: Counter[str] = Counter()
    count = slow = 0
    for workers, clusters in zip(WORKERS, (6, 6, 5, 4, 2), strict=True):
        for seed in range(clusters):
            rng = np.random.default_rng((workers, seed))
            cluster = Cluster.of(workers, rng)
            trials = [cluster.trial(rng) for _ in range(TRIALS)]
            count += len(trials)
            slow += sum(bool(slow_spells(course)) for course in trials)
            wrong.update(name for found in names(trials) for name in found)
    assert slow > 0.3 * count  # there is something to be explained
    assert wrong.total() <= count / 20, wrong


def test_a_single_healthy_trial_names_nothing() -> None:
    """No other trial says what is usual, only its other seconds and its equals."""
    wrong: Counter[str] = Counter()
    for workers in (3, 10):
        for seed in range(30):
            rng = np.random.default_rng((workers, seed, 1))
            wrong.update(names([Cluster.of(workers, rng).trial(rng)])[0])
    assert wrong.total() <= 60 / 20, wrong


def injected(course: Course, sign: Sign, limit: Limit, seconds: slice, place: Place) -> Course:
    """The place lies beyond the rule's limit in those seconds."""
    values = course.series.values.copy()
    row = course.series.places.index(place)
    usual = float(np.median(values[row]))
    if sign.down:
        values[row, seconds] = usual - min(
            STRONG * max(limit.least, usual * (1 - 1 / limit.factor)), usual
        )
    else:
        more = usual + STRONG * max(limit.least, usual * (limit.factor - 1), limit.floor - usual)
        values[row, seconds] = min(more, 100.0) if sign.series in PERCENT else more
    return replace(course, series=Series(course.series.places, values))


def causes_of(kind: str) -> list[tuple[Rule, Sign]]:
    return [
        (rule, sign)
        for rule in rules().values()
        for sign in rule.signs
        if getattr(sign, kind) is not None
    ]


@cache
def healthy(workers: int) -> tuple[Course, ...]:
    rng = np.random.default_rng((workers, 7))
    cluster = Cluster.of(workers, rng)
    return tuple(cluster.trial(rng) for _ in range(TRIALS))


def disturbed(kind: str, seconds: slice, to: float) -> Iterator[tuple[Rule, int, list[Course]]]:
    """Of each rule the trials of a cluster, of which the one of that number has its cause and is slow."""
    for number, (rule, sign) in enumerate(causes_of(kind)):
        alike, which = list(healthy(WORKERS[number % len(WORKERS)])), number % TRIALS
        rng = np.random.default_rng(number)
        places = [place for place in alike[0].series.places if place.quantity == sign.series]
        place = places[rng.integers(len(places))]
        made = injected(alike[which], sign, getattr(sign, kind), seconds, place)
        alike[which] = slowed(made, seconds, to)
        yield rule, which, alike


@pytest.mark.slow
def test_the_cause_of_slow_seconds_is_named_first() -> None:
    missed, count = [], 0
    for rule, which, trials in disturbed("spell", SPELL, 0.3):
        made = explain({str(n): course for n, course in enumerate(trials)})[which]
        core = FIRST + SPELL.start
        found = [causes for spell, causes in made.spells if spell.first <= core <= spell.last]
        named = [cause.rule.id for cause in (found[0] if found else ())]
        count += 1
        missed += [(rule.id, named)] if named[:1] != [rule.id] else []
    assert len(missed) <= (1 - RIGHT) * count, missed


@pytest.mark.slow
def test_the_cause_of_a_slow_trial_is_named_first() -> None:
    missed, count = [], 0
    for rule, which, trials in disturbed("trials", slice(0, SECONDS), 0.6):
        found = names(trials)[which]
        count += 1
        missed += [(rule.id, found)] if found[:1] != [rule.id] else []
    assert len(missed) <= (1 - RIGHT) * count, missed
