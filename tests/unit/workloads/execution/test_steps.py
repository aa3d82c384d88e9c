"""Steps are claimed in the plan's order, guarded, and never executed twice."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cluster.model.errors import BringUpError, StudyError, TearDownError
from cluster.model.transport import ProcessId
from cluster.state.events import RunOpened, StepEnded, StepStarted
from cluster.state.journal import Journal
from cluster.state.owner import Owner
from tests.support.drafts import QUICKSTART, host, plan, study
from workloads.base.values import TargetRate
from workloads.execution import steps
from workloads.execution.run import Run
from workloads.execution.steps import close_run, next_step, run_next_step, what_is_left
from workloads.execution.trial import draft_manifest
from workloads.planning.plan import Step, make_plan
from workloads.record.manifest import Manifest
from workloads.record.record import Record, close_unfinished, closed_records, read_manifest
from workloads.spec.study_file import parse_study
from workloads.ycsb.setting import YcsbSetting


@dataclasses.dataclass
class World:
    """A fake cluster: it records builds and tear-downs, and fails on request."""

    acts: list[str] = dataclasses.field(default_factory=list)
    fail_up: Callable[[str], BaseException | None] = lambda _: None
    fail_trial: Callable[[str], bool] = lambda _: False
    fail_down: bool = False

    def bring_up(self, site: Any, *_: Any, **__: Any) -> None:
        self.acts.append(f"up {site.root.name}")
        error = self.fail_up(site.root.name)
        if error is not None:
            raise error

    def tear_down(self, site: Any, _: Any) -> None:
        self.acts.append(f"down {site.root.name}")
        if self.fail_down:
            raise TearDownError("still there.", site.tag, "look.")

    def run_trial(self, run: Run, step: Step, *_: Any) -> Manifest:
        self.acts.append(f"trial {step.trial}")
        bad = self.fail_trial(str(step.trial))
        draft = draft_manifest(run, step)
        state = {"state": "failed", "reasons": ("broken",)} if bad else {"state": "complete"}
        manifest = draft.model_copy(update=state)
        Record.open(run.records, draft).close(manifest)
        return manifest

    @property
    def ups_and_trials(self) -> list[str]:
        return [act for act in self.acts if not act.startswith("down")]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    for name in ("bring_up", "tear_down", "run_trial"):
        monkeypatch.setattr(steps, name, getattr(world, name))
    monkeypatch.setattr(steps, "ensure_stacks", lambda _versions: None)
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
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "runtime"))
    root = tmp_path / "runs" / "quickstart" / "r1"
    root.mkdir(parents=True)
    opened = Run(root, study(), plan(), Journal(root / "journal.jsonl"))
    open_again(opened)
    return opened


def open_again(run: Run) -> None:
    owner = Owner.of_dag_run("made").to_json()
    run.journal.record(RunOpened(study="quickstart", run="r1", tag=run.tag, owner=owner))


def carry_out(run: Run) -> list[tuple[str, str]]:
    ended = []
    while (outcome := run_next_step(run)) is not None:
        ended.append((outcome.step.label, outcome.outcome))
    return ended


def test_steps_run_in_the_plans_order(run: Run, world: World) -> None:
    assert carry_out(run) == [(step.label, "ok") for step in run.plan.steps]
    assert world.ups_and_trials == [
        f"up {step.build}" if step.kind == "up" else f"trial {step.trial}"
        for step in run.plan.steps
        if step.kind != "down"
    ]
    assert run_next_step(run) is None


def test_concurrent_claims_keep_the_order(run: Run, world: World) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: run_next_step(run), range(len(run.plan.steps) + 8)))
    started = [event.index for event in run.journal.events(StepStarted)]
    ended = [event.index for event in run.journal.events(StepEnded)]
    assert started == ended == [step.index for step in run.plan.steps]


def test_a_failed_bring_up_is_torn_down_at_once_and_its_trials_stay_visible(
    run: Run, world: World
) -> None:
    first = run.plan.steps[0].build
    failure = BringUpError("namenode died.", "namenode on node 'm1'", "read its log.")
    world.fail_up = lambda build: failure if build == first else None
    outcomes = dict(carry_out(run))
    assert outcomes[f"up {first}"] == "failed"
    assert world.acts[:3] == [f"down {first}", f"up {first}", f"down {first}"]
    mine = [step for step in run.plan.trials if step.build == first]
    assert all(outcomes[step.label] == "skipped" for step in mine)
    records = closed_records(run.records)
    assert all(records[str(step.trial)].state == "incomplete" for step in mine)
    other = next(build for build in run.plan.builds if build != first)
    assert outcomes[f"up {other}"] == "ok"


def test_an_interrupted_bring_up_is_torn_down_and_its_step_stays_open(
    run: Run, world: World
) -> None:
    world.fail_up = lambda _: KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run_next_step(run)
    assert world.acts[-1] == f"down {run.plan.steps[0].build}"
    pending = next_step(run)
    assert pending is not None and (pending.kind, pending.build) == (
        "down",
        run.plan.steps[0].build,
    )
    open_again(run)
    assert next_step(run) == run.plan.steps[0]


def test_the_build_of_a_killed_step_is_torn_down_and_its_trials_stay_open(
    run: Run, world: World
) -> None:
    """A client that outlived its step may still load the cluster: no trial runs beside it."""
    killed = run.plan.trials[1]
    while (step := next_step(run)) != killed:
        run_next_step(run)
        assert step is not None
    run.journal.record(StepStarted(index=killed.index, kind="trial", build=killed.build,
                                   label=killed.label, trial=killed.trial))  # fmt: skip
    Record.open(run.records, draft_manifest(run, killed))
    world.acts.clear()
    outcomes = carry_out(run)
    assert outcomes[0] == (f"down {killed.build}", "ok")
    mine = [step for step in run.plan.trials if step.build == killed.build]
    others = [step for step in run.plan.trials if step.build != killed.build]
    assert [act for act in world.acts if act.startswith("trial")] == [
        f"trial {step.trial}" for step in others
    ]
    assert what_is_left(run) == (
        f"{killed.label!r} did not finish; "
        f"{len(mine) - 1} of {len(run.plan.trials)} trials are left"
    )
    close_unfinished(run.records, "killed")
    open_again(run)
    carry_out(run)
    assert what_is_left(run) == ""
    assert set(closed_records(run.records)) == {str(step.trial) for step in run.plan.trials}


def test_trials_that_could_not_run_are_not_pending(run: Run, world: World) -> None:
    world.fail_up = lambda _: BringUpError("boom", "w1", "look.", daemon="datanode", log_tail="")
    carry_out(run)
    assert what_is_left(run) == ""


def test_a_failed_trial_is_not_repeated_and_the_rest_goes_on(run: Run, world: World) -> None:
    bad = str(run.plan.trials[2].trial)
    world.fail_trial = lambda trial: trial == bad
    outcomes = carry_out(run)
    assert [label for label, outcome in outcomes if outcome == "failed"] == [
        run.plan.trials[2].label
    ]
    assert world.acts.count(f"trial {bad}") == 1


def test_a_failed_tear_down_is_a_failed_step(run: Run, world: World) -> None:
    build = run.plan.steps[0].build
    down = next(s for s in run.plan.steps if s.kind == "down" and s.build == build)
    for _ in range(down.index):
        run_next_step(run)
    world.fail_down = True
    ended = run_next_step(run)
    assert ended is not None and ended.step == down and ended.outcome == "failed"
    with pytest.raises(TearDownError):
        close_run(run)


@pytest.mark.parametrize("crash_after", [0, 1, 3, 7, 8, 10, 16])
def test_after_a_crash_the_run_resumes_at_the_first_trial_without_a_closed_record(
    run: Run, world: World, crash_after: int
) -> None:
    for _ in range(crash_after):
        run_next_step(run)
    done = {act for act in world.acts if act.startswith("trial")}
    world.acts.clear()
    open_again(run)
    carry_out(run)
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
    ended = run_next_step(run)
    assert ended is not None and ended.outcome == "failed"
    assert "No space left" in ended.message and "Remedy: " in ended.message
    assert ended.step.label not in ended.message  # the caller that shows the outcome names its step


def test_programming_errors_in_a_step_are_raised(run: Run, world: World) -> None:
    world.fail_up = lambda _: ZeroDivisionError("a bug")
    with pytest.raises(ZeroDivisionError):
        run_next_step(run)
    assert isinstance(StudyError("a", "b", "c"), Exception)


def latency_run(root: Path) -> Run:
    """The quickstart with one latency target, opened."""
    root.mkdir(parents=True)
    text = QUICKSTART.read_text().replace("threads: [8]", "threads: [8]\n      latency_at: [50%]")
    spec = parse_study(text, "q.yaml").study
    opened = Run(root, spec, make_plan(spec, [host()]), Journal(root / "journal.jsonl"))
    open_again(opened)
    return opened


def test_a_symbolic_target_is_resolved_journalled_and_passed_to_the_trial(
    tmp_path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = latency_run(tmp_path / "runs" / "quickstart" / "r1")
    planned: dict[str, list[str]] = {}

    def resolve(setting: YcsbSetting, trials: list[str], *_: Any) -> tuple[YcsbSetting, TargetRate]:
        planned[setting.id] = trials
        target = TargetRate(percent=50, saturation_trial=trials[0], saturation_ops_s=900, ops_s=450)
        return setting.model_copy(update={"target_ops_s": 450.0}), target

    monkeypatch.setattr(steps, "resolve", resolve)
    assert {outcome for _, outcome in carry_out(run)} == {"ok"}
    halves = [step for step in run.plan.trials if step.trial and step.trial.endswith("at50pct")]
    assert len(halves) == 4  # two mixes on two builds
    journalled = {e["trial"]: e for e in run.journal.read() if e["event"] == "target-resolved"}
    records = closed_records(run.records)
    for step in halves:
        entry, manifest = journalled[str(step.trial)], records[str(step.trial)]
        assert entry["ops_s"] == 450 and entry["saturation_trial"].startswith(step.build)
        assert isinstance(manifest.setting, YcsbSetting)
        assert manifest.setting.target_ops_s == 450
        assert manifest.setting_id == step.setting.id  # type: ignore[union-attr]
    assert all(len(trials) == 1 for trials in planned.values())


def test_a_percentage_of_a_failed_saturation_is_incomplete_with_that_reason(
    tmp_path: Path, world: World
) -> None:
    run = latency_run(tmp_path / "runs" / "quickstart" / "r1")
    world.fail_trial = lambda trial: trial.endswith("read45-insert55-r100000-t8")
    outcomes = dict(carry_out(run))
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
    carry_out(run)
    recorded, unknown = (str(step.trial) for step in run.plan.trials[:2])
    for step in run.plan.trials:
        if step.trial != unknown:
            run.journal.write("trial-state", trial=step.trial, state="closed", outcome="complete")
    read: list[str] = []
    monkeypatch.setattr(
        steps, "read_manifest", lambda record: read.append(record.name) or read_manifest(record)
    )
    assert steps.steps_left(run) == []
    assert read == [unknown]
    shutil.rmtree(run.records / recorded)  # the journal alone does not make a record
    assert {step.trial for step in steps.steps_left(run)} >= {recorded}
