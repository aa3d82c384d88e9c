"""How fast the machine itself was: the canary's blocks around a trial, and the run's other trials."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, log, sqrt
from typing import Any

import pytest

from density_study.analysis.comparison.compare import compare
from density_study.analysis.comparison.machines import machine_speeds
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.analysis.validity.judge import judge
from density_study.dags.stages.comparison import format_change
from density_study.workloads.monitors.facts.canary import OF_OTHER_TRIALS, apart
from tests.support.records.device_rows import aggregated
from tests.support.summary_factory import one_block
from tests.support.variants import ycsb


def test_blocks_around_the_window_and_rounds_within_it_are_apart() -> None:
    blocks = [(-1.0, 400.0), (-0.5, 900.0), (3.0, 5000.0), (4.0, 5000.0), (10.5, 600.0)]
    samples = [
        (at_s, "host", {"compute_us": us, "memory_us": us / 4, "touch_us": us / 2})
        for at_s, us in blocks
    ]
    found = {row["work"]: row for row in aggregated("canary", samples)["machine_speed"]}
    logs = [log(400), log(900), log(600)]
    mean = sum(logs) / 3
    error = sqrt(sum((one - mean) ** 2 for one in logs) / 2 / 3)
    moved = log(600) - (log(400) + log(900)) / 2
    assert found["compute"] == {
        "trial": "t", "host": "h", "work": "compute", "blocks": 3,
        "around_us": pytest.approx(exp(mean)), "around_error": pytest.approx(error),
        "around_moved": pytest.approx(moved),
        "within_us": pytest.approx(5000.0),
    }  # fmt: skip
    assert found["memory"]["around_us"] == pytest.approx(exp(mean) / 4)
    assert found["touch"]["around_us"] == pytest.approx(exp(mean) / 2)
    assert (found["wake"]["around_us"], found["wake"]["blocks"]) == (None, 0)  # of older runs


def test_without_a_sample_around_the_window_the_speed_is_unknown() -> None:
    samples = [(3.0, "host", {"compute_us": 400.0})]
    found = {row["work"]: row for row in aggregated("canary", samples)["machine_speed"]}
    assert (found["compute"]["around_us"], found["compute"]["blocks"]) == (None, 0)
    assert found["memory"]["within_us"] is None


def speeds(
    times_us: Sequence[float | None], error: float = 0.005, **changes: Any
) -> list[dict[str, Any]]:
    """A row of `machine_speed` for each trial t0, t1, ..."""
    row = {"host": "h", "work": "compute", "around_error": error, "around_moved": 0.0, "blocks": 10}
    return [{**row, "trial": f"t{n}", "around_us": us, **changes} for n, us in enumerate(times_us)]


def test_a_slower_machine_is_named_and_an_idle_one_is_not() -> None:
    rng = random.Random(1)
    quiet = [400 * exp(rng.gauss(0, 0.005)) for _ in range(9)]
    found = apart(speeds([*quiet, 480.0]) + speeds([*quiet, 401.0], work="memory"))
    reasons = {name: judge(facts).reasons for name, facts in found.items()}
    assert [name for name, why in reasons.items() if why] == ["t9"]
    (reason,) = reasons["t9"]
    assert reason.startswith("machine: fixed work around this trial took 1.20 times as long")
    assert reason.endswith("(computation on h)")
    assert judge(found["t9"]).verdict == "valid"
    for work, words in (("wake", "wake-ups between cores"), ("touch", "first touch of memory")):
        (reason,) = judge(apart(speeds([*quiet, 480.0], work=work))["t9"]).reasons
        assert reason.endswith(f"({words} on h)")


def test_a_faster_machine_is_another_one_too() -> None:
    assert judge(apart(speeds([400.0, 400.0, 400.0, 300.0]))["t3"]).flags


def test_the_noise_of_a_trial_is_its_own() -> None:
    assert not judge(apart(speeds([400.0, 400.0, 400.0, 480.0], error=0.05))["t3"]).flags


@pytest.mark.parametrize(("noise", "trials"), [(0.03, 3), (0.06, 6), (0.1, 12), (0.15, 24)])
def test_bursts_that_vary_are_noise_however_alike_their_blocks_are(
    noise: float, trials: int
) -> None:
    """A neighbour comes and goes, and stays longer than a burst: at most 1 % of trials are flagged."""
    rng, flagged = random.Random(2), 0
    for _ in range(2000 // trials):
        rows = []
        for number in range(trials):
            first, last = rng.gauss(0, noise), rng.gauss(0, noise)
            (row,) = speeds([400 * exp((first + last) / 2)], around_moved=last - first)
            rows.append(row | {"trial": f"t{number}"})
        flagged += sum(bool(judge(facts).flags) for facts in apart(rows).values())
    assert flagged <= 20


def test_one_trial_in_which_the_machine_changes_hides_no_slow_one() -> None:
    rows = speeds([400.0] * 10 + [560.0, 800.0], around_moved=0.01)
    rows[10]["around_moved"] = log(2)  # half as fast from its middle on
    flagged = [trial for trial, facts in apart(rows).items() if judge(facts).flags]
    assert flagged == ["t10", "t11"]


@pytest.mark.parametrize(
    "rows",
    [
        speeds([400.0, 480.0]),
        speeds([400.0, 400.0, None, 480.0], blocks=5),
        speeds([None, None, None, None], blocks=0),
    ],
)
def test_too_little_tells_nothing(rows: list[dict[str, Any]]) -> None:
    assert set(map(str, apart(rows).values())) == {str(dict.fromkeys(OF_OTHER_TRIALS))}


def watched(ops_s: float, **times_us: float) -> TestCaseSummary:
    """A test case with the time of the computation on each host; copies take a tenth of it."""
    entry = ycsb("load", ops_s=[ops_s])
    told = [
        Metric(name=name, unit="us", value=us / part, scope=f"host:{host}", points=(us / part,))
        for host, us in times_us.items()
        for name, part in (
            ("canary_compute", 1),
            ("canary_memory", 10),
            ("canary_wake", 8),
            ("canary_touch", 1),
        )
    ]
    return entry.model_copy(update={"metrics": (*entry.metrics, *told)})


def test_a_comparison_of_runs_shows_the_machine_beside_the_rate() -> None:
    runs = [
        one_block("nightly").model_copy(
            update={"run": run, "test_cases": (entry,), "trials": (), "findings": ()}
        )
        for run, entry in (("a", watched(100, h=400)), ("b", watched(80, h=500)))
    ]
    (change,) = compare(runs[:1], runs[1], 0.05).changes
    speeds_seen = change.computing, change.memory, change.waking, change.touching
    assert speeds_seen == pytest.approx((0.8,) * 4)
    assert format_change(change).endswith(
        "; machine 0.80x, its memory 0.80x, its wake-ups 0.80x, its first touch of memory 0.80x"
    )


def test_speeds_are_of_machines_that_all_runs_watched() -> None:
    before = [watched(1, h=400, g=100), watched(1, h=400, g=100, f=7)]
    assert machine_speeds(before, watched(1, h=800, g=100))["computing"] == pytest.approx(sqrt(0.5))
    assert set(machine_speeds(before, watched(1, e=5)).values()) == {None}
