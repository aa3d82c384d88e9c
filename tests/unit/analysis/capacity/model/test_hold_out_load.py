"""CPU and latency of a held-out density, on curves with known truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.analysis.capacity.accuracy.goals import judged_under_load
from density_study.analysis.capacity.accuracy.hold_out_load import hold_out_load
from density_study.analysis.capacity.inputs.point import Point
from density_study.analysis.capacity.inputs.points import parse_points
from density_study.dags.cli import main

HEAD = "group,hosts,vms_per_host,disk_type,value,unit,repetition,load,percentile,operation\n"
RHOS = (0.3, 0.5, 0.7, 0.8, 0.9)


def sweep(
    slower: dict[int, float] | None = None, busier: dict[int, float] | None = None
) -> tuple[Point, ...]:
    return parse_points(text(slower, busier), "p")


def text(slower: dict[int, float] | None = None, busier: dict[int, float] | None = None) -> str:
    """One host, densities 1 to 6, a sweep of targets for each; some slower or busier than the
    others."""
    lines = []
    for v in (1, 2, 3, 4, 6):
        most = 1000 * v / (1 + 0.3 * (v - 1) + 0.01 * v * (v - 1))
        lines.append(f"q,1,{v},flash,{most},ops/s,1,,,")
        for rho in RHOS:
            latency = 10 * (1 + 0.5 * rho**2 / (1 - rho)) * (slower or {}).get(v, 1.0)
            percent = 4 + 70 * rho + (busier or {}).get(v, 0.0)
            lines.append(f"q,1,{v},flash,{latency},ms,1,{rho * most},95,READ")
            lines.append(f"q,1,{v},flash,{percent},percent,1,{rho * most},,")
    return HEAD + "\n".join(lines) + "\n"


def test_a_held_out_density_is_predicted_from_its_neighbours() -> None:
    misses = hold_out_load(sweep())
    assert {miss.vms_per_host for miss in misses} == {2, 3, 4}
    assert all(goal.outcome == "met" for goal in judged_under_load(misses))
    latencies = [miss for miss in misses if miss.quantity == "latency"]
    assert max(miss.miss for miss in latencies) < 0.1
    assert all(miss.load <= 0.9 * 1000 * 6 for miss in latencies)


def test_a_density_unlike_its_neighbours_misses_the_goals() -> None:
    goals = judged_under_load(hold_out_load(sweep(slower={3: 2.0}, busier={3: 20.0})))
    assert [goal.outcome for goal in goals] == ["missed", "missed"]


def test_the_held_out_density_does_not_enter_its_prediction() -> None:
    before = [m.predicted for m in hold_out_load(sweep()) if m.vms_per_host == 3]
    changed = hold_out_load(sweep(slower={3: 2.0}, busier={3: 20.0}))
    after = [m.predicted for m in changed if m.vms_per_host == 3]
    assert after == pytest.approx(before)


def test_without_points_under_load_there_is_no_result() -> None:
    points = tuple(p for p in sweep() if p.load is None)
    assert hold_out_load(points) == ()
    assert judged_under_load(()) == ()


def test_one_outlying_repetition_of_three_does_not_decide_a_level() -> None:
    level = sweep()
    slow = [
        p.model_copy(update={"value": 30 * p.value, "repetition": 2})
        if p.quantity == "latency" and p.vms_per_host == 3
        else p.model_copy(update={"repetition": 2})
        for p in level
    ]
    third = [p.model_copy(update={"repetition": 3}) for p in level]
    misses = hold_out_load((*level, *slow, *third))
    assert {miss.repetitions for miss in misses} == {3}
    assert all(goal.outcome == "met" for goal in judged_under_load(misses))


def test_loads_with_equal_shares_of_their_builds_are_repetitions_of_one_level() -> None:
    """Builds of one variant, the second one 10 % slower; each ran at shares of its own rate."""
    builds = [
        point.model_copy(
            update={
                "repetition": repetition,
                "value": point.value * (pace if point.quantity == "rate" else 1.0),
                "load": None if point.load is None else point.load * pace,
                "share": None if point.load is None else share,
            }
        )
        for repetition, pace in ((1, 1.0), (2, 0.9))
        for point, share in with_shares()
    ]
    misses = [miss for miss in hold_out_load(builds) if miss.quantity == "latency"]
    assert {miss.repetitions for miss in misses} == {2}
    assert max(miss.miss for miss in misses) < 0.15


def test_a_latency_that_follows_the_cpu_is_predicted_at_a_similar_cpu() -> None:
    """A machine with other users, more active at some loads than at others."""
    points = crowded(lambda busy: 0.002 * (1 + 0.3 * busy**2 / (1 - busy)))
    misses = hold_out_load(points)
    at_busy = [miss for miss in misses if miss.busy is not None]
    at_load = [miss for miss in misses if miss.quantity == "latency" and miss.busy is None]
    assert {miss.vms_per_host for miss in at_busy} == {2, 3, 4}
    assert max(miss.busy or 0.0 for miss in at_busy) <= 0.8
    assert max(miss.miss for miss in at_busy) < 0.05 < max(miss.miss for miss in at_load)
    names = {goal.name: goal.outcome for goal in judged_under_load(misses)}
    assert names["p95 up to rho 0.8, worst density"] == "met"
    assert names["p95 from the load, worst density"] == "printed"


def test_a_latency_that_follows_the_load_ignores_the_cpu() -> None:
    """Like disk latency: the CPU is not the bottleneck and predicts nothing."""
    points = [
        point.model_copy(update={"busy": 0.2 + 0.1 * (place % 3)})
        if point.quantity == "latency"
        else point
        for place, point in enumerate(sweep())
    ]
    misses = hold_out_load(points)
    assert [miss for miss in misses if miss.quantity == "latency"]
    assert all(miss.busy is None for miss in misses)


def crowded(latency_s: Callable[[float], float]) -> list[Point]:
    taken = (0.0, 0.06, -0.05, 0.07, 0.0)
    points = []
    for point, share in with_shares():
        if point.quantity == "latency":
            busy = (
                0.15 + 0.7 * share + taken[[round(rho, 2) for rho in RHOS].index(round(share, 2))]
            )
            point = point.model_copy(update={"busy": busy, "value": latency_s(busy)})
        points.append(point)
    return points


def with_shares() -> list[tuple[Point, float]]:
    most = {point.vms_per_host: point.value for point in sweep() if point.quantity == "rate"}
    return [(point, (point.load or 0.0) / most[point.vms_per_host]) for point in sweep()]


def test_each_held_out_level_is_shown_with_its_error(tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text(text(slower={3: 2.0}))
    result = CliRunner().invoke(
        main.app, ["capacity", "check", str(points), "--hold-out", "density"]
    )
    assert result.exit_code == 1, result.output
    shown = [
        line.split() for line in result.output.splitlines() if " p95 " in line and " ms " in line
    ]
    # group, disk type, hosts, density, load, repetitions, p95, measured, ms, predicted, ms, miss
    of_three = [row for row in shown if row[3] == "3"]
    assert {row[3] for row in shown} == {"2", "3", "4"} and of_three
    for row in of_three:
        assert float(row[-1].rstrip("%")) == pytest.approx(
            100 * abs(float(row[9]) / float(row[7]) - 1), abs=0.5
        )
        assert float(row[-1].rstrip("%")) > 40
