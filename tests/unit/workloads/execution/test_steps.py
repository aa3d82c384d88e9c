"""Steps run in any order that a caller chooses, but never on the wrong cluster or without need."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import BringUpError, SeveralError, StudyError
from density_study.cluster.state.events import COPIES, StepStarted, TrialsCleared, TrialState
from density_study.workloads.base.values import TargetRate
from density_study.workloads.execution import steps
from density_study.workloads.execution.acts import began
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import (
    StepOutcome,
    carry_out,
    close_run,
    in_use,
    outcome_of,
    steps_left,
    what_is_left,
)
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.record import (
    Record,
    closed_records,
    earlier_attempts,
    read_manifest,
)
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import ycsb_study
from tests.support.made_runs.fake_cluster import World, open_again, opened_run, run, step_of, world

__all__ = ["run", "world"]  # fixtures


def carry_out_all(run: Run) -> list[tuple[str, str]]:
    return [(step.label, carry_out(run, step).outcome) for step in steps_left(run)]


def clear(run: Run, *trials: Step) -> None:
    run.journal.record(TrialsCleared(trials=tuple(str(step.trial) for step in trials)))


def test_steps_run_in_the_plans_order(run: Run, world: World) -> None:
    assert carry_out_all(run) == [(step.label, "ok") for step in run.plan.steps]
    assert world.ups_and_trials == [
        f"up {step.build}" if step.kind == "up" else f"trial {step.trial}"
        for step in run.plan.steps
        if step.kind != "down"
    ]
    assert steps_left(run) == []


def test_a_failed_bring_up_is_torn_down_at_once_and_its_trials_stay_visible(
    run: Run, world: World
) -> None:
    first = run.plan.steps[0].build
    failure = BringUpError("namenode died.", "namenode on node 'm1'", "read its log.")
    world.fail_up = lambda build: failure if build == first else None
    outcomes = dict(carry_out_all(run))
    assert outcomes[f"up {first}"] == "failed"
    assert world.acts[:3] == [f"down {first}", f"up {first}", f"down {first}"]
    mine = [step for step in run.plan.trials if step.build == first]
    assert all(outcomes[step.label] == "skipped" for step in mine)
    records = closed_records(run.records)
    assert all(records[str(step.trial)].state == "incomplete" for step in mine)
    other = next(build for build in run.plan.builds if build != first)
    assert outcomes[f"up {other}"] == "ok"


def test_a_failed_bring_up_records_its_trials_at_once_and_once(run: Run, world: World) -> None:
    """Airflow does not start them; `study run` may."""
    first = run.plan.steps[0]
    world.fail_up = lambda _: BringUpError(
        "namenode died.", "m1", "read its log.", daemon="namenode", log_tail="out of memory"
    )
    carry_out(run, first)
    mine = [step for step in run.plan.trials if step.build == first.build]
    records = closed_records(run.records)
    assert {*records} == {str(step.trial) for step in mine}
    why = {reason for record in records.values() for reason in record.reasons}
    assert why == {"its cluster did not come up: m1: namenode died."}
    assert carry_out(run, mine[0]).message == why.pop()
    assert earlier_attempts(run.records) == {}
    assert steps_left(run)[:2] == [first, mine[0]]  # a resumed run measures them


def test_an_interrupted_bring_up_is_torn_down_and_its_step_stays_open(
    run: Run, world: World
) -> None:
    first = run.plan.steps[0]
    world.fail_up = lambda _: KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        carry_out(run, first)
    assert world.acts[-1] == f"down {first.build}"
    assert carry_out(run, run.plan.trials[0]).outcome == "skipped"
    assert closed_records(run.records) == {}
    open_again(run)
    assert steps_left(run)[0] == first


def test_a_build_that_was_killed_and_made_again_is_torn_down_before_the_next(
    run: Run, world: World
) -> None:
    first, second = list(run.plan.builds)[:2]
    up, trial, *_ = run.plan.steps
    carry_out(run, up)
    began(run.journal, trial)  # and killed: nothing ends it
    open_again(run)
    for step in run.plan.steps:
        carry_out(run, step)
    again = world.acts.index(f"up {first}", world.acts.index(f"up {first}") + 1)
    between = world.acts[again : world.acts.index(f"up {second}")]
    assert f"down {first}" in between
    assert in_use(run) == []


def test_the_build_of_a_killed_step_is_torn_down_and_its_trials_stay_open(
    run: Run, world: World
) -> None:
    """A client that outlived its step may still load the cluster: no trial runs beside it."""
    killed = run.plan.trials[1]
    for step in run.plan.steps[: killed.index]:
        carry_out(run, step)
    run.journal.record(StepStarted(index=killed.index, kind="trial", build=killed.build,
                                   label=killed.label, trial=killed.trial))  # fmt: skip
    Record.open(run.records, draft_manifest(run, killed))
    world.acts.clear()
    outcomes = {s.label: carry_out(run, s).outcome for s in run.plan.steps[killed.index + 1 :]}
    assert outcomes[f"down {killed.build}"] == "ok"
    assert closed_records(run.records)[str(killed.trial)].state == "incomplete"
    mine = [step for step in run.plan.trials if step.build == killed.build]
    others = [step for step in run.plan.trials if step.build != killed.build]
    assert [act for act in world.acts if act.startswith("trial")] == [
        f"trial {step.trial}" for step in others
    ]
    assert what_is_left(run) == (
        f"{killed.label!r} did not finish; "
        f"{len(mine) - 1} of {len(run.plan.trials)} trials are left"
    )
    open_again(run)
    carry_out_all(run)
    assert what_is_left(run) == ""
    assert set(closed_records(run.records)) == {str(step.trial) for step in run.plan.trials}


def test_trials_that_could_not_run_are_not_pending(run: Run, world: World) -> None:
    world.fail_up = lambda _: BringUpError("boom", "w1", "look.", daemon="datanode", log_tail="")
    carry_out_all(run)
    assert what_is_left(run) == ""


def test_a_failed_trial_is_not_repeated_and_the_rest_goes_on(run: Run, world: World) -> None:
    bad = str(run.plan.trials[2].trial)
    world.fail_trial = lambda trial: trial == bad
    outcomes = carry_out_all(run)
    assert [label for label, outcome in outcomes if outcome == "failed"] == [
        run.plan.trials[2].label
    ]
    assert world.acts.count(f"trial {bad}") == 1


def test_a_failed_tear_down_is_a_failed_step(run: Run, world: World) -> None:
    build = run.plan.steps[0].build
    down = step_of(run, "down", build)
    for step in run.plan.steps[: down.index]:
        carry_out(run, step)
    world.fail_down = lambda _: True
    assert carry_out(run, down).outcome == "failed"
    assert in_use(run) == []


def test_closing_a_run_tries_each_build_and_reports_all_that_fail(run: Run, world: World) -> None:
    first, second, *others = [*run.plan.builds, COPIES]
    world.fail_down = lambda build: build in (first, second)
    with pytest.raises(SeveralError) as caught:
        close_run(run)
    assert [fault.where for fault in caught.value.faults] == [
        run.site(first).tag,
        run.site(second).tag,
    ]
    assert world.acts == [f"down {build}" for build in (first, second, *others)]


@pytest.mark.parametrize("crash_after", [0, 1, 3, 7, 8, 10, 16])
def test_after_a_crash_the_run_resumes_at_the_first_trial_without_a_closed_record(
    run: Run, world: World, crash_after: int
) -> None:
    for step in run.plan.steps[:crash_after]:
        carry_out(run, step)
    done = {act for act in world.acts if act.startswith("trial")}
    world.acts.clear()
    open_again(run)
    carry_out_all(run)
    again = [act for act in world.acts if act.startswith("trial")]
    assert not done & set(again)
    assert done | set(again) == {f"trial {step.trial}" for step in run.plan.trials}
    _every_trial_ran_on_a_cluster_built_in_this_opening(world.acts)


def _every_trial_ran_on_a_cluster_built_in_this_opening(acts: list[str]) -> None:
    standing = None
    for act in acts:
        kind, _, name = act.partition(" ")
        if kind == "up":
            standing = name
        elif kind == "down":
            standing = None
        else:
            assert standing is not None and name.startswith(standing)
    assert standing is None


def test_only_trial_steps_have_a_manifest(run: Run) -> None:
    with pytest.raises(ValueError, match="is not a trial"):
        draft_manifest(run, run.plan.steps[0])


def test_a_system_error_is_an_outcome_with_a_remedy(run: Run, world: World) -> None:
    world.fail_up = lambda _: OSError(28, "No space left on device")
    ended = carry_out(run, run.plan.steps[0])
    assert ended.outcome == "failed"
    assert str(run.root) in ended.message and "is full" in ended.message
    assert "Remedy: " in ended.message
    assert ended.step.label not in ended.message  # the caller that shows the outcome names its step


def test_programming_errors_in_a_step_are_raised(run: Run, world: World) -> None:
    world.fail_up = lambda _: ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        carry_out(run, run.plan.steps[0])
    assert isinstance(StudyError("a", "b", "c"), Exception)


def latency_run(root: Path) -> Run:
    """The quickstart with one latency target, opened."""
    return opened_run(root, ycsb_study("latency_at: [50%]"))


def test_a_symbolic_target_is_resolved_journalled_and_passed_to_the_trial(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = latency_run(tmp_path / "runs" / "quickstart" / "r1")
    planned: dict[str, list[str]] = {}

    def resolve(
        test_case: YcsbTestCase, trials: list[str], *_: Any
    ) -> tuple[YcsbTestCase, TargetRate]:
        planned[test_case.id] = trials
        target = TargetRate(percent=50, saturation_trial=trials[0], saturation_ops_s=900, ops_s=450)
        return test_case.model_copy(update={"target_ops_s": 450.0}), target

    monkeypatch.setattr(steps, "resolve", resolve)
    assert {outcome for _, outcome in carry_out_all(run)} == {"ok"}
    halves = [step for step in run.plan.trials if step.trial and step.trial.endswith("at50pct")]
    assert len(halves) == 4  # two mixes on two builds
    journalled = {e["trial"]: e for e in run.journal.read() if e["event"] == "target-resolved"}
    records = closed_records(run.records)
    for step in halves:
        entry, manifest = journalled[str(step.trial)], records[str(step.trial)]
        assert entry["ops_s"] == 450 and entry["saturation_trial"].startswith(step.build)
        assert isinstance(manifest.test_case, YcsbTestCase)
        assert manifest.test_case.target_ops_s == 450
        assert manifest.test_case_id == step.test_case.id  # type: ignore[union-attr]
    assert all(len(trials) == 1 for trials in planned.values())


def test_a_percentage_of_a_failed_saturation_is_incomplete_with_that_reason(
    tmp_path: Path, world: World
) -> None:
    run = latency_run(tmp_path / "runs" / "quickstart" / "r1")
    world.fail_trial = lambda trial: trial.endswith("read45-insert55-r100000-t8")
    outcomes = dict(carry_out_all(run))
    mine = [
        s for s in run.plan.trials if str(s.trial).endswith("read45-insert55-r100000-t8-at50pct")
    ]
    assert [outcomes[step.label] for step in mine] == ["skipped", "skipped"]
    assert not any(f"trial {step.trial}" in world.acts for step in mine)
    for step in mine:
        manifest = closed_records(run.records)[str(step.trial)]
        assert manifest.state == "incomplete"
        assert "is unknown: it is failed: broken" in manifest.reasons[0]


def test_manifests_of_trials_in_the_journal_are_not_read(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    carry_out_all(run)
    recorded, unknown = (str(step.trial) for step in run.plan.trials[:2])
    lines = run.journal.path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not ("trial-state" in line and unknown in line)]
    run.journal.path.write_text("".join(kept))
    read: list[str] = []
    monkeypatch.setattr(
        steps, "read_manifest", lambda record: read.append(record.name) or read_manifest(record)
    )
    assert steps.steps_left(run) == []
    assert read == [unknown]
    shutil.rmtree(run.records / recorded)  # the journal alone does not make a record
    assert {step.trial for step in steps.steps_left(run)} >= {recorded}


def test_a_cleared_trial_is_measured_again_on_a_cluster_of_its_own(run: Run, world: World) -> None:
    carry_out_all(run)
    again = run.plan.trials[1]
    world.acts.clear()
    open_again(run)
    assert steps_left(run) == []
    clear(run, again)
    up, down = step_of(run, "up", again.build), step_of(run, "down", again.build)
    assert steps_left(run) == [up, again, down]
    assert what_is_left(run).startswith("1 of ")
    outcomes = [carry_out(run, step).outcome for step in run.plan.steps]
    assert [s for s, o in zip(run.plan.steps, outcomes, strict=True) if o == "ok"] == [
        up,
        again,
        down,
    ]
    assert world.ups_and_trials == [f"up {again.build}", f"trial {again.trial}"]
    assert (what_is_left(run), steps_left(run)) == ("", [])
    earlier = earlier_attempts(run.records)
    assert {trial: [m.state for m in attempts] for trial, attempts in earlier.items()} == {
        str(again.trial): ["complete"]
    }


def test_the_newest_attempt_counts_even_if_it_failed(run: Run, world: World) -> None:
    carry_out_all(run)
    again = run.plan.trials[0]
    open_again(run)
    clear(run, again)
    world.fail_trial = lambda _: True
    carry_out_all(run)
    assert closed_records(run.records)[str(again.trial)].state == "failed"
    assert steps_left(run) == []


def test_a_cleared_trial_whose_cluster_does_not_come_up_keeps_its_record(
    run: Run, world: World
) -> None:
    carry_out_all(run)
    again = run.plan.trials[0]
    open_again(run)
    clear(run, again)
    world.fail_up = lambda _: BringUpError("boom", "w1", "look.", daemon="datanode", log_tail="")
    outcomes = dict(carry_out_all(run))
    assert outcomes[again.label] == "skipped"
    assert closed_records(run.records)[str(again.trial)].state == "complete"
    assert earlier_attempts(run.records) == {}


def test_a_killed_second_attempt_is_incomplete_and_measured_again(run: Run, world: World) -> None:
    carry_out_all(run)
    again = run.plan.trials[0]
    open_again(run)
    clear(run, again)
    carry_out(run, step_of(run, "up", again.build))
    run.journal.record(StepStarted(index=again.index, kind="trial", build=again.build,
                                   label=again.label, trial=again.trial))  # fmt: skip
    run.journal.record(TrialState(trial=str(again.trial), state="preparing"))
    Record.open(run.records, draft_manifest(run, again))
    open_again(run)
    assert again in steps_left(run)
    carry_out_all(run)
    records = closed_records(run.records)
    assert records[str(again.trial)].state == "complete"
    attempts = earlier_attempts(run.records)[str(again.trial)]
    assert [manifest.state for manifest in attempts] == ["complete", "incomplete"]


def test_a_bring_up_removes_what_else_of_the_run_stands(run: Run, world: World) -> None:
    first, second = run.plan.builds
    carry_out(run, step_of(run, "up", first))
    assert in_use(run) == [first]
    world.acts.clear()
    carry_out(run, step_of(run, "up", second))
    assert sorted(world.acts[:2]) == [f"down {first}", f"down {second}"]
    assert world.acts[2] == f"up {second}"


def test_a_build_that_stands_is_not_built_again(run: Run, world: World) -> None:
    up = run.plan.steps[0]
    carry_out(run, up)
    world.acts.clear()
    assert carry_out(run, up) == StepOutcome(up, "ok", "it is up")
    assert world.acts == []


def test_a_trial_without_its_cluster_is_not_run(run: Run, world: World) -> None:
    trial = run.plan.trials[0]
    ended = carry_out(run, trial)
    assert (ended.outcome, world.acts) == ("skipped", [])
    assert "does not stand" in ended.message
    assert outcome_of(run, trial) == ended
    assert outcome_of(run, run.plan.trials[1]) is None


def test_a_stopped_run_frees_this_machine_though_another_host_does_not_answer(
    run: Run, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object) -> None:
        raise StudyError("it does not answer.", "host h2", "start it.")

    freed: list[str] = []
    monkeypatch.setattr(steps, "release_hosts", lost)
    monkeypatch.setattr(steps.lease, "release", freed.append)
    with pytest.raises(StudyError, match="does not answer"):
        close_run(run)
    assert freed == [run.tag]
