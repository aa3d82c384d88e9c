"""The manifest of a trial keeps the collected results, however the trial ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.errors import HostLostError, StudyError, together
from density_study.cluster.state.events import TrialState
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.values import ClientRun, Window
from density_study.workloads.execution import trial
from density_study.workloads.execution.run import Run
from density_study.workloads.planning.duet import turns_of
from density_study.workloads.planning.plan import Step, make_plan
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study.study_file import parse_study
from tests.support.drafts import host, plan, study
from tests.support.made_runs.fake_cluster import DUET
from tests.support.made_runs.fake_trial import COLD, PROVED, Monitors, Runner


def cluster_of(run: Run, step: Step) -> Any:
    return SimpleNamespace(
        topology=run.plan.topology_of(step.build), site=run.site(step.build), processes=(), phases=(),
        disclosure={"kernel": "6"}, endpoints=Endpoints(),
    )  # fmt: skip


def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: Runner) -> Manifest:
    run = Run(tmp_path, study(), plan(), Journal(tmp_path / "journal.jsonl"))
    step = run.plan.trials[0]
    cluster = cluster_of(run, step)
    monkeypatch.setattr(trial, "kind_of", lambda _: SimpleNamespace(runner=lambda: runner))
    monkeypatch.setattr(trial, "Monitors", Monitors)
    monkeypatch.setattr(trial, "full_disks", lambda _: ["the disk is full"])
    transport: Any = SimpleNamespace(dead=lambda _: [])
    manifest = trial.run_trial(run, step, cluster, transport)
    last = run.journal.events(TrialState)[-1]
    assert (last.trial, last.state, last.outcome) == (step.trial, "closed", manifest.state)
    assert (run.records / str(step.trial) / "manifest.json").exists()
    return manifest


def test_a_complete_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = ended(tmp_path, monkeypatch, Runner())
    assert (manifest.state, manifest.reasons, manifest.data_set_mib) == ("complete", (), 7.0)
    assert manifest.window is not None
    assert (manifest.window.start_epoch_s, manifest.window.end_epoch_s) == (10.0, 12.5)
    assert (manifest.cold, manifest.state_before, manifest.state_after) == (
        PROVED, {"io": 1}, {"io": 2},
    )  # fmt: skip
    assert set(manifest.times_s) == {"prepare", "measure", "settle"}
    assert manifest.disclosure == {"kernel": "6"} and manifest.total_ram_mib


@pytest.mark.parametrize("phase, data_set_mib", [("prepare", None), ("run", 7.0), ("collect", 7.0)])
def test_a_fault_keeps_earlier_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str, data_set_mib: float | None
) -> None:
    runner = Runner(phase, StudyError("it broke.", "here", "look."))
    manifest = ended(tmp_path, monkeypatch, runner)
    assert (manifest.state, manifest.data_set_mib) == ("failed", data_set_mib)
    assert manifest.reasons[0] == "the disk is full" and "it broke" in manifest.reasons[1]
    assert (manifest.window is not None) == (phase == "collect")
    assert manifest.cold == (None if data_set_mib is None else COLD)


def test_a_failed_client_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = ended(tmp_path, monkeypatch, Runner(exit_code=3))
    assert manifest.state == "failed"
    assert manifest.reasons[1] == "c exited with 3; read raw/c.err"
    assert manifest.cold == PROVED


def ended_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *runners: Runner
) -> list[Manifest]:
    """A duet of 20 s, whose client warmed up for 20 s; the first turn began at 1000."""
    of = parse_study(DUET, "d.yaml").study
    run = Run(tmp_path, of, make_plan(of, [host(8192)]), Journal(tmp_path / "journal.jsonl"))
    steps = run.plan.trials[:2]
    client = ClientRun(name="c", node="m1", argv=(), exit_code=0, stdout="o", stderr="e",
                       start_epoch_s=970.0, end_epoch_s=1042.0, begin_epoch_s=1000.0)  # fmt: skip
    left = iter(runners)
    kind = SimpleNamespace(
        runner=lambda: next(left), duet=lambda both, _: (1000.0, [(client,)] * len(both))
    )
    for name, made in (
        ("kind_of", lambda _: kind),
        ("Monitors", Monitors),
        ("full_disks", lambda _: []),
    ):
        monkeypatch.setattr(trial, name, made)
    transport: Any = SimpleNamespace(dead=lambda _: [])
    both = [
        (step, cluster_of(run, step), transport, own)
        for step, own in zip(steps, turns_of(run.plan, of, *steps), strict=True)
    ]
    return trial.run_duet(run, both)


def test_both_trials_of_a_duet_have_windows_of_their_own_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifests = ended_together(tmp_path, monkeypatch, Runner(), Runner())
    assert [one.state for one in manifests] == ["complete", "complete"]
    for one, other in zip(manifests, reversed(manifests), strict=True):
        assert one.window == Window(start_epoch_s=980.0, end_epoch_s=1020.0)
        assert one.times_s["measure"] == 40.0
        assert one.turns is not None and one.turns.beside == other.trial
        assert one.turns.own_s == pytest.approx(20.0)
    turns = sorted(turn for one in manifests if one.turns for turn in one.turns.own)
    assert (turns[0][0], turns[-1][1]) == (1000.0, 1040.0)


@pytest.mark.parametrize("phase", ["prepare", "collect"])
def test_an_error_of_one_trial_ends_both_of_a_duet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    broken = Runner(phase, StudyError("it broke.", "here", "look."))
    manifests = ended_together(tmp_path, monkeypatch, Runner(), broken)
    assert [(one.state, "it broke" in one.reasons[0]) for one in manifests] == 2 * [
        ("failed", True)
    ]


LOST = HostLostError("no answer.", "host h1", "look.")
NOT_SET = StudyError("not permitted.", "host h2", "look.")


@pytest.mark.parametrize("error", [LOST, together([LOST, LOST]), together([NOT_SET, LOST])])
def test_a_lost_host_is_not_a_fault_of_the_test_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: StudyError
) -> None:
    manifest = ended(tmp_path, monkeypatch, Runner("run", error))
    assert manifest.state == "incomplete"
    assert len(manifest.reasons) == 1 and "no answer" in manifest.reasons[0]
