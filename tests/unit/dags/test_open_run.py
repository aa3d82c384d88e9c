"""Which run a command opens: a new one, an unfinished one, or an extended one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE
from density_study.analysis.capacity.inputs.question import question
from density_study.analysis.capacity.sizing import run_plan
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.journal import run_folders
from density_study.cluster.state.owner import Owner
from density_study.dags.run_status.status import find_run
from density_study.dags.stages import conclusion
from density_study.jobs.run_folder import point_to_newest
from density_study.workloads.execution import opening, steps
from density_study.workloads.execution.opening import RunRequest, open_run, reopen_run
from density_study.workloads.execution.run import Run, end_run, has_ended, load_run, run_of
from density_study.workloads.execution.run_facts import UNREADABLE, facts_of
from density_study.workloads.execution.steps import steps_left
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.planning.plan import Plan
from density_study.workloads.record.record import Record
from density_study.workloads.study.hypotheses import read_hypotheses
from density_study.workloads.study.study import Study
from tests.support.capacity.populations import measured, truths
from tests.support.drafts import QUICKSTART, host


@pytest.fixture(autouse=True)
def nothing_real(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No lease of the machine, no probe of its disks: the choice of the run does not depend on
    them."""
    for name in ("acquire", "release", "abandon", "check_free"):
        monkeypatch.setattr(opening.lease, name, lambda *_: None)
    monkeypatch.setattr(opening, "preflight", lambda *_: None)
    monkeypatch.setattr(opening, "resolve_hosts", lambda *_: [host()])
    ids = (f"2026112{n}T000000Z" for n in range(10))
    monkeypatch.setattr(opening, "next_run_id", lambda _: next(ids))
    yield


def opened(runs: Path, **ask: object) -> Run:
    return open_run(QUICKSTART, runs, request=RunRequest(**ask))  # type: ignore[arg-type]


def test_only_an_unfinished_run_is_resumed(tmp_path: Path) -> None:
    first = opened(tmp_path)
    assert opened(tmp_path).root == first.root
    end_run(first, "ok")
    assert opened(tmp_path).root != first.root


def test_a_stopped_run_is_resumed(tmp_path: Path) -> None:
    first = opened(tmp_path)
    end_run(first, "failed", "stopped", finished=False)
    again = opened(tmp_path)
    assert again.root == first.root
    end_run(again, "ok")
    assert opened(tmp_path).root != first.root


def test_a_run_of_an_earlier_version_is_resumed_and_no_new_one_begun(tmp_path: Path) -> None:
    """`seed: 01` was 1, and is refused now."""
    spec = tmp_path / "quickstart.yaml"
    text, found = re.subn(r"(?m)^seed: .*$", "seed: 1", QUICKSTART.read_text())
    assert found == 1
    spec.write_text(text)
    first = open_run(spec, tmp_path / "runs")
    for file in (spec, first.root / "study.yaml"):
        file.write_text(text.replace("seed: 1", "seed: 01"))
    again = open_run(spec, tmp_path / "runs")
    assert (again.root, again.study.seed) == (first.root, 1)
    assert facts_of(first.root).state != UNREADABLE
    assert read_hypotheses(first.root / "study.yaml").question == first.study.question
    with pytest.raises(InputError, match="begins with a zero"):
        open_run(spec, tmp_path / "runs", request=RunRequest(fresh=True))


def test_added_repetitions_are_the_only_open_steps_of_a_finished_run(tmp_path: Path) -> None:
    first = opened(tmp_path)
    end_run(first, "ok")
    longer = opened(tmp_path, add_repetitions=2)
    assert longer.root == first.root
    assert longer.plan.repetitions == 3
    assert load_run(first.root).plan == longer.plan
    assert {step.repetition for step in longer.plan.trials} == {1, 2, 3}


def test_the_same_command_after_a_crash_resumes_and_adds_nothing(tmp_path: Path) -> None:
    end_run(opened(tmp_path), "ok")
    once = opened(tmp_path, add_repetitions=2, only=("ycsb-*",))
    again = opened(tmp_path, add_repetitions=2, only=("ycsb-*",))
    assert again.plan == once.plan
    assert opened(tmp_path).plan == once.plan


def test_a_crash_between_plan_and_journal_keeps_the_extension_open(tmp_path: Path) -> None:
    first = opened(tmp_path)
    end_run(first, "ok")
    before = first.journal.path.read_bytes()
    longer = opened(tmp_path, add_repetitions=1)
    first.journal.path.write_bytes(before)  # as if killed right after the plan was written
    assert not has_ended(load_run(first.root))
    assert opened(tmp_path, add_repetitions=1).plan == longer.plan


def test_another_extension_of_an_unfinished_run_is_refused(tmp_path: Path) -> None:
    opened(tmp_path)
    with pytest.raises(InputError, match="unfinished") as caught:
        opened(tmp_path, add_repetitions=2)
    assert "--fresh" in caught.value.remedy


