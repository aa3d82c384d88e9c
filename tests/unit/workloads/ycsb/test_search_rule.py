"""The rule of a search, on stores of known capacity."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median

import pytest

from density_study.workloads.base.evidence import SUSTAINED
from density_study.workloads.base.search import (
    Ended,
    LatencyLimit,
    Next,
    Probe,
    Search,
    answer_of,
    next_probe,
)

LIMIT_MS = 20.0
RATE = Search(limits=(LatencyLimit(operation="READ", percentile=99, ms=LIMIT_MS),), duration_s=30)
THREADS = Search(gain_percent=5, start_threads=1, duration_s=30)
CAPACITIES = (37.0, 450.0, 1300.0, 9_999.0, 64_321.0)


def token_bucket(
    capacity: float, noise: float = 0.0, seed: int = 0, every_s: float = 1.0
) -> Callable[[Next], bool]:
    """Judges a probe of an open-loop client on a store that serves `capacity` operations per second, which
    varies every `every_s`: a queue in steps of 10 ms, its p99 wait and its rate."""
    rng = Random(seed)

    def kept(probe: Next) -> bool:
        backlog, served, waits_ms = 0.0, 0.0, []
        steps = round(30 * probe.stretch * 100)
        serves = capacity
        for step in range(steps):
            if step % round(100 * every_s) == 0:
                serves = capacity * max(0.0, rng.gauss(1, noise))
            backlog += probe.load / 100
            done = min(backlog, serves / 100)
            backlog, served = backlog - done, served + done
            waits_ms.append(1000 * backlog / max(serves, 1e-9))
        p99_ms = sorted(waits_ms)[int(0.99 * steps)]
        return served / (steps / 100) >= SUSTAINED * probe.load and p99_ms <= LIMIT_MS

    return kept


def carried_out(
    search: Search, first: float, kept: Callable[[Next], bool | None]
) -> tuple[Ended, list[Probe]]:
    probes: list[Probe] = []
    while isinstance(found := next_probe(search, probes, first), Next):
        probes.append(
            Probe(
                number=len(probes) + 1,
                load=found.load,
                stretch=found.stretch,
                because=found.because,
                kept=kept(found),
            )
        )
        assert len(probes) <= search.probes
    return found, probes


@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.parametrize("start", [0.1, 0.25, 0.9, 3.0])
def test_the_capacity_is_found_within_five_percent_in_twelve_probes(
    capacity: float, start: float
) -> None:
    ended, probes = carried_out(RATE, start * capacity, token_bucket(capacity))
    assert ended.exact
    assert ended.answer is not None
    assert 0.95 * capacity - 1 <= ended.answer.load <= 1.02 * capacity + 1
    assert len(probes) <= 12


@pytest.mark.thorough
@pytest.mark.parametrize("capacity", [450.0, pytest.param(9_999.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("every_s", "near"), [pytest.param(0.1, 40, marks=pytest.mark.slow), (1.0, 34)]
)
def test_noise_of_ten_percent_moves_it_by_five_at_most(
    capacity: float, every_s: float, near: int
) -> None:
    """Noise lowers the answer itself: a slow second makes operations wait. Around their median, all of 40
    answers lie within 5 % where the capacity varies every tenth of a second. Where it varies for whole
    seconds, and one in a hundred decides a p99, at least 34 do."""
    loads = []
    for seed in range(40):
        store = token_bucket(capacity, 0.1, seed, every_s)
        ended, _ = carried_out(RATE, capacity / 4, store)
        assert ended.answer is not None
        loads.append(ended.answer.load)
    assert 0.75 * capacity < median(loads) <= capacity
    apart = [abs(load / median(loads) - 1) for load in loads]
    assert sum(one <= 0.05 for one in apart) >= near
    assert max(apart) < 0.15


def test_loads_double_until_one_is_rejected_then_close_in() -> None:
    ended, probes = carried_out(RATE, 100, lambda probe: probe.load <= 730)
    assert [probe.load for probe in probes] == [100, 200, 400, 800, 566, 673, 734, 703, 718]
    assert [probe.stretch for probe in probes] == [1, 1, 1, 1, 1.5, 1.5, 1.5, 2, 2]
    assert ended.exact
    assert (ended.answer, ended.rejected) == (probes[-1], 734)


def test_a_load_that_was_kept_by_chance_is_measured_again_for_longer() -> None:
    """Kept at first, rejected in the longer window: the answer is below it."""
    seen: list[float] = []

    def kept(probe: Next) -> bool:
        seen.append(probe.load)
        return probe.load < 390 or (probe.load == 400 and probe.stretch == 1)

    ended, _ = carried_out(RATE, 100, kept)
    assert seen.count(400) == 2
    assert ended.answer is not None
    assert ended.answer.load < 390


def test_a_load_that_a_first_window_rejected_is_measured_again_for_longer() -> None:
    """Servers that have not warmed up reject what they later serve: 400 and more, up to 450."""
    seen: list[tuple[float, float]] = []

    def kept(probe: Next) -> bool:
        seen.append((probe.load, probe.stretch))
        return probe.load <= (390 if probe.stretch == 1 else 450)

    ended, _ = carried_out(RATE, 100, kept)
    assert seen[:3] == [(100, 1), (200, 1), (400, 1)]
    assert [load for load, _ in seen].count(400) == 2
    assert ended.exact and ended.answer is not None
    assert 430 <= ended.answer.load <= 450


def test_a_load_that_did_not_last_is_followed_by_one_close_below() -> None:
    """400 is kept until its queue has grown. 436 comes near it, so it is measured again."""
    ended, probes = carried_out(
        RATE, 100, lambda probe: probe.load <= (410 if probe.stretch == 1 else 390)
    )
    loads = [probe.load for probe in probes]
    assert loads == [100, 200, 400, 800, 566, 476, 436, 400, 364, 382, 391]
    assert probes[8].because == "a little below 400, which was not kept again"
    assert ended.exact and ended.answer is not None
    assert (ended.answer.load, ended.rejected) == (382, 391)


def test_without_a_kept_load_the_search_goes_down_and_says_when_nothing_is_left() -> None:
    ended, probes = carried_out(RATE, 4, lambda probe: False)
    assert [probe.load for probe in probes] == [4, 2, 1]
    assert ended == Ended(None, 1, True, "even 1 ops/s is rejected")


def test_a_probe_without_result_is_repeated_once() -> None:
    results = iter([True, None, True, None, None])
    ended, probes = carried_out(RATE, 100, lambda probe: next(results))
    assert [probe.load for probe in probes] == [100, 200, 200, 400, 400]
    assert ended.answer is None
    assert "no result" in ended.why


def test_the_last_probe_ends_the_search_with_what_it_found() -> None:
    search = RATE.model_copy(update={"probes": 5})
    ended, probes = carried_out(search, 100, lambda probe: probe.load <= 730)
    assert (ended.exact, ended.rejected) == (False, 800)
    assert ended.answer is not None
    assert ended.answer.load == 566
    assert "5 probes" in ended.why
    assert answer_of(search, probes[:4]).answer == probes[2], "of a run that was stopped"


def test_threads_are_doubled_until_they_gain_too_little() -> None:
    ended, probes = carried_out(THREADS, 1, lambda probe: probe.load <= 8)
    assert [probe.load for probe in probes] == [1, 2, 4, 8, 16]
    assert ended.answer == probes[3]
