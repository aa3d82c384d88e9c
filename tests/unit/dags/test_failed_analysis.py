"""A run whose analysis failed names the stage and its fault."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisFailed,
    AnalysisStarted,
    RunEnded,
    RunOpened,
    TrialState,
)
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.dags.run_status.status import status_of
from density_study.dags.stages import conclusion
from density_study.dags.stages.conclusion import failures
from density_study.jobs import pipeline
from density_study.workloads.execution.run import Run, end_run, load_run
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan

BEGINS = "analysis: it did not finish, so there is no report"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "study.yaml").write_text(QUICKSTART.read_text())
    write_plan(plan(), tmp_path / "plan.json")
    Journal(tmp_path / JOURNAL).record(RunOpened(study="quickstart", run="r", tag="quickstart/r"))
    return load_run(tmp_path)


def of_analysis(run: Run) -> list[str]:
    return [line for line in failures(run) if line.startswith("analysis")]


def remedy(run: Run) -> str:
    return f"repeat it by `study report {run.root}`"


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (ValueError("no metric 'power'\nis declared"), "ValueError: no metric 'power'"),
        (StudyError("no host is left.", "h1", "add one"), "h1: no host is left."),
        (
            OSError(errno.EACCES, "Permission denied", "/data/x"),
            "/data/x: this user has no permission to do that.",
        ),
        (AssertionError(), "AssertionError: no reason given"),
    ],
)
def test_the_fault_of_a_stage_is_the_runs(
    run: Run, error: Exception, named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "STAGES", {**pipeline.STAGES, "report": fail})
    with pytest.raises((StudyError, type(error))):
        pipeline.run_stage("report", run.root)
    assert of_analysis(run) == [f"{BEGINS}: report: {named}; {remedy(run)}"]


def test_a_killed_analysis_names_no_stage_and_a_later_one_that_ended_counts(run: Run) -> None:
    assert of_analysis(run) == [f"{BEGINS}; {remedy(run)}"]
    run.journal.record(AnalysisFailed(stage="report", message="ValueError: what"))
    run.journal.record(AnalysisEnded(stage="report"))
    assert of_analysis(run) == []


@pytest.mark.usefixtures("runtime")
def test_a_repeated_analysis_that_fails_ends_the_run_as_failed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its hosts are then free, and the report of the first analysis is not taken for that of the second."""
    for event in (
        AnalysisStarted(stage="ingest"),
        AnalysisEnded(stage="report"),
        TrialState(trial="t", state="closed", outcome="complete"),
    ):
        run.journal.record(event)

    def fail(*_: object) -> None:
        raise StudyError("it is analysed by process 7 on host h.", "r", "wait.")

    monkeypatch.setattr(conclusion, "analyse", fail)
    monkeypatch.setattr(conclusion, "tear_down", lambda _: None)
    monkeypatch.setattr(conclusion, "what_is_left", lambda _: "")
    monkeypatch.setattr(conclusion, "_tear_down_fault", lambda _: "")
    monkeypatch.setattr("density_study.analysis.hub.page.rebuild", lambda _: None)
    with pytest.raises(StudyError, match="report is that of an earlier one: ingest: r: it is an"):
        conclusion.conclude(str(run.root))
    (end,) = run.journal.events(RunEnded)
    assert (end.outcome, end.finished) == ("failed", True)


@pytest.mark.usefixtures("runtime")
def test_a_failure_that_was_mended_after_the_end_is_named_as_that_of_the_end(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state stays `failed`, and a state without a reason is a riddle."""
    end_run(run, "failed", "analysis: it did not finish")
    monkeypatch.setattr("density_study.dags.run_status.status.failures", lambda _: [])
    assert status_of(run).failures == ["when it ended: analysis: it did not finish"]