def test_repetitions_cannot_be_added_to_a_run_that_never_ran(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished run"):
        opened(tmp_path, add_repetitions=2)
    assert not list(tmp_path.glob("quickstart/*"))


def test_only_creates_a_run_of_some_test_cases_and_the_same_command_resumes_it(
    tmp_path: Path,
) -> None:
    first = opened(tmp_path, only=("testdfsio-*",))
    assert {step.test_case.workload for step in steps_left(first) if step.test_case} == {
        "testdfsio"
    }
    assert opened(tmp_path, only=("testdfsio-*",)).root == first.root
    with pytest.raises(InputError, match="unfinished"):
        opened(tmp_path, only=("ycsb-*",))


@pytest.fixture
def measured_points(monkeypatch: pytest.MonkeyPatch) -> None:
    points = measured(truths(1, 1), (2, 4, 8), seed=1)
    monkeypatch.setattr(
        "density_study.analysis.capacity.sizing.run_plan.run_points", lambda _: points
    )


def publish_and_plan(run: Run) -> None:
    """Airflow's steps after each run: its report, a link to the newest one, a capacity plan."""
    report = run.root / "report"
    report.mkdir()
    (report / "index.html").write_text("a report")
    point_to_newest(run.root)
    run_plan.plan_run(run.root, question(10, ()), "wgs30x", EXAMPLE)
    end_run(run, "ok")


@pytest.mark.usefixtures("measured_points")
def test_a_report_with_a_capacity_plan_is_not_mistaken_for_a_run(tmp_path: Path) -> None:
    first = opened(tmp_path)
    publish_and_plan(first)
    assert (tmp_path / "quickstart" / "report").is_symlink()
    assert find_run(None, tmp_path).root == first.root
    second = opened(tmp_path)
    publish_and_plan(second)
    assert second.root != first.root
    assert find_run(None, tmp_path).root == second.root
    assert find_run(Path(first.id), tmp_path).root == first.root
    assert run_folders(tmp_path) == [first.root, second.root]
    with pytest.raises(InputError, match="not the folder or the id of a run"):
        find_run(Path("report"), tmp_path)


def test_a_link_to_a_run_is_not_a_second_run(tmp_path: Path) -> None:
    first = opened(tmp_path)
    (first.root.parent / "newest").symlink_to(first.root)
    assert opened(tmp_path).root == first.root
    assert run_folders(tmp_path, "quickstart") == [first.root]


def test_only_runs_left_unfinished_by_their_dag_run_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tear_down", "release_hosts"):
        monkeypatch.setattr(steps, name, lambda *_: None)
    first, second = Owner.of_dag_run("study_q/first"), Owner.of_dag_run("study_q/second")
    run = open_run(QUICKSTART, tmp_path, owner=first)
    conclusion.stop(run, second, "cleared")
    assert [entry["event"] for entry in run.journal.read()] == ["run-opened"]
    conclusion.stop(run, first, "cleared")
    ended = list(run.journal.read())
    assert (ended[-1]["event"], ended[-1]["outcome"]) == ("run-ended", "failed")
    assert ended[-1]["message"].startswith(
        "cleared: 12 of 12 trials are left, starting with 'trial "
    )
    assert not has_ended(run)
    conclusion.stop(run, first, "cleared")
    assert list(run.journal.read()) == ended
    assert opened(tmp_path).root == run.root


def test_hosts_are_resolved_once_and_a_rejected_plan_creates_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolved: list[object] = []
    monkeypatch.setattr(opening, "resolve_hosts", lambda *_: resolved.append(1) or [host()])
    checked: list[str] = []

    def reject(study: Study, plan: Plan) -> None:
        checked.append(plan.study)
        raise InputError("it can show nothing.", "expect", "add repetitions.")

    with pytest.raises(InputError, match="can show nothing"):
        open_run(QUICKSTART, tmp_path, check=reject)
    assert (len(resolved), checked) == (1, ["quickstart"])
    assert not list(tmp_path.glob("quickstart/*"))
    open_run(QUICKSTART, tmp_path, check=lambda study, plan: checked.append(plan.study))
    assert (len(resolved), checked) == (2, ["quickstart"] * 2)


def test_a_plan_that_does_not_fit_is_refused_for_new_and_resumed_runs(tmp_path: Path) -> None:
    def refuse(study: Study, plan: Plan) -> None:
        raise InputError("other builds.", study.study, "wait.")

    with pytest.raises(InputError, match="other builds"):
        open_run(QUICKSTART, tmp_path, fits=refuse)
    assert not list(tmp_path.glob("quickstart/*"))
    first = opened(tmp_path)
    before = first.journal.path.read_bytes()
    with pytest.raises(InputError, match="other builds"):
        open_run(QUICKSTART, tmp_path, fits=refuse)
    assert first.journal.path.read_bytes() == before


def test_a_run_is_found_by_the_dag_run_that_opened_it(tmp_path: Path) -> None:
    first = open_run(QUICKSTART, tmp_path, dag_run="study_quickstart/one")
    end_run(first, "failed", finished=False)
    resumed = open_run(QUICKSTART, tmp_path, dag_run="study_quickstart/two")
    end_run(resumed, "ok")
    later = open_run(QUICKSTART, tmp_path, dag_run="study_quickstart/three")
    found = {
        name: run.root.name
        if (run := run_of(f"study_quickstart/{name}", tmp_path, "quickstart"))
        else ""
        for name in ("one", "two", "three", "four")
    }
    assert found == {"one": first.id, "two": first.id, "three": later.id, "four": ""}


def test_a_finished_run_is_opened_again_for_cleared_trials_alone(tmp_path: Path) -> None:
    run = opened(tmp_path)
    for step in run.plan.trials:
        draft = draft_manifest(run, step).model_copy(update={"state": "complete"})
        Record.open(run.records, draft).close(draft)
    end_run(run, "ok")
    again = run.plan.trials[3]
    reopen_run(run, Owner.of_dag_run("a/1"), "a/1", [str(again.trial)])
    assert not has_ended(run)
    assert [step.kind for step in steps_left(run)] == ["up", "trial", "down"]
    assert steps_left(run)[1] == again
