"""A cluster is kept until its time is over, and taken down whatever happens."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Thread

import pytest

from density_study.cluster.model.errors import BringUpError, HostBusyError, InputError, StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.events import (
    ClusterKept,
    Event,
    KeepAsked,
    KeptReleased,
    RunEnded,
    RunOpened,
    kept_in,
)
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.workloads.execution import keeping
from density_study.workloads.execution.keeping import Kept, keep, kept, step_of
from density_study.workloads.execution.run import Run, has_ended
from density_study.workloads.execution.steps import carry_out, what_is_left
from tests.support.drafts import plan, study
from tests.support.made_runs.fake_cluster import World, world

__all__ = ["world"]  # a fixture


@pytest.fixture
def run(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Open, and owned by this process."""
    monkeypatch.setattr(keeping, "LOOK_FOR_RELEASE_EVERY_S", 0.02)
    root = tmp_path / "runs" / "quickstart" / "r1"
    root.mkdir(parents=True)
    opened = Run(root, study(), plan(), Journal(root / "journal.jsonl"))
    owner = Owner.of_process(os.getpid())
    lease.acquire(opened.tag, root, owner)
    line = RunOpened(study="quickstart", run="r1", tag=opened.tag, owner=owner.to_json())
    opened.journal.record(line)
    return opened


def end_of(run: Run) -> RunEnded:
    (end,) = run.journal.events(RunEnded)
    return end


def test_it_stands_while_it_is_kept_and_not_after(run: Run, world: World) -> None:
    step, seen = step_of(run, None), []

    def ready(found: Kept) -> None:
        seen.append(kept())
        with pytest.raises(HostBusyError, match="is kept until"):
            lease.check_free("another/r1", Owner.of_dag_run("another"))
        assert found.until == pytest.approx(time.time() + 0.05, abs=1.0)

    keep(run, step, 0.05, ready)
    (found,) = seen
    assert found is not None
    assert (found.tag, found.build, found.owner.pid) == (run.tag, step.build, os.getpid())
    assert world.acts[:2] == [f"down {step.build}", f"up {step.build}"]
    assert set(world.acts[2:]) == {"down copies", *(f"down {build}" for build in run.plan.builds)}
    assert (end_of(run).outcome, has_ended(run), kept()) == ("ok", True, None)


def test_a_signal_takes_it_down(run: Run, world: World) -> None:
    def interrupt(_: Kept) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        keep(run, step_of(run, None), 3600, interrupt)
    assert world.acts[-1].startswith("down ")
    assert (end_of(run).outcome, kept()) == ("ok", None)


def test_a_failed_bring_up_is_the_error_and_keeps_nothing(run: Run, world: World) -> None:
    world.fail_up = lambda _: BringUpError("no port.", "w1", "look.", daemon="namenode")
    with pytest.raises(StudyError, match="no port"):
        keep(run, step_of(run, None), 3600, lambda _: pytest.fail("it does not stand"))
    assert (end_of(run).outcome, kept()) == ("failed", None)


def test_another_build_is_chosen_by_its_name(run: Run) -> None:
    last = list(run.plan.builds)[-1]
    assert step_of(run, last).build == last
    with pytest.raises(InputError, match="no build 'b9'"):
        step_of(run, "b9")


def test_a_study_that_measures_is_not_a_kept_cluster(run: Run) -> None:
    with pytest.raises(InputError, match="its cluster is not kept"):
        keeping.kept()


def carried_out(run: Run) -> list[str]:
    """The outcomes of all steps of the plan, in order."""
    return [carry_out(run, step).outcome for step in run.plan.steps]


def test_the_cluster_of_the_first_failed_trial_stays_and_nothing_more_is_measured(
    run: Run, world: World
) -> None:
    run.journal.record(KeepAsked(when="on-failure", seconds=3600))
    world.fail_trial = lambda trial: trial == run.plan.trials[1].trial
    build = run.plan.trials[1].build
    outcomes = carried_out(run)
    failed = outcomes.index("failed")
    assert run.plan.steps[failed].trial == run.plan.trials[1].trial
    assert set(outcomes[failed + 1 :]) == {"skipped"}
    assert world.acts[-1] == f"trial {run.plan.trials[1].trial}"
    assert what_is_left(run)  # the same command resumes it
    hold_until_released(run)
    with pytest.raises(InputError, match="its cluster is not kept"):
        kept()
    assert world.acts[-1] == f"trial {run.plan.trials[1].trial}", "the caller takes it down"
    assert run.journal.events(ClusterKept)[-1].build == build


def hold_until_released(run: Run) -> None:
    """As `study down` ends it: another process writes the line."""

    def release() -> None:
        while kept_in(run.journal.events(Event)) is None:
            time.sleep(0.01)
        found = kept()
        assert found is not None and found.until == pytest.approx(time.time() + 3600, abs=60)
        run.journal.record(KeptReleased())

    other = Thread(target=release)
    other.start()
    keeping.hold(run)
    other.join()


def test_without_a_failure_nothing_is_kept(run: Run, world: World) -> None:
    run.journal.record(KeepAsked(when="on-failure", seconds=3600))
    assert set(carried_out(run)) == {"ok"}
    keeping.hold(run)
    assert run.journal.events(ClusterKept) == []


def test_the_last_cluster_stays_until_its_time_is_over(run: Run, world: World) -> None:
    run.journal.record(KeepAsked(when="always", seconds=0.05))
    assert carried_out(run) == ["ok"] * (len(run.plan.steps) - 1) + ["skipped"]
    assert not what_is_left(run)
    keeping.hold(run)
    assert [event.build for event in run.journal.events(ClusterKept)] == [run.plan.steps[-1].build]


def test_a_resumed_run_keeps_only_what_it_is_asked_to(run: Run, world: World) -> None:
    run.journal.record(KeepAsked(when="always", seconds=3600))
    run.journal.record(run.journal.events(RunOpened)[-1])
    assert set(carried_out(run)) == {"ok"}
