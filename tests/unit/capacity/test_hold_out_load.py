"""CPU and latency of a density that was held out, on curves whose truth is known."""

from __future__ import annotations

import pytest

from analysis.capacity.goals import judged_under_load
from analysis.capacity.hold_out_load import hold_out_load
from analysis.capacity.points import Point, parse_points

HEAD = "group,hosts,vms_per_host,medium,value,unit,repetition,load,percentile,operation\n"
RHOS = (0.3, 0.5, 0.7, 0.8, 0.9)


def sweep(
    slower: dict[int, float] | None = None, busier: dict[int, float] | None = None
) -> tuple[Point, ...]:
    """One host, densities 1 to 6, a sweep of targets of each; some slower or busier than the rest."""
    lines = []
    for v in (1, 2, 3, 4, 6):
        most = 1000 * v / (1 + 0.3 * (v - 1) + 0.01 * v * (v - 1))
        lines.append(f"q,1,{v},flash,{most},ops/s,1,,,")
        for rho in RHOS:
            latency = 10 * (1 + 0.5 * rho**2 / (1 - rho)) * (slower or {}).get(v, 1.0)
            percent = 4 + 70 * rho + (busier or {}).get(v, 0.0)
            lines.append(f"q,1,{v},flash,{latency},ms,1,{rho * most},95,READ")
            lines.append(f"q,1,{v},flash,{percent},percent,1,{rho * most},,")
    return parse_points(HEAD + "\n".join(lines) + "\n", "p")


def test_a_held_out_density_is_predicted_from_those_beside_it() -> None:
    misses = hold_out_load(sweep())
    assert {miss.vms_per_host for miss in misses} == {2, 3, 4}
    assert all(goal.outcome == "met" for goal in judged_under_load(misses))
    latencies = [miss for miss in misses if miss.quantity == "latency"]
    assert max(miss.miss for miss in latencies) < 0.1
    assert all(miss.load <= 0.9 * 1000 * 6 for miss in latencies)


def test_a_density_that_is_unlike_its_neighbours_misses_the_goals() -> None:
    goals = judged_under_load(hold_out_load(sweep(slower={3: 2.0}, busier={3: 20.0})))
    assert [goal.outcome for goal in goals] == ["missed", "missed"]


def test_the_held_out_density_does_not_enter_its_prediction() -> None:
    before = [m.predicted for m in hold_out_load(sweep()) if m.vms_per_host == 3]
    changed = hold_out_load(sweep(slower={3: 2.0}, busier={3: 20.0}))
    after = [m.predicted for m in changed if m.vms_per_host == 3]
    assert after == pytest.approx(before)


def test_without_points_under_load_there_is_nothing_to_say() -> None:
    points = tuple(p for p in sweep() if p.load is None)
    assert hold_out_load(points) == ()
    assert judged_under_load(()) == ()
