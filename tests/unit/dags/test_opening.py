"""What a DAG run opens: a new run, an unfinished one, or the same one again for what was cleared."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from density_study.cluster.model.errors import HostBusyError, HostLostError, InputError, StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.events import OwnerDeclaredDead, TrialsCleared
from density_study.cluster.state.owner import SILENT_AFTER_S, Owner, here
from density_study.cluster.state.presence import present
from density_study.dags.airflow_home.home import SCHEDULER_PID, Home
from density_study.dags.cli import carry_out as command
from density_study.dags.stages import conclusion, study_stages
from density_study.dags.stages.opening import DagRunRequest, airflow_owner, check_fits, opened
from density_study.dags.stages.outline import steps_of
from density_study.dags.stages.task_names import trial_task
from density_study.jobs.stage_names import STAGE_NAMES
from density_study.workloads.execution import opening as workloads_opening
from density_study.workloads.execution import steps
from density_study.workloads.execution.run import Run, end_run, has_ended, load_run
from density_study.workloads.execution.steps import steps_left
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.record.record import Record
from tests.support.drafts import QUICKSTART, host, plan, study

ONE = "study_quickstart/one"


@pytest.fixture(autouse=True)
def nothing_real(runtime: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workloads_opening, "preflight", lambda *_: None)
    monkeypatch.setattr(workloads_opening, "resolve_hosts", lambda *_: [host()])
    ids = (f"2026112{n}T000000Z" for n in range(10))
    monkeypatch.setattr(workloads_opening, "next_run_id", lambda _: next(ids))
    for name in ("tear_down", "release_hosts"):
        monkeypatch.setattr(steps, name, lambda *_: None)
    yield


def asked(
    tmp_path: Path, dag_run: str = ONE, *, fresh: bool = False, **rest: object
) -> DagRunRequest:
    return DagRunRequest(
        spec=str(rest.pop("spec", QUICKSTART)), runs=str(tmp_path / "runs"), fresh=fresh,
        steps=steps_of(plan()), dag_run=dag_run, **rest,  # type: ignore[arg-type]
    )  # fmt: skip


def open_one(tmp_path: Path, dag_run: str = ONE, **rest: object) -> Run:
    root = opened(asked(tmp_path, dag_run, **rest))  # type: ignore[arg-type]
    assert root is not None
    return load_run(Path(root))


def test_a_fault_of_the_progress_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    run = open_one(tmp_path)
    ended = SimpleNamespace(
        wait=lambda _: 0
    )  # no process: another test's run may have the same tag
    monkeypatch.setattr(command, "Child", lambda *_: nullcontext(ended))
    monkeypatch.setattr(command, "stop_all", lambda *_: None)

    def show(_: object) -> None:
        raise FileNotFoundError("a record that was closed")

    assert command.carry_out(run, Home(tmp_path, tmp_path), show).succeeded
    assert len([line for line in caplog.messages if "the run goes on" in line]) == 1


def test_a_lost_host_hides_no_other_failure_and_keeps_back_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = tmp_path / "told.yaml"
    spec.write_text(f"{QUICKSTART.read_text()}notify: [{{webhook: hook}}]\n")
    run = open_one(tmp_path, spec=str(spec))
    sent: list[str] = []

    def lost(*_: object) -> None:
        raise HostLostError("no answer.", "host 'h1'", "look at it.")

    killed = SimpleNamespace(wait=lambda _: -9)
    monkeypatch.setattr(command, "Child", lambda *_: nullcontext(killed))
    monkeypatch.setattr(command, "stop_all", lambda *_: None)
    monkeypatch.setattr(command, "tell", lambda run, home, reason: sent.append(reason))
    monkeypatch.setattr(study_stages, "close_run", lost)
    end = command.carry_out(run, Home(tmp_path, tmp_path), lambda _: None)
    assert sent == [end.failures[0]] and "ended by SIGKILL" in sent[0]
    assert [one for one in end.failures if "host 'h1': no answer." in one] == [
        "tear-down: host 'h1': no answer. Remedy: look at it."
    ]
    stops = iter((lambda *_: None, lost))  # the second one is before the tear-down
    monkeypatch.setattr(command, "stop_all", lambda *_: next(stops)())
    end = command.carry_out(run, Home(tmp_path, tmp_path), lambda _: None)
    assert not end.succeeded and any("host 'h1': no answer." in one for one in end.failures)


def finish(run: Run) -> None:
    """As if every trial had been measured."""
    for step in steps_left(run):
        if step.kind == "trial":
            draft = draft_manifest(run, step).model_copy(update={"state": "complete"})
            Record.open(run.records, draft).close(draft)
    end_run(run, "ok")


def states(run: Run, *pending: str, analysis: str | None = "success") -> dict[str, str | None]:
    """Of a DAG run's tasks: all finished, but the trials `pending`."""
    found: dict[str, str | None] = {
        f"{step.build}.{trial_task(step.build, str(step.trial))}": (
            None if step.trial in pending else "success"
        )
        for step in run.plan.trials
    }
    return {**found, **{f"analysis.{stage}": analysis for stage in STAGE_NAMES}, "open": "running"}


