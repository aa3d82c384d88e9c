"""Both clusters of a duet are up at once, and two of its trials are one step, whichever is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import BringUpError
from density_study.cluster.state.events import KeepAsked, TrialsCleared
from density_study.workloads.execution.acts import began
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, steps_left, what_is_left
from density_study.workloads.planning.plan import Step, make_plan
from density_study.workloads.record.record import closed_records, earlier_attempts
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import host
from tests.support.made_runs.fake_cluster import DUET, World, open_again, opened_run, world

__all__ = ["world"]  # fixture


@pytest.fixture
def duet(runtime: None, tmp_path: Path) -> Run:
    of = parse_study(DUET, "d.yaml").study
    return opened_run(tmp_path / "runs" / "duet" / "r1", of, make_plan(of, [host(8192)]))


def pair(run: Run, number: int = 0) -> tuple[Step, Step]:
    first = run.plan.trials[2 * number]
    second = run.plan.partner(first)
    assert second is not None
    return first, second


def carry_out_all(run: Run) -> list[str]:
    return [carry_out(run, step).outcome for step in steps_left(run)]


def ups(run: Run) -> list[Step]:
    return [step for step in run.plan.steps if step.kind == "up"]


def test_both_stand_while_their_trials_run(duet: Run, world: World) -> None:
    assert carry_out_all(duet) == 8 * ["ok"]
    first, second = (step.build for step in ups(duet))
    trials = [f"trial {step.trial}" for step in duet.plan.trials]
    expected = [f"down {first}", f"up {first}", f"down {second}", f"up {second}", *trials]
    assert world.acts == [*expected, f"down {first}", f"down {second}"]
    assert what_is_left(duet) == ""


def test_the_second_one_has_ended_with_the_first(duet: Run, world: World) -> None:
    for step in ups(duet):
        carry_out(duet, step)
    first, second = pair(duet)
    world.fail_trial = lambda trial: trial == second.trial
    assert carry_out(duet, first).outcome == "ok"
    told = carry_out(duet, second)
    assert (told.outcome, told.message) == ("failed", "broken")
    assert [act for act in world.acts if act.startswith("trial")] == [
        f"trial {first.trial}", f"trial {second.trial}",
    ]  # fmt: skip


def test_a_cleared_trial_is_measured_again_with_its_partner(duet: Run, world: World) -> None:
    carry_out_all(duet)
    open_again(duet)
    first, second = pair(duet, 1)
    duet.journal.record(TrialsCleared(trials=(str(second.trial),)))
    world.acts.clear()
    left = steps_left(duet)
    assert [step.trial for step in left if step.trial] == [first.trial, second.trial]
    assert {step.build for step in left} == {first.build, second.build}
    # Airflow executes only what was cleared
    for step in (*ups(duet), second):
        assert carry_out(duet, step).outcome == "ok"
    for trial in (first.trial, second.trial):
        assert len(earlier_attempts(duet.records)[str(trial)]) == 1
    assert carry_out(duet, first).outcome == "ok"  # not a third time
    assert len(earlier_attempts(duet.records)[str(first.trial)]) == 1


@pytest.mark.parametrize("which", [0, 1])
def test_without_one_cluster_neither_is_measured(duet: Run, world: World, which: int) -> None:
    lost = ups(duet)[which].build
    fault = BringUpError("namenode died.", "m1", "read its log.")
    world.fail_up = lambda build: fault if build == lost else None
    outcomes = carry_out_all(duet)
    assert outcomes[2:6] == 4 * ["skipped"]
    records = closed_records(duet.records)
    assert {trial: one.state for trial, one in records.items()} == {
        str(step.trial): "incomplete" for step in duet.plan.trials
    }
    why = "its cluster did not come up: m1: namenode died."
    assert {one.reasons for one in records.values()} == {(why,)}
    assert not any(act.startswith("trial") for act in world.acts)


def test_a_killed_trial_stops_both_clusters_trials(duet: Run, world: World) -> None:
    for step in ups(duet):
        carry_out(duet, step)
    first, second = pair(duet)
    began(duet.journal, second)  # and never ended
    for step in (*pair(duet, 1), first, second):
        told = carry_out(duet, step)
        assert told.outcome == "skipped"
        assert "was killed" in told.message
    world.acts.clear()
    for step in ups(duet):
        assert carry_out(duet, step).message == ""
    assert sorted(act for act in world.acts if act.startswith("up")) == sorted(
        f"up {step.build}" for step in ups(duet)
    )
    assert carry_out(duet, first).outcome == "ok"


def test_the_other_cluster_is_kept_as_well(duet: Run, world: World) -> None:
    duet.journal.record(KeepAsked(when="always", seconds=60))
    carry_out_all(duet)
    first, second = (step.build for step in ups(duet))
    assert world.acts.count(f"down {first}") == world.acts.count(f"down {second}") == 1
