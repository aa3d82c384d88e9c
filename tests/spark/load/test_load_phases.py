"""Loads whose rate changes with time, analysed part by part."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from density_study.analysis.summarise.summarise import summarise
from density_study.jobs.first_look.look import first_look
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed
from tests.spark.load.phase_trials import ASKED, RAMP_UP_S

pytestmark = pytest.mark.spark


def parts(root: Path, trial: str, name: str) -> dict[str, float]:
    rows = read_table(root, tables.METRICS)
    rows = rows[(rows["trial"] == trial) & (rows["name"] == name)]
    return dict(zip(rows["scope"], rows["value"], strict=True))


@pytest.mark.parametrize("which", ("staircase", "late clock"))
def test_rates_are_those_of_the_steps(loads: Analysed, which: str) -> None:
    """Also where the client's clock is not the controller's."""
    root, truths = loads.root, loads.truths
    trial = truths[which].trial
    scopes = [f"part:{number:04d}" for number in (1, 2, 3, 4)]
    assert parts(root, trial, "part_requested") == dict(
        zip(scopes, (100, 200, 300, 400), strict=True)
    )
    achieved = parts(root, trial, "part_rate")
    assert [achieved[scope] for scope in scopes] == pytest.approx([100, 200, 300, 320])
    variation = parts(root, trial, "part_variation")
    assert all(variation[scope] == pytest.approx(0, abs=6) for scope in scopes)


def test_latency_is_that_of_the_intervals_within_each_part(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    truth = truths["staircase"]
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


def test_what_was_asked_is_a_series(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    rows = read_table(root, tables.TRIAL_RATE_SERIES)
    rows = rows[(rows["trial"] == truths["staircase"].trial) & (rows["name"] == "requested")]
    assert rows["rate"].sum() == pytest.approx(sum(ASKED), rel=0.001)
    by_second = dict(zip(rows["second"], rows["rate"], strict=True))
    assert by_second[RAMP_UP_S + 12] == pytest.approx(200)


def test_a_step_that_is_not_sustained_is_a_result(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    for truth in (truths["staircase"], truths["late clock"]):
        said = [
            *verdicts.loc[truth.trial, "reasons"],
            *first_look(root / "records" / truth.trial).reasons,
        ]
        assert not [
            why for why in said if "unsustained" in why or "drift" in why or "backlog" in why
        ]


def test_the_report_has_the_parts(loads: Analysed) -> None:
    summary = summarise(loads.root, 0.0)
    (test_case,) = (one for one in summary.test_cases if one.phase)
    assert test_case.phase == "staircase from 100 ops/s to 400 ops/s in 4 steps of 8 s"
    assert [part.name for part in test_case.parts] == ["step 1", "step 2", "step 3", "step 4"]
    page = (loads.root / "report" / "index.html").read_text()
    assert "Load phases" in page
    assert "no, 80\u00a0%" in page  # the fourth step
    assert page.count("<td>yes</td>") == 3
    refs = {f"/series/{at}/rates/" for at in range(len(summary.series))}
    assert any(ref in page for ref in refs)
    assert json.loads(summary.model_dump_json())["test_cases"]