def test_a_first_try_resumes_an_unfinished_run_or_begins_one(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    end_run(run, "failed", finished=False)
    again = open_one(tmp_path, "study_quickstart/two")
    assert again.root == run.root
    finish(again)
    assert open_one(tmp_path, "study_quickstart/three").root != run.root


def test_fresh_begins_a_new_run_beside_an_unfinished_one(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    end_run(run, "failed", finished=False)
    assert open_one(tmp_path, "study_quickstart/two", fresh=True).root != run.root


def test_a_cleared_trial_opens_the_same_run_again(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    finish(run)
    later = open_one(tmp_path, "study_quickstart/two")
    finish(later)
    again = run.plan.trials[2]
    same = open_one(tmp_path, states=states(run, str(again.trial), analysis=None))
    assert same.root == run.root, "that of its own DAG run, although there is a newer one"
    assert not has_ended(run)
    assert [step.trial for step in steps_left(run) if step.trial] == [again.trial]
    holder = lease.holder()
    assert holder is not None and holder.tag == run.tag


def test_trials_cleared_while_the_run_is_open_are_added(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    first = str(run.plan.trials[0].trial)
    same = open_one(tmp_path, states=states(run, first))
    assert same.root == run.root
    (event,) = run.journal.since_opening(TrialsCleared)
    assert event.trials == (first,)


def test_a_cleared_analysis_needs_no_host(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    finish(run)
    before = list(run.journal.read())
    assert open_one(tmp_path, states=states(run, analysis=None)).root == run.root
    assert list(run.journal.read()) == before
    assert lease.holder() is None


def test_a_cleared_dag_run_begins_a_new_run_or_resumes_its_own(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    every = [str(step.trial) for step in run.plan.trials]
    resumed = open_one(tmp_path, states=states(run, *every, analysis=None))
    assert resumed.root == run.root
    finish(resumed)
    fresh = open_one(tmp_path, states=states(run, *every, analysis=None))
    assert fresh.root != run.root


def make_silent(run: Run) -> None:
    long_ago = time.time() - 10 * SILENT_AFTER_S
    for path in run.root.glob("*"):
        os.utime(path, (long_ago, long_ago))


def test_a_run_whose_dag_run_ended_without_its_conclusion_is_resumed(tmp_path: Path) -> None:
    """The worker was killed in `conclude`. Only Airflow knows that the DAG run is over."""
    run = open_one(tmp_path)
    make_silent(run)
    for ended in ((), ("study_quickstart/another",)):
        with pytest.raises(HostBusyError, match="may be running"):
            open_one(tmp_path, "study_quickstart/two", ended=ended)
    make_silent(run)
    assert open_one(tmp_path, "study_quickstart/two", ended=(ONE,)).root == run.root
    assert run.journal.events(OwnerDeclaredDead)[-1].owner == ONE
    holder = lease.holder()
    assert holder is not None and holder.owner.dag_run == "study_quickstart/two"


def test_a_live_run_is_left_alone_whatever_airflow_says(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    with present(run.root):
        make_silent(run)
        with pytest.raises(HostBusyError):
            open_one(tmp_path, "study_quickstart/two", ended=(ONE,))
    assert run.journal.events(OwnerDeclaredDead) == []


def test_a_lost_run_of_another_study_gives_the_host_back(tmp_path: Path) -> None:
    lost = open_one(tmp_path)
    make_silent(lost)
    mine = tmp_path / "mine.yaml"
    mine.write_text(QUICKSTART.read_text().replace("study: quickstart", "study: mine"))
    with pytest.raises(HostBusyError):
        open_one(tmp_path, "study_mine/one", spec=mine)
    make_silent(lost)
    run = open_one(tmp_path, "study_mine/one", spec=mine, ended=(ONE,))
    holder = lease.holder()
    assert holder is not None and holder.tag == run.tag


def test_a_busy_host_is_waited_for_only_by_a_study_that_queues(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    lease.acquire("other/r1", other, Owner.of_process(1))
    with pytest.raises(HostBusyError):
        opened(asked(tmp_path))
    queues = tmp_path / "queues.yaml"
    queues.write_text(QUICKSTART.read_text() + "when_busy: queue\n")
    assert opened(asked(tmp_path, spec=queues)) is None
    assert not (tmp_path / "runs").exists()
    lease.release("other/r1")
    assert opened(asked(tmp_path, spec=queues)) is not None


def test_waiting_probes_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another study may be measuring them."""

    def probe(*_: object) -> None:
        raise AssertionError("the disks were probed")

    lease.acquire("other/r1", tmp_path, Owner.of_process(1))
    monkeypatch.setattr(workloads_opening, "resolve_hosts", probe)
    with pytest.raises(HostBusyError):
        opened(asked(tmp_path))


def test_a_plan_with_other_trials_than_the_dag_is_refused() -> None:
    made = plan()
    check_fits(study(), made, steps_of(made))
    fewer = made.model_copy(update={"steps": made.steps[:-2]})
    with pytest.raises(InputError, match="other builds or trials") as caught:
        check_fits(study(), fewer, steps_of(made))
    assert "disk_type: auto" in caught.value.remedy
    assert "an earlier version began it, finish it with `study run`" in caught.value.remedy
    assert "or `fresh` in Airflow" in caught.value.remedy


def test_old_names_in_a_study_are_named_in_the_tasks_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = tmp_path / "quickstart.yaml"
    spec.write_text(QUICKSTART.read_text().replace("disk_type: auto", "medium: auto"))
    assert opened(asked(tmp_path, spec=str(spec)))
    assert [line for line in caplog.messages if "medium is the old name of disk_type" in line]


def test_the_owner_is_the_embedded_scheduler_else_the_dag_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(SCHEDULER_PID, raising=False)
    assert airflow_owner(ONE) == Owner.of_dag_run(ONE)
    monkeypatch.setenv(SCHEDULER_PID, "1")
    assert airflow_owner(ONE) == Owner.of_process(1)


def test_a_report_is_old_once_a_trial_was_measured_after_it(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    assert not conclusion._report_is_old(run), "there is none"
    run.journal.write("trial-state", trial="t", state="closed", outcome="complete")
    run.journal.write("analysis-started", stage="ingest")
    assert not conclusion._report_is_old(run)
    run.journal.write("trial-state", trial="t", state="closed", outcome="complete")
    assert conclusion._report_is_old(run)


def test_a_local_cluster_is_not_touched_from_another_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_one(tmp_path)
    elsewhere = replace(here(), host="another-worker")
    monkeypatch.setattr(study_stages, "here", lambda: elsewhere)
    before = list(run.journal.read())
    with pytest.raises(StudyError, match="runs on 'another-worker'") as caught:
        study_stages.carry_out(str(run.root), "up", "b1-v1-flash")
    assert "queue" in caught.value.remedy
    assert list(run.journal.read()) == before
    with pytest.raises(StudyError, match="another-worker"):
        study_stages.tear_down(str(run.root))


def test_a_step_that_the_plan_does_not_have_is_named(tmp_path: Path) -> None:
    run = open_one(tmp_path)
    with pytest.raises(StudyError, match="no step trial 'b9-v9-flash-000-x'"):
        study_stages.carry_out(str(run.root), "trial", "b9-v9-flash-000-x")
