"""Progress of a run, computed from its plan and journal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.bring_up import Phases
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.state.events import (
    Event,
    PhaseEnded,
    PhaseState,
    RepetitionsEnded,
    event_of,
)
from density_study.cluster.state.journal import Journal
from density_study.cluster.stores.answers import Seen, Service
from density_study.dags.run_status.progress import progress
from density_study.dags.stages.estimates import ANALYSIS_ESTIMATE_S
from density_study.workloads.planning.plan import Plan, Step, make_plan
from density_study.workloads.study.study_file import parse_study
from tests.support.made_runs.command import STUDY
from tests.support.made_runs.fake_cluster import DUET

HOST = Host("here", "127.0.0.1", 2, 6144, (Disk("/d", "flash"),), ("master", "worker", "client"))


@pytest.fixture
def plan() -> Plan:
    return make_plan(parse_study(STUDY, "tiny.yaml").study, [HOST])


class Story:
    """A journal with a simulated clock: each step takes `factor` times its estimate."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.t = 1000.0
        self.events: list[Event] = []

    def tell(self, event: str, **fields: Any) -> None:
        self.events.append(event_of({"t": self.t, "event": event, **fields}))

    def open(self) -> Story:
        self.tell("run-opened", run="r1", study="tiny", tag="tiny/r1")
        return self

    def begin(self, index: int) -> Story:
        step = self.plan.steps[index]
        self.tell("step-started", label=step.label, **_named(step))
        return self

    def end(self, index: int, outcome: str = "ok", message: str = "") -> Story:
        step = self.plan.steps[index]
        self.tell("step-ended", outcome=outcome, message=message, **_named(step))
        return self

    def run(self, *indexes: int, factor: float = 1.0) -> Story:
        for index in indexes:
            self.begin(index)
            self.t += self.plan.steps[index].estimate_s * factor
            self.end(index)
        return self


def _named(step: Step) -> dict[str, Any]:
    return {"index": step.index, "kind": step.kind, "build": step.build, "trial": step.trial}


def test_a_run_with_only_an_opening_is_starting(plan: Plan) -> None:
    state = progress(plan, Story(plan).open().events, now=1003.0)
    assert (state.state, state.position, state.elapsed_s) == ("starting", 0, 3.0)
    assert state.remaining_s == pytest.approx(plan.estimate_s + ANALYSIS_ESTIMATE_S)


def test_the_current_step_is_named_and_counted_from_one(plan: Plan) -> None:
    story = Story(plan).open().run(0).begin(1)
    story.tell("trial-state", trial="t1", state="settling")
    state = progress(plan, story.events, now=story.t + 4)
    assert state.current == plan.steps[1]
    assert (state.position, state.total) == (2, len(plan.steps))
    assert state.topology == plan.builds[plan.steps[1].build] in plan.topologies
    assert (state.state, state.activity) == ("running", "settling")


