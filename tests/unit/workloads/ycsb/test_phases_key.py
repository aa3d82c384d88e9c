"""The key `phases`: loads whose rate changes with time."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.trial_order import overhead_trials
from density_study.workloads.study.study import Study
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import host, ycsb_study

FOUR = """
        - ramp: {from: 10%, to: 90%, over: 5 min}
        - burst: {rate: 90%, for: 10 s, every: 60 s}
        - staircase: {from: 200/s, to: 1000/s, steps: 5, each: 60 s}
        - soak: {rate: 50%, duration: 4 h}
"""


def study(phases: str = FOUR, **replaced: str) -> Study:
    return ycsb_study(f"phases: {phases}", **replaced)


def cases(spec: Study) -> dict[str, YcsbTestCase]:
    return {
        s.phase.kind: s
        for s in spec.test_cases()
        if isinstance(s, YcsbTestCase) and s.phase is not None
    }


def properties(test_case: YcsbTestCase, number: int = 1) -> dict[str, str]:
    words = client_arguments(test_case, "/r/ycsb-1-", number)
    return dict(word.split("=", 1) for word in words if "=" in word)


def test_each_phase_is_a_trial_of_its_own() -> None:
    found = cases(study())
    assert {kind: s.id.partition("-t8-")[2] for kind, s in found.items()} == {
        "ramp": "ramp-10pct-to-90pct-300s",
        "burst": "burst-90pct-over-9pct-5x10s-every-60s",
        "staircase": "staircase-200ps-to-1000ps-5x60s",
        "soak": "soak-50pct-14400s",
    }
    ramp_up_s = found["ramp"].warm_up_s
    lengths = {kind: (s.duration_s or 0) - ramp_up_s for kind, s in found.items()}
    assert lengths == {"ramp": 300, "burst": 350, "staircase": 300, "soak": 14400}
    assert [found[kind].target_percent for kind in ("ramp", "burst", "soak")] == [90, 90, 50]
    assert found["staircase"].target_ops_s == 1000
    for test_case in found.values():
        assert test_case.is_paced and not test_case.is_saturation
        assert YcsbTestCase.model_validate_json(test_case.model_dump_json()) == test_case
        assert test_case.window_s == test_case.duration_s


def test_a_percentage_becomes_a_rate_when_the_saturation_is_known() -> None:
    ramp = cases(study())["ramp"]
    resolved = ramp.at_rate(900.0)  # 90 % of a saturation of 1000
    assert resolved.id == ramp.id
    pieces = properties(resolved)["schedule.pieces"].split(";")
    up = f"{ramp.warm_up_s:g}"
    assert pieces[:2] == [f"{up}:100:100", "30:100:180"] and pieces[-1] == "30:820:900"
    assert len(pieces) == 11
    with pytest.raises(ValueError, match="not known yet"):
        client_arguments(ramp, "/r/ycsb-1-")


def test_the_client_has_a_schedule_instead_of_a_target() -> None:
    found = properties(cases(study())["staircase"])
    assert found["workload"].endswith(".ScheduledWorkload")
    assert found["schedule.workload"] == "org.densitystudy.ycsb.StudyWorkload"
    assert found["measurement.interval"] == "both"
    assert found["schedule.log"] == "/r/ycsb-1-schedule.csv"
    assert "-target" not in client_arguments(cases(study())["staircase"], "/r/ycsb-1-")
    burst = properties(cases(study())["burst"].at_rate(900.0))["schedule.pieces"]
    assert burst.split(";")[1:4] == ["50:90:90", "10:900:900", "50:90:90"]


def test_clients_share_the_rates() -> None:
    test_case = cases(study())["staircase"].model_copy(update={"clients": 3})
    for number in (1, 2, 3):
        found = properties(test_case, number)
        assert found["schedule.pieces"].endswith("60:333.333:333.333")
        assert found["schedule.workload"].endswith(".StudyWorkload")


def test_hours_are_parts_of_a_soak() -> None:
    soak = cases(study())["soak"]
    assert soak.phase is not None
    assert [p["name"] for p in soak.phase.parts()] == ["hour 1", "hour 2", "hour 3", "hour 4"]
    short = cases(study("[{soak: {rate: 50%, duration: 30 min}}]"))["soak"]
    assert short.phase is not None and len(short.phase.parts()) == 10


def test_what_a_soak_inserts_needs_disk() -> None:
    soak = cases(study())["soak"]  # 55 % inserts, at half of a load's estimated rate
    needed = soak.disk_use(1)[1] / soak.model_copy(update={"phase": None}).disk_use(1)[1]
    inserted = 0.55 * 3000 * (soak.duration_s or 0)
    assert needed == pytest.approx(1 + inserted / soak.records, rel=0.01)


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ("[{}]", "one of ramp, burst, staircase and soak"),
        (
            "[{soak: {rate: 50%, duration: 1 h}, ramp: {from: 1%, to: 2%, over: 1 h}}]",
            "one of ramp",
        ),
        ("[{ramp: {from: 10%, to: 900/s, over: 5 min}}]", "all percentages"),
        ("[{ramp: {from: 10%, to: 10%, over: 5 min}}]", "write a soak"),
        ("[{ramp: {from: 10%, to: 90%, over: 20 s}}]", "a part lasts 2 s"),
        ("[{burst: {rate: 90%, for: 60 s, every: 60 s}}]", "a part lasts 0 s"),
        ("[{staircase: {from: 1/s, to: 2/s, steps: 1, each: 60 s}}]", "it must be 2 or more"),
        ("[{soak: {rate: 50%, duration: 4 h}, mix: load}]", "a mix besides load"),
        ("[{soak: {rate: 50%, duration: 4 h}}, {soak: {rate: 50%, duration: 4 h}}]", "are equal"),
        ("[{soak: {rate: 50%}}]", "duration"),
    ],
)
def test_faulty_phases_are_named(phases: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(phases)
    assert message in str(caught.value)
    assert "workloads[1].ycsb.phases" in str(caught.value)


def test_phases_need_a_ramp_up() -> None:
    with pytest.raises(InputError, match="ramp-up of whole seconds"):
        study("[{soak: {rate: 50%, duration: 4 h}}]", **{" warm_up: ": " warm_up: 0.5 s #"})


def test_saturation_comes_before_its_percentages() -> None:
    plan = make_plan(study(), [host(12288)])
    for build in plan.builds:
        kinds: list[Any] = [s.test_case for s in plan.trials if s.build == build]
        at = {s.id: n for n, s in enumerate(kinds)}
        for test_case in kinds:
            if isinstance(test_case, YcsbTestCase) and test_case.phase and test_case.target_percent:
                before = [s for s in kinds if s.measures_for(test_case)]
                assert before and all(at[s.id] < at[test_case.id] for s in before)


def test_no_pair_of_monitoring_overhead_breaks_its_cluster_or_has_a_changing_rate() -> None:
    spec = study(
        "[{ramp: {from: 10/s, to: 20/s, over: 50 s}}]\n      fault: {kill: hmaster, at: 1 s}"
    )
    (first, second) = overhead_trials(0, 1, 1, spec.test_cases(), 7)
    assert first.test_case == second.test_case
    assert isinstance(first.test_case, YcsbTestCase)
    assert first.test_case.fault is None and first.test_case.phase is None
