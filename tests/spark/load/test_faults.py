"""Trials with a fault, analysed: when the rate was back, what failed, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.analysis import tables
from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import summarise
from density_study.analysis.tables.store import read_table
from density_study.jobs.first_look.look import first_look
from density_study.jobs.pipeline import STAGES, run_stage
from density_study.workloads.base.fault import Fault, InjectedFault
from tests.support.record_factory import RUN, RunFactory
from tests.support.truth import Truth

pytestmark = pytest.mark.spark

BUILD, RATE, SECONDS, AT = "b1-v2-flash", 200, 40, 12
FAULT = Fault(kill="regionserver", at_s=9.25)


def add(
    factory: RunFactory,
    rates: list[int],
    failed: int = 0,
    found: int = 9000,
    build: str = BUILD,
    fault: Fault = FAULT,
) -> Truth:
    """A trial whose clients do `rates` operations in each second. The kill is AT seconds after the first."""
    truth = factory.ycsb(
        build, "scan95-insert5", seconds=SECONDS, rate=RATE, target_ops_s=float(RATE), fault=fault,
        records=8000, duration_s=float(SECONDS),
    )  # fmt: skip
    truth.trial += f"-{len(factory.truths)}"
    factory._builds[truth.trial] = build
    for operation, seconds in list(truth.latencies_us.items()):
        share = len(seconds[0]) / RATE
        truth.latencies_us[operation] = [
            (seconds[i] * 9)[: round(rates[i] * share)] for i in range(SECONDS)
        ]
        truth.latencies_us[f"Intended-{operation}"] = [
            [2000 * (2 if i == AT else 1)] * len(second)
            for i, second in enumerate(truth.latencies_us[operation])
        ]
        done = sum(map(len, truth.latencies_us[operation]))
        truth.returns[operation] = {"OK": done}
    if failed:
        truth.returns["SCAN"]["ERROR"] = failed
    truth.fault = InjectedFault(
        kill=fault.kill, node="w2", name="regionserver", epoch_s=truth.operations_start_s + AT
    )
    truth.rows = {"acknowledged": 9000, "found": found}
    return truth


def lost_host(factory: RunFactory, build: str, stalled_s: int) -> Truth:
    """All daemons of a host are lost, and clients stall for this long."""
    steady, left = [RATE] * SECONDS, SECONDS - AT - 2 * stalled_s
    rates = [*steady[:AT], *[0] * stalled_s, *[2 * RATE] * stalled_s, *steady[:left]]
    return add(factory, rates, build=build, fault=Fault(kill="host", at_s=9.25))


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Truth]]:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / "quickstart" / RUN)
    steady, stalled = [RATE] * SECONDS, [0] * 8
    burst = [*stalled, 9 * RATE, *stalled]
    truths = {
        "back": add(factory, [*steady[:AT], *stalled, *[2 * RATE] * 8, *steady[: SECONDS - AT - 16]]),
        "late burst": add(factory, [*steady[:AT], *burst, *steady[: SECONDS - AT - 17]]),
        "gone": add(factory, [*steady[:AT], *[0] * (SECONDS - AT)], failed=7, found=8990),
        "unhurt": add(factory, steady),
        "host of 1": lost_host(factory, "b1-v1-flash", 14),
        "host of 2": lost_host(factory, "b1-v2-flash", 6),
    }  # fmt: skip
    root = factory.close()
    for stage in STAGES:
        run_stage(stage, root)
    return root, truths


def metrics(world: tuple[Path, dict[str, Truth]], which: str) -> dict[str, float | None]:
    rows = read_table(world[0], tables.METRICS)
    rows = rows[rows["trial"] == world[1][which].trial]
    return {
        name: None if value != value else value
        for name, value in zip(rows["name"], rows["value"], strict=True)
    }


def test_the_rate_is_back_when_it_is_sustained(world: tuple[Path, dict[str, Truth]]) -> None:
    assert metrics(world, "back")["time_to_recover"] == pytest.approx(8, abs=1)
    assert metrics(world, "unhurt")["time_to_recover"] == 0


def test_a_burst_amid_a_stall_is_no_recovery(world: tuple[Path, dict[str, Truth]]) -> None:
    assert metrics(world, "late burst")["time_to_recover"] == pytest.approx(17, abs=1)


def test_a_trial_that_does_not_recover_has_no_time(world: tuple[Path, dict[str, Truth]]) -> None:
    found = metrics(world, "gone")
    assert found["time_to_recover"] is None
    assert (found["failed_operations"], found["lost_rows"]) == (7, 10)
    assert metrics(world, "back")["lost_rows"] == 0


def test_the_longest_intended_latency_is_known(world: tuple[Path, dict[str, Truth]]) -> None:
    assert metrics(world, "unhurt")["worst_latency"] == pytest.approx(4.0, rel=0.01)


def test_what_a_fault_does_makes_its_trial_not_invalid(
    world: tuple[Path, dict[str, Truth]],
) -> None:
    root, truths = world
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    for truth in truths.values():
        said = list(verdicts.loc[truth.trial, "reasons"])
        assert not [
            why for why in said if "failed" in why or "unsustained" in why or "drift" in why
        ], said
        look = first_look(root / "records" / truth.trial)
        assert not [why for why in look.reasons if "failed" in why or "unsustained" in why]


def test_the_report_has_a_row_per_trial(world: tuple[Path, dict[str, Truth]]) -> None:
    page = render(summarise(world[0], 0.0))
    assert "What each fault did" in page
    assert "RegionServer killed after 9.25 s" in page
    assert "not within the trial" in page


def test_a_lost_row_is_a_flag_that_decides_nothing(world: tuple[Path, dict[str, Truth]]) -> None:
    root, truths = world
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    said = {name: list(verdicts.loc[truth.trial, "reasons"]) for name, truth in truths.items()}
    lost = [
        name for name, why in said.items() if any("lost writes: 10 row(s)" in one for one in why)
    ]
    assert lost == ["gone"]
    assert "acknowledged rows were lost is unknown" not in str(said)


def test_density_is_a_factor_of_losing_a_host(world: tuple[Path, dict[str, Truth]]) -> None:
    """One repetition claims nothing, but the comparison is made."""
    summary = summarise(world[0], 0.0)
    lost = [one for one in summary.settings if one.fault == "host killed after 9.25 s"]
    assert sorted(one.vms_per_host for one in lost) == [1, 2]
    (finding,) = (
        one
        for one in summary.findings
        if one.measure == "time to recover from a fault" and lost[0].setting in one.id
    )
    assert finding.arms is not None and finding.arms.startswith("2 ")
    assert finding.effect == pytest.approx(6 / 14, rel=0.15)