def test_a_bring_up_names_what_runs_now_since_when_and_where(plan: Plan, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    phases = Phases(Site(tmp_path / "b1", "tiny/r1/b1"), journal)
    begun = Story(plan).open().begin(0).events

    def doing() -> str:
        events = journal.events(Event)
        return progress(plan, [*begun, *events], now=events[-1].t + 34).doing

    with phases.timed("total"):
        with phases.timed("render"):
            assert doing() == "render, 34 s"
        assert doing() == "bring-up, 34 s"
        with phases.timed("create"):
            journal.intend("make-dir", "tiny/r1/b1", host="h7")
            assert doing() == "create, 34 s: make-dir on h7"
        phases.start("hdfs", "hbase")
        waited = [Service("hdfs", "namenode", lambda: Seen(False, ""))] * 2
        for service in waited:
            phases.waits_for(service, "8 of 10 DataNodes live")
        assert doing() == "hdfs, hbase, 34 s: namenode: 8 of 10 DataNodes live"
        assert len(journal.events(PhaseState)) == 1  # not again at each poll
        phases.end("hdfs", 1.0)
        assert doing() == "hbase, 34 s"
    ended = [*begun, *journal.events(Event), *Story(plan).end(0).events]
    assert progress(plan, ended, now=2000.0).doing == ""


def test_remaining_time_decreases_by_the_estimates_when_they_are_exact(plan: Plan) -> None:
    story = Story(plan).open().run(0, 1)
    state = progress(plan, story.events, now=story.t)
    remaining_s = sum(step.estimate_s for step in plan.steps[2:])
    assert state.remaining_s == pytest.approx(remaining_s + ANALYSIS_ESTIMATE_S)


def test_two_trials_of_a_duet_run_at_once_and_their_clusters_stand() -> None:
    plan = make_plan(parse_study(DUET, "d.yaml").study, [replace(HOST, memory_mib=8192)])
    story = Story(plan).open().run(0, 1).begin(2)
    both_s = sum(step.estimate_s for step in plan.steps[2:4])
    later_s = sum(step.estimate_s for step in plan.steps[4:]) + ANALYSIS_ESTIMATE_S
    for passed in (0.25, 0.75):
        state = progress(plan, story.events, now=story.t + passed * both_s)
        assert state.remaining_s == pytest.approx((1 - passed) * both_s + later_s)


def test_slow_trials_lengthen_the_estimates_of_trials_but_not_of_builds(plan: Plan) -> None:
    story = Story(plan).open().run(0).run(1, 2, factor=2.0)
    state = progress(plan, story.events, now=story.t)
    later = plan.steps[3:]
    plain = sum(step.estimate_s for step in later)
    trials = sum(step.estimate_s for step in later if step.kind == "trial")
    assert plain + trials * 0.5 < state.remaining_s - ANALYSIS_ESTIMATE_S < plain + trials


def test_a_skipped_step_does_not_affect_estimates(plan: Plan) -> None:
    story = Story(plan).open().run(0).begin(1).end(1, "skipped", "not built")
    state = progress(plan, story.events, now=story.t)
    remaining_s = sum(step.estimate_s for step in plan.steps[2:])
    assert state.remaining_s == pytest.approx(remaining_s + ANALYSIS_ESTIMATE_S)


def test_failures_are_shown_with_their_message(plan: Plan) -> None:
    story = Story(plan).open().begin(0).end(0, "failed", "datanode died")
    state = progress(plan, story.events, now=story.t)
    assert [(failed.step.index, failed.message) for failed in state.failed] == [
        (0, "datanode died")
    ]


def test_a_reopened_run_counts_from_its_reopening(plan: Plan) -> None:
    story = Story(plan).open().run(0, 1)
    story.t += 5000
    story.open().begin(0)
    state = progress(plan, story.events, now=story.t + 1)
    assert (state.elapsed_s, state.position, state.ended) == (1.0, 1, ())
    closed = plan.steps[1].estimate_s
    assert state.remaining_s < plan.estimate_s + ANALYSIS_ESTIMATE_S - closed


def test_analysis_and_end_are_shown(plan: Plan) -> None:
    story = Story(plan).open().run(*range(len(plan.steps)))
    story.tell("analysis-started", stage="verdicts")
    state = progress(plan, story.events, now=story.t + 10)
    assert (state.state, state.stage) == ("analysing", "verdicts")
    assert state.remaining_s == pytest.approx(ANALYSIS_ESTIMATE_S - 10)
    story.t += 20
    story.tell("run-ended", outcome="ok", message="")
    over = progress(plan, story.events, now=story.t + 999)
    assert (over.state, over.outcome, over.remaining_s) == ("ended", "ok", 0.0)
    assert over.elapsed_s == pytest.approx(plan.estimate_s + 20)


def test_a_repeated_analysis_changes_the_outcome_but_not_the_time(plan: Plan) -> None:
    story = Story(plan).open().run(*range(len(plan.steps)))
    story.tell("run-ended", outcome="failed", message="no report", finished=True)
    first = progress(plan, story.events, now=story.t)
    story.t += 3600
    story.tell("run-ended", outcome="ok", message="", finished=True)
    again = progress(plan, story.events, now=story.t)
    assert (first.outcome, again.outcome) == ("failed", "ok")
    assert again.elapsed_s == first.elapsed_s


def test_a_stopped_run_has_ended_and_is_not_finished(plan: Plan) -> None:
    story = Story(plan).open().run(0).begin(1)
    story.tell("run-ended", outcome="failed", message="stopped", finished=False)
    state = progress(plan, story.events, now=story.t + 999)
    assert (state.state, state.outcome, state.finished) == ("ended", "failed", False)
    assert state.remaining_s == 0
    story.open()
    assert not progress(plan, story.events, now=story.t).outcome


def test_a_reader_resumes_and_skips_torn_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    reader = Journal(journal.path)
    journal.record(PhaseEnded(build="b1", tag="s/r/b1", name="one", seconds=1.0))
    assert _phases(reader) == ["one"]
    with journal.path.open("a") as stream:
        stream.write('{"event": "to')
    assert _phases(reader) == ["one"]
    # after a crash: the torn line is closed, the new one is complete
    journal.record(PhaseEnded(build="b1", tag="s/r/b1", name="two", seconds=1.0))
    assert _phases(reader) == ["one", "two"]
    assert json.loads(journal.path.read_text().splitlines()[0])["event"] == "phase"


def _phases(reader: Journal) -> list[str]:
    return [event.name for event in reader.events(PhaseEnded)]


def test_a_cleared_trial_of_a_finished_run_needs_only_its_own_build(plan: Plan) -> None:
    story = Story(plan).open().run(*range(len(plan.steps)))
    story.tell("run-ended", outcome="ok", message="")
    again = plan.trials[1]
    story.open()
    story.tell("trials-cleared", trials=[again.trial])
    mine = [s for s in plan.steps if s.build == again.build and s.trial in (None, again.trial)]
    state = progress(plan, story.events, now=story.t)
    assert state.state == "starting"
    expected = sum(step.estimate_s for step in mine) + ANALYSIS_ESTIMATE_S
    assert state.remaining_s == pytest.approx(expected)
    story.run(mine[0].index, again.index)
    state = progress(plan, story.events, now=story.t)
    assert state.remaining_s == pytest.approx(mine[-1].estimate_s + ANALYSIS_ESTIMATE_S)


def test_a_trial_cleared_while_a_later_build_runs_is_still_to_come(plan: Plan) -> None:
    story = Story(plan).open()
    last = plan.trials[-1]
    story.run(*range(last.index)).begin(last.index)
    before = progress(plan, story.events, now=story.t).remaining_s
    first = plan.trials[0]
    story.tell("trials-cleared", trials=[first.trial])
    more = [s for s in plan.steps if s.build == first.build and s.trial in (None, first.trial)]
    after = progress(plan, story.events, now=story.t).remaining_s
    assert after - before == pytest.approx(sum(step.estimate_s for step in more))


def test_repetitions_that_are_not_needed_take_no_time(plan: Plan) -> None:
    story = Story(plan)
    before = progress(plan, story.events, story.t).remaining_s
    second = [str(step.trial) for step in plan.trials if step.build != plan.steps[0].build]
    ended = RepetitionsEnded(repetition=5, why="all were precise enough", spared=tuple(second))
    after = progress(plan, [*story.events, ended], story.t)
    assert after.remaining_s < before
    assert after.precise == "after 5 repetitions all were precise enough: the run takes no more"
