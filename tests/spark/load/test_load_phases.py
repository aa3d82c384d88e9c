"""Loads whose rate changes with time, analysed part by part."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.analysis import tables
from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import summarise
from density_study.analysis.tables.store import read_table
from density_study.jobs.first_look.look import first_look
from density_study.jobs.pipeline import STAGES, run_stage
from density_study.workloads.ycsb.phase_spec import PhaseSpec
from tests.support.record_factory import RUN, RunFactory
from tests.support.truth import Truth

pytestmark = pytest.mark.spark

BUILD, RAMP_UP_S = "b1-v2-flash", 5
STAIRS = PhaseSpec.model_validate(
    {"staircase": {"from": "100/s", "to": "400/s", "steps": 4, "each": "8 s"}}
)
SECONDS = RAMP_UP_S + 4 * 8
ASKED = [100] * (RAMP_UP_S + 8) + [200] * 8 + [300] * 8 + [400] * 8
DONE = [min(asked, 320) for asked in ASKED]
"""Operations in each second: the cluster is saturated at 320 ops/s."""


def staircase(factory: RunFactory, clock_offset_s: float = 0.0) -> Truth:
    truth = factory.ycsb(
        BUILD, "scan95-insert5", seconds=SECONDS, phase=STAIRS.phase, target_ops_s=400.0,
        records=8000, duration_s=float(SECONDS), warm_up_s=float(RAMP_UP_S),
    )  # fmt: skip
    truth.trial += f"-{len(factory.truths)}"
    factory._builds[truth.trial] = BUILD
    truth.operations_start_s = truth.start_s + 0.25
    truth.clock_offset_s = truth.measured_clock_s = clock_offset_s
    for operation, share in (("SCAN", 0.9), ("INSERT", 0.1)):
        seconds = [round(share * done) for done in DONE]
        truth.latencies_us[operation] = [[900] * count for count in seconds]
        truth.latencies_us[f"Intended-{operation}"] = [
            [1000 * (1 + second) + i for i in range(count)] for second, count in enumerate(seconds)
        ]
        truth.returns[operation] = {"OK": sum(seconds)}
    truth.asked = [
        (0 if i < RAMP_UP_S else 1 + (i - RAMP_UP_S) // 8, n) for i, n in enumerate(ASKED)
    ]
    return truth


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Truth]]:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / "quickstart" / RUN)
    truths = [staircase(factory), staircase(factory, clock_offset_s=0.4)]
    root = factory.close()
    for stage in STAGES:
        run_stage(stage, root)
    return root, truths


def parts(root: Path, trial: str, name: str) -> dict[str, float]:
    rows = read_table(root, tables.METRICS)
    rows = rows[(rows["trial"] == trial) & (rows["name"] == name)]
    return dict(zip(rows["scope"], rows["value"], strict=True))


@pytest.mark.parametrize("which", [0, 1])
def test_rates_are_those_of_the_steps(world: tuple[Path, list[Truth]], which: int) -> None:
    """Also where the client's clock is not the controller's."""
    root, truths = world
    trial = truths[which].trial
    scopes = [f"part:{number:04d}" for number in (1, 2, 3, 4)]
    assert parts(root, trial, "part_requested") == dict(
        zip(scopes, (100, 200, 300, 400), strict=True)
    )
    achieved = parts(root, trial, "part_rate")
    assert [achieved[scope] for scope in scopes] == pytest.approx([100, 200, 300, 320])
    variation = parts(root, trial, "part_variation")
    assert all(variation[scope] == pytest.approx(0, abs=6) for scope in scopes)


def test_latency_is_that_of_the_intervals_within_each_part(world: tuple[Path, list[Truth]]) -> None:
    root, truths = world
    truth = truths[0]
    rows = read_table(root, tables.METRICS)
    rows = rows[(rows["trial"] == truth.trial) & (rows["name"] == "part_latency")]
    for part in (1, 2, 3, 4):
        begin = RAMP_UP_S + 8 * (part - 1)
        for operation in ("SCAN", "INSERT"):
            values = sorted(
                value
                for second in truth.latencies_us[f"Intended-{operation}"][begin : begin + 8]
                for value in second
            )
            of = rows[(rows["scope"] == f"part:{part:04d}") & (rows["operation"] == operation)]
            for percentile in (50.0, 99.0):
                (found,) = of[of["percentile"] == percentile]["value"]
                if len(values) * (1 - percentile / 100) < 10:
                    assert math.isnan(found)
                else:
                    rank = values[math.ceil(len(values) * percentile / 100) - 1] / 1000
                    assert found == pytest.approx(rank, rel=0.01)
    assert set(rows["latency_kind"]) == {"intended"}


def test_what_was_asked_is_a_series(world: tuple[Path, list[Truth]]) -> None:
    root, truths = world
    rows = read_table(root, tables.TRIAL_RATE_SERIES)
    rows = rows[(rows["trial"] == truths[0].trial) & (rows["name"] == "requested")]
    assert rows["rate"].sum() == pytest.approx(sum(ASKED), rel=0.001)
    by_second = dict(zip(rows["second"], rows["rate"], strict=True))
    assert by_second[RAMP_UP_S + 12] == pytest.approx(200)


def test_a_step_that_is_not_sustained_is_a_result(world: tuple[Path, list[Truth]]) -> None:
    root, truths = world
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    for truth in truths:
        said = [
            *verdicts.loc[truth.trial, "reasons"],
            *first_look(root / "records" / truth.trial).reasons,
        ]
        assert not [
            why for why in said if "unsustained" in why or "drift" in why or "backlog" in why
        ]


def test_the_report_has_the_parts(world: tuple[Path, list[Truth]]) -> None:
    summary = summarise(world[0], 0.0)
    (setting,) = (one for one in summary.settings if one.phase)
    assert setting.phase == "staircase from 100 ops/s to 400 ops/s in 4 steps of 8 s"
    assert [part.name for part in setting.parts] == ["step 1", "step 2", "step 3", "step 4"]
    page = render(summary)
    assert "Load phases" in page
    assert "no, 80 %" in page  # the fourth step
    assert page.count("<td>yes</td>") == 3
    refs = {f"/series/{at}/rates/" for at in range(len(summary.series))}
    assert any(ref in page for ref in refs)
    assert json.loads(summary.model_dump_json())["settings"]
