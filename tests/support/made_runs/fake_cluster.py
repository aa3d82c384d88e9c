"""A fake cluster, on which steps of a plan are carried out without a daemon."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import TearDownError
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.state.events import BuildDestroyed, RunOpened, TrialState
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.dags.stages import study_stages
from density_study.workloads.execution import steps
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.planning.plan import Plan, Step, make_plan, write_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import host, plan, study

TWO_CONFIGURATIONS = """\
provider: local
hosts:
  - {name: here, address: 127.0.0.1, cores: auto, memory: 6 GiB, roles: [master, worker, client],
     disks: [{path: auto, disk_type: auto}]}
factors:
  vms_per_host: [1]
  configuration: {a: {}, b: {hbase-site: {hbase.regionserver.handler.count: 40}}}
stack: {replication: 1}
"""
"""Of a study file: all between its name and its workloads."""
DUET = f"""\
study: duet
{TWO_CONFIGURATIONS}
workloads:
  - ycsb: {{records: [100], mixes: [a, c], threads: [2], duration: 20 s, warm_up: 2 s}}
duet: 4 s
questions: []
"""


@dataclasses.dataclass
class World:
    """A fake cluster: it records builds and tear-downs, and fails on request."""

    acts: list[str] = dataclasses.field(default_factory=list)
    fail_up: Callable[[str], BaseException | None] = lambda _: None
    fail_trial: Callable[[str], bool] = lambda _: False
    fail_down: Callable[[str], bool] = lambda _: False
    made: set[str] = dataclasses.field(default_factory=set)

    def bring_up(self, site: Any, *_: Any, **__: Any) -> None:
        self.acts.append(f"up {site.root.name}")
        self.made.add(site.root.name)
        error = self.fail_up(site.root.name)
        if error is not None:
            raise error

    def tear_down(self, site: Any, journal: Journal) -> None:
        build = site.root.name
        self.acts.append(f"down {build}")
        if self.fail_down(build):
            raise TearDownError("still there.", site.tag, "look.")
        if build in self.made:  # as the real one: not for what never was
            journal.record(BuildDestroyed(build=build, tag=site.tag, proof={}))

    def run_trial(self, run: Run, step: Step, *_: Any) -> Manifest:
        self.acts.append(f"trial {step.trial}")
        bad = self.fail_trial(str(step.trial))
        draft = draft_manifest(run, step)
        state = {"state": "failed", "reasons": ("broken",)} if bad else {"state": "complete"}
        manifest = draft.model_copy(update=state)
        Record.open(run.records, draft).close(manifest)
        run.journal.record(
            TrialState(trial=str(step.trial), state="closed", outcome=manifest.state)
        )
        return manifest

    def run_duet(self, run: Run, both: Any) -> list[Manifest]:
        return [self.run_trial(run, step) for step, *_ in both]

    @property
    def ups_and_trials(self) -> list[str]:
        return [act for act in self.acts if not act.startswith("down")]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    for name in ("bring_up", "tear_down", "run_trial", "run_duet"):
        monkeypatch.setattr(steps, name, getattr(world, name))
    monkeypatch.setattr(steps, "ensure_stacks", lambda *_: None)
    monkeypatch.setattr(steps, "_cluster", lambda run, build: _FakeCluster(run, build))
    return world


@dataclasses.dataclass
class _FakeCluster:
    run: Run
    build: str
    processes: tuple[ProcessId, ...] = ()

    @property
    def topology(self) -> Any:
        return self.run.plan.topology_of(self.build)

    @property
    def site(self) -> Any:
        return self.run.site(self.build)


@pytest.fixture
def run(runtime: None, tmp_path: Path) -> Run:
    return opened_run(tmp_path / "runs" / "quickstart" / "r1", study(), plan())


def opened_run(root: Path, of: Study, planned: Plan | None = None) -> Run:
    """In this new folder, on a host that is known."""
    root.mkdir(parents=True)
    opened = Run(root, of, planned or make_plan(of, [host()]), Journal(root / "journal.jsonl"))
    open_again(opened)
    return opened


def carried_on(folder: Path, text: str) -> Run:
    """As `opened_run`, with the study and its plan as files: another process may carry it on."""
    of = parse_study(text, "s.yaml").study
    opened = opened_run(folder / "runs" / of.study / "20261120T201530Z", of)
    (opened.root / "study.yaml").write_text(text)
    write_plan(opened.plan, opened.root / "plan.json")
    return opened


def carry_on(run: Run, upto: int | None = None) -> None:
    """The steps of the plan, each as a task does."""
    for step in run.plan.steps[:upto]:
        name = step.build if step.kind != "trial" else str(step.trial)
        study_stages.carry_out(str(run.root), step.kind, name)


def open_again(run: Run) -> None:
    owner = Owner.of_dag_run("made").to_json()
    run.journal.record(RunOpened(study="quickstart", run="r1", tag=run.tag, owner=owner))


def step_of(run: Run, kind: str, build: str) -> Step:
    return next(s for s in run.plan.steps if (s.kind, s.build) == (kind, build))
