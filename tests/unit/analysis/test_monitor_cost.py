"""Monitor overhead: adjacent pairs in the plan, and their ratio."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from density_study.analysis.summarise.monitoring_overhead import overheads, sentence
from density_study.analysis.summary.summary import MonitoringOverhead
from density_study.dags.cli.plan_page import _what as what
from density_study.workloads.planning.plan import Plan, Step
from tests.support.drafts import plan


def planned(pairs: int, **overrides: Any) -> Plan:
    return plan(**{"monitor.overhead_trials": pairs, **overrides})


def parts(plan: Plan) -> list[Step]:
    return [step for step in plan.trials if step.overhead_pair is not None]


def test_without_pairs_the_plan_is_unchanged() -> None:
    assert planned(0) == plan()
    assert parts(plan()) == []


def test_each_pair_runs_one_test_case_on_one_build_with_and_without_monitors() -> None:
    steps = parts(planned(5))
    assert len(steps) == 10 and len({(s.test_case and s.test_case.id) for s in steps}) == 1
    for first, second in zip(steps[::2], steps[1::2], strict=True):
        assert second.index == first.index + 1  # nothing between them
        assert (first.build, first.overhead_pair) == (second.build, second.overhead_pair)
        assert {first.monitored, second.monitored} == {True, False}
    assert sorted({s.overhead_pair or 0 for s in steps}) == [1, 2, 3, 4, 5]


def test_pairs_rotate_over_builds_and_keep_the_studys_order() -> None:
    paired = planned(5)
    by_build = [len([s for s in parts(paired) if s.build == build]) // 2 for build in paired.builds]
    assert by_build == [3, 2]
    alone = [(s.build, s.test_case) for s in plan().trials]
    assert [(s.build, s.test_case) for s in paired.trials if s.overhead_pair is None] == alone


def test_the_order_within_pairs_alternates() -> None:
    assert len({step.monitored for step in parts(planned(12))[::2]}) == 2


def test_the_test_case_is_the_shortest_ycsb_run() -> None:
    (part, _) = parts(planned(1))
    assert part.test_case is not None and part.test_case.id == "ycsb-read45-insert55-r100000-t8"
    (part, _) = parts(planned(1, **{"workloads": [{"testdfsio": {
        "modes": ["write", "append"], "files": 2, "file_size": "1 MiB"}}]}))  # fmt: skip
    assert part.test_case is not None and part.test_case.id == "testdfsio-write-n2"


def test_overhead_trial_names_are_distinct() -> None:
    names = [step.trial for step in planned(7).trials]
    assert len(set(names)) == len(names)
    assert sum("-cost" in (name or "") for name in names) == 14


def test_the_plan_labels_each_trial() -> None:
    words = {what(step) for step in parts(planned(1))}
    test_case = "ycsb-read45-insert55-r100000-t8"
    assert words == {
        f"{test_case}, overhead pair 1, with monitors",
        f"{test_case}, overhead pair 1, without monitors",
    }


def monitoring_overhead(*tables: Any) -> MonitoringOverhead | None:
    return next(iter(overheads(*tables)), None)


def tables(
    rates: dict[int, tuple[float | None, float | None]], of: dict[int, str] | None = None
) -> tuple[Any, Any, Any]:
    """trials, verdicts, metrics of pairs: number -> (rate with, rate without); None is invalid. of: the
    device that a pair is about."""
    devices = of or {}
    rows = [
        (f"t{pair}{on}", pair, on, rate)
        for pair, both in rates.items()
        for on, rate in zip((True, False), both, strict=True)
    ]
    trials = pd.DataFrame(
        [{"trial": t, "workload": "ycsb", "test_case": "s", "overhead_pair": float(p),
          "overhead_of": devices.get(p), "overhead_on": on}
         for t, p, on, _ in rows]
        + [{"trial": "study", "workload": "ycsb", "test_case": "s", "overhead_pair": None,
            "overhead_of": None, "overhead_on": None}]
    )  # fmt: skip
    verdicts = pd.DataFrame(
        {"verdict": {t: "invalid" if rate is None else "valid" for t, _, _, rate in rows}}
    )
    metrics = pd.DataFrame(
        [{"trial": t, "name": "throughput", "value": rate or 1.0} for t, _, _, rate in rows]
        + [{"trial": "study", "name": "throughput", "value": 5000.0}]
    )
    return trials, verdicts, metrics


def test_the_ratio_is_the_geometric_mean_of_the_pairs() -> None:
    cost = monitoring_overhead(*tables({1: (98.0, 100.0), 2: (50.0, 40.0), 3: (None, 9.0)}))
    assert cost is not None
    assert cost.points == pytest.approx((0.98, 1.25))
    assert cost.ratio == pytest.approx((0.98 * 1.25) ** 0.5)
    assert (cost.n, cost.pairs, cost.low) == (2, 3, None)
    assert "n = 2 of 3 pairs" in sentence(cost) and "too few pairs for an interval" in sentence(
        cost
    )


def test_five_pairs_give_an_interval_around_the_ratio() -> None:
    ratios = (0.97, 0.99, 1.0, 0.98, 0.96)
    cost = monitoring_overhead(
        *tables({n: (100 * r, 100.0) for n, r in enumerate(ratios, start=1)})
    )
    assert cost is not None and cost.low and cost.high and cost.ratio
    assert 0.95 < cost.low < cost.ratio < cost.high < 1.01
    assert "95 % interval" in sentence(cost)


def test_each_device_has_a_ratio_of_its_own() -> None:
    rates: Any = {1: (90.0, 100.0), 2: (80.0, 100.0), 3: (99.0, 100.0), 4: (None, 9.0)}
    found = overheads(*tables(rates, {2: "jmx", 3: "gc", 4: "disks"}))
    assert [(cost.device, cost.ratio and round(cost.ratio, 3)) for cost in found] == [
        (None, 0.9), ("jmx", 0.8), ("gc", 0.99), ("disks", None),
    ]  # fmt: skip
    assert sentence(found[1]).startswith(
        "Overhead of the device jmx: with it, s ran at 0.800x its rate with only the default monitors"
    )
    assert "unknown" in sentence(found[3])


def test_devices_have_pairs_after_those_of_all_monitors() -> None:
    paired = planned(2, **{"monitor.also": ["network", "gc"]})
    steps = parts(paired)
    found = {
        (s.overhead_pair, s.overhead_of): {
            t.devices for t in steps if t.overhead_pair == s.overhead_pair
        }
        for s in steps
    }
    assert found == {
        (1, None): {None}, (2, None): {None},
        (3, "network"): {("network",), ()}, (4, "network"): {("network",), ()},
        (5, "gc"): {("gc",), ()}, (6, "gc"): {("gc",), ()},
    }  # fmt: skip
    assert all(step.monitored for step in steps if step.overhead_of)
    alone = [(s.build, s.test_case) for s in plan().trials]
    assert [(s.build, s.test_case) for s in paired.trials if s.overhead_pair is None] == alone
    words = {what(step) for step in steps if step.overhead_pair == 5}
    test_case = "ycsb-read45-insert55-r100000-t8"
    assert words == {f"{test_case}, overhead pair 5, {how} gc" for how in ("with", "without")}


def test_no_valid_pair_is_unknown_and_no_pair_gives_no_result() -> None:
    cost = monitoring_overhead(*tables({1: (None, 10.0)}))
    assert cost is not None and cost.ratio is None and "unknown" in sentence(cost)
    assert monitoring_overhead(*tables({})) is None
