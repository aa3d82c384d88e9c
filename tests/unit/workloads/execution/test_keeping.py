"""A cluster is kept until its time is over, and taken down whatever happens."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from density_study.cluster.model.errors import BringUpError, HostBusyError, InputError, StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.events import RunEnded, RunOpened
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.workloads.execution import keeping
from density_study.workloads.execution.keeping import Kept, keep, kept, step_of
from density_study.workloads.execution.run import Run, has_ended
from tests.support.drafts import plan, study
from tests.unit.workloads.execution.test_steps import World, world

__all__ = ["world"]  # a fixture


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Open, and owned by this process."""
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
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
    assert set(world.acts[2:]) == {f"down {build}" for build in run.plan.builds}
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
