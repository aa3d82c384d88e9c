"""Variant importance on the YARN of a study's own cluster: the planted variants come first, and its row
counts what driver and containers used."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.comparison.history import read_summary
from density_study.jobs import pipeline
from density_study.jobs.first_look.look import first_look
from density_study.workloads.pipeline.importance.containers import tasks_of
from density_study.workloads.pipeline.importance.stage import CLIENT
from density_study.workloads.pipeline.machine.files import COHORT, IMPORTANCE
from density_study.workloads.pipeline.output.answers import parse_answers
from density_study.workloads.pipeline.output.stages import StageUse, parse_stages
from tests.live.support.command import left_of
from tests.live.support.measured import Measured, measured, raw_of_only

pytestmark = [pytest.mark.live, pytest.mark.timeout(390)]

SPEC = Path(__file__).with_name("importance.yaml")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    with measured(SPEC, tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture
def raw(done: Measured) -> Path:
    return raw_of_only(done)


def row_of(raw: Path) -> StageUse:
    (row,) = parse_stages((raw / f"{CLIENT}.csv").read_bytes(), CLIENT).rows
    return row


def events_of(raw: Path) -> list[str]:
    (log,) = raw.glob("application_*")
    return log.read_text().splitlines()


def test_the_planted_variants_come_first(raw: Path) -> None:
    (answer,) = parse_answers((raw / f"{CLIENT}-answers.csv").read_bytes(), CLIENT).rows
    assert (answer.genome, answer.stage) == (COHORT, IMPORTANCE)
    assert (answer.planted, answer.called, answer.found) == (3, 3, 3)


def test_it_ran_in_an_executor_on_each_node(raw: Path) -> None:
    events = [json.loads(line) for line in events_of(raw)]
    added = [event for event in events if event["Event"] == "SparkListenerExecutorAdded"]
    assert len(added) == 2
    ran = {
        event["Task Info"]["Executor ID"]
        for event in events
        if event["Event"] == "SparkListenerTaskEnd"
    }
    assert ran == {"1", "2"}


def test_its_row_agrees_with_sparks_own_counts(raw: Path) -> None:
    row, tasks = row_of(raw), tasks_of(events_of(raw))
    assert row.exit_code == 0
    assert (row.tasks, row.read_bytes, row.written_bytes) == (
        tasks.tasks, tasks.read_bytes, tasks.written_bytes,
    )  # fmt: skip
    assert tasks.tasks > 10 and tasks.written_bytes > 0
    # each genotype but the absent ones takes 4 bytes or more in the file
    assert tasks.read_bytes > 300 * 2_000
    # the kernel counts whole JVMs, of which tasks are a part
    assert 0 < tasks.core_s < row.core_s
    assert row.core_s < 1.05 * (os.cpu_count() or 1) * (row.end_epoch_s - row.start_epoch_s)
    # four JVMs: driver, ApplicationMaster, two executors
    assert 4 * 100 < row.peak_kib / 1024 < 4 * 2_000


def test_it_becomes_a_stage_of_the_report(done: Measured, raw: Path) -> None:
    run, _ = done
    assert first_look(raw.parent).verdict == "valid", first_look(raw.parent)
    pipeline.analyse(run.root)
    summary = read_summary(run.root)
    assert {trial.verdict for trial in summary.trials} == {"valid"}, summary.trials
    seen = {
        metric.name: metric.value
        for test_case in summary.test_cases
        for metric in test_case.metrics
        if metric.scope == f"stage:{IMPORTANCE}"
    }
    row = row_of(raw)
    assert seen["stage_core"] == pytest.approx(row.core_s, rel=1e-3)
    assert seen["stage_tasks"] == row.tasks
    assert (seen["recall"], seen["precision"]) == (100.0, 100.0)
    assert seen.get("stage_core_per_base") is None


def test_nothing_of_the_build_is_left(done: Measured) -> None:
    run, _ = done
    assert left_of(run.root) == []
