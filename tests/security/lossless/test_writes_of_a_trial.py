"""Every write of this process during a trial fails once: a message, no half record, no record lost, and after
the next opening of the run each trial has the record that it has in an undisturbed run."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.file_fault import as_study_errors
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.execution import steps, trial
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import StepOutcome, carry_out, steps_left
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.record import closed_records
from tests.security.lossless.each_write import OF_DISKS
from tests.support.drafts import plan, study
from tests.support.hostile.failing_writes import Writes, watched
from tests.support.made_runs.fake_cluster import World, open_again, opened_run, step_of

pytestmark = pytest.mark.usefixtures("runtime")


class Runner:
    """A client that writes its output, and a file of its own beside."""

    def prepare(self, context: TrialContext, _: Any) -> Prepared:
        return Prepared(data_set_mib=7.0)

    def run(self, context: TrialContext, _: Any) -> tuple[ClientRun, ...]:
        context.journal.write("client-started")
        for name in ("c.out", "c.err"):
            (context.record.raw / name).write_text("42\n")
        times = {"start_epoch_s": 10.0, "end_epoch_s": 12.5}
        return (ClientRun(name="c", node="m1", argv=(), exit_code=0, stdout="raw/c.out",
                          stderr="raw/c.err", **times),)  # fmt: skip

    def collect(self, context: TrialContext, *_: Any) -> Collected:
        (context.record.raw / "counters.json").write_text("{}\n")
        return Collected()


class Monitors:
    clock = ()

    def __init__(self, context: TrialContext, *_: Any) -> None:
        self._folder = context.record.monitor

    def start(self) -> None:
        (self._folder / "h.dool.csv").write_text("1\n")

    def stop(self, window_end_s: float | None) -> tuple[()]:
        return ()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Only the cluster, the client and the monitors are fakes."""
    world = World()
    for name in ("bring_up", "tear_down"):
        monkeypatch.setattr(steps, name, getattr(world, name))
    monkeypatch.setattr(steps, "ensure_stacks", lambda *_: None)
    monkeypatch.setattr(steps, "_cluster", _cluster)
    monkeypatch.setattr(trial, "kind_of", lambda _: SimpleNamespace(runner=Runner))
    monkeypatch.setattr(trial, "Monitors", Monitors)
    return world


def _cluster(run: Run, build: str) -> Any:
    return SimpleNamespace(
        topology=run.plan.topology_of(build), site=run.site(build), processes=(), phases=(),
        disclosure={}, endpoints=Endpoints(),
    )  # fmt: skip


def opened(root: Path) -> tuple[Run, Step]:
    """A run whose first cluster stands, and the trial that is next."""
    shutil.rmtree(root.parent, ignore_errors=True)
    run = opened_run(root, study(), plan())
    first = run.plan.trials[0]
    assert carry_out(run, step_of(run, "up", first.build)).outcome == "ok"
    return run, first


def carried_out(run: Run, step: Step) -> StepOutcome:
    """As `study run` and Airflow do: an error that the step does not take in ends the command."""
    with as_study_errors():
        return carry_out(run, step)


def the_rest(run: Run, build: str) -> None:
    for step in steps_left(run):
        if step.build == build:
            assert carry_out(run, step).outcome == "ok"


def files(run: Run) -> dict[str, set[str]]:
    """Names of each closed record's files; the manifest's hashes are right."""
    return {name: set(manifest.files) for name, manifest in closed_records(run.records).items()}


@pytest.mark.parametrize(
    ("number", "once", "every"),
    [
        (errno.ENOSPC, True, 1),
        pytest.param(errno.ENOSPC, False, 5, marks=pytest.mark.thorough),
        pytest.param(errno.EROFS, False, 5, marks=pytest.mark.thorough),
        pytest.param(errno.ENOSPC, False, 1, marks=pytest.mark.slow),
        pytest.param(errno.EROFS, False, 1, marks=pytest.mark.slow),
    ],
)
def test_every_write_of_a_trial(
    number: int, once: bool, every: int, tmp_path: Path, world: World
) -> None:
    root = tmp_path / "runs" / "quickstart" / "r1"
    run, first = opened(root)
    with watched(Writes(root)) as writes:
        assert carried_out(run, first).outcome == "ok"
    the_rest(run, first.build)
    undisturbed, count = files(run), len(writes.seen)
    assert count > 15
    for at in range(0, count, every):
        run, first = opened(root)
        where = f"{errno.errorcode[number]} at {writes.seen[at]}"
        with watched(Writes(root, number, at, number == errno.EROFS, once)):
            try:
                message = carried_out(run, first).message
            except StudyError as error:
                message = str(error)
        assert OF_DISKS[number] in message and "emedy:" in message, (where, message)
        begun = [path for path in run.records.glob("*.open") if any(path.rglob("*.out"))]
        carry_out(run, step_of(run, "down", first.build))
        assert not begun or str(first.trial) in files(run), (
            where,
            "what was measured is not shown",
        )
        open_again(run)
        the_rest(run, first.build)
        assert files(run) == undisturbed, where
        assert not list(run.records.glob("*.open")), where
