"""The course of a run as spans, and that a collector gets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import (
    AnalysisEnded,
    AnalysisStarted,
    Event,
    PhaseEnded,
    RunEnded,
    RunOpened,
    StepEnded,
    StepStarted,
)
from density_study.cluster.state.journal import Journal
from density_study.dags.telemetry.send import send
from density_study.dags.telemetry.spans import spans
from density_study.workloads.execution.run import load_run
from density_study.workloads.planning.plan import write_plan
from tests.support.drafts import QUICKSTART, plan
from tests.support.receivers import Collector, serving


def opened(t: float) -> Event:
    return RunOpened(t=t, study="s", run="r", tag="t")


def begun(t: float, index: int, trial: str | None = None) -> Event:
    kind = "trial" if trial else "up"
    return StepStarted(t=t, index=index, kind=kind, build="b1", label=f"step {index}", trial=trial)


def ended(t: float, index: int, message: str = "") -> Event:
    outcome = "failed" if message else "ok"
    return StepEnded(
        t=t, index=index, kind="up", build="b1", trial=None, outcome=outcome, message=message
    )


WHOLE = (
    opened(100.0),
    begun(101.0, 0),
    PhaseEnded(t=105.0, build="b1", tag="t/b1", name="hdfs", seconds=3.0),
    PhaseEnded(t=110.0, build="b1", tag="t/b1", name="hbase", seconds=5.0),
    ended(111.0, 0),
    begun(111.0, 1, "b1-000"),
    ended(171.0, 1, "the client was killed"),
    AnalysisStarted(t=172.0, stage="ingest"),
    AnalysisEnded(t=175.0, stage="ingest"),
    RunEnded(t=180.0, outcome="failed", message="1 trial failed"),
)


def test_steps_phases_and_stages_lie_within_the_run() -> None:
    (run,) = spans("s", "r", WHOLE)
    assert (run.begin_t, run.end_t, run.failed) == (100.0, 180.0, "1 trial failed")
    bring_up, trial, stage = run.within
    assert [(one.name, one.begin_t, one.end_t) for one in bring_up.within] == [
        ("hdfs", 102.0, 105.0),
        ("hbase", 105.0, 110.0),
    ]
    assert (trial.about["trial"], trial.failed) == ("b1-000", "the client was killed")
    assert (stage.name, stage.begin_t, stage.end_t) == ("analysis: ingest", 172.0, 175.0)
    for outer in (run, *run.within):
        assert all(outer.begin_t <= one.begin_t <= one.end_t <= outer.end_t for one in outer.within)


def test_a_killed_run_ends_with_its_last_event_and_each_opening_is_a_span() -> None:
    killed, resumed = spans("s", "r", (*WHOLE[:6], opened(500.0), *_later(WHOLE[1:], 400.0)))
    assert (killed.about["outcome"], killed.end_t) == ("interrupted", 111.0)
    assert killed.within[-1].about["outcome"] == "interrupted"
    assert (resumed.begin_t, resumed.end_t) == (500.0, 580.0)
    assert spans("s", "r", ()) == ()


def test_a_step_that_ran_twice_is_two_spans_with_ends_of_their_own() -> None:
    """A trial that was cleared is measured again in the same opening."""
    events = (
        opened(100.0),
        begun(101.0, 1, "t"),
        ended(111.0, 1, "killed"),
        begun(121.0, 1, "t"),
        ended(131.0, 1),
    )
    (run,) = spans("s", "r", events)
    assert [(one.begin_t, one.end_t, one.failed) for one in run.within] == [
        (101.0, 111.0, "killed"),
        (121.0, 131.0, None),
    ]


def _later(events: tuple[Event, ...], by: float) -> Iterator[Event]:
    return (event.model_copy(update={"t": event.t + by}) for event in events)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with serving(Collector()) as server:
        yield server


@pytest.fixture
def run(tmp_path: Path) -> Path:
    root = tmp_path / "quickstart" / "20261120T201530Z"
    root.mkdir(parents=True)
    (root / "study.yaml").write_text(QUICKSTART.read_text())
    write_plan(plan(), root / "plan.json")
    journal = Journal(root / "journal.jsonl")
    for event in WHOLE:
        journal.write(type(event).event, **event.model_dump(exclude={"t"}))
    return root


def test_a_collector_gets_one_trace_and_the_same_ids_again(run: Path, collector: Collector) -> None:
    counts = {send(load_run(run), collector.address) for _ in range(2)}
    assert counts == {1 + 3 + 2}
    assert set(collector.paths) == {"/v1/traces"}
    first, again = collector.requests
    assert {one.trace_id for one in first} == {one.trace_id for one in again}
    assert [one.span_id for one in first] == [one.span_id for one in again]
    assert len({one.trace_id for one in first}) == 1
    (root,) = (one for one in first if not one.parent_span_id)
    assert root.name == "study quickstart" and root.status.message == "1 trial failed"


def test_a_collector_that_is_not_there_is_an_error(run: Path, collector: Collector) -> None:
    collector.how = 400
    with pytest.raises(StudyError, match="took 0 of 6 spans"):
        send(load_run(run), collector.address)
