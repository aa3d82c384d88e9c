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
from density_study.workloads.execution import trial
from density_study.workloads.execution.run import Run
from density_study.workloads.record.manifest import Manifest
from tests.support.drafts import plan, study
from tests.support.made_runs.fake_trial import COLD, PROVED, Monitors, Runner


def ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: Runner) -> Manifest:
    run = Run(tmp_path, study(), plan(), Journal(tmp_path / "journal.jsonl"))
    step = run.plan.trials[0]
    cluster: Any = SimpleNamespace(
        topology=run.plan.topology_of(step.build), site=run.site(step.build), processes=(), phases=(),
        disclosure={"kernel": "6"}, endpoints=Endpoints(),
    )  # fmt: skip
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


LOST = HostLostError("no answer.", "host h1", "look.")
NOT_SET = StudyError("not permitted.", "host h2", "look.")


@pytest.mark.parametrize("error", [LOST, together([LOST, LOST]), together([NOT_SET, LOST])])
def test_a_lost_host_is_not_a_fault_of_the_test_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: StudyError
) -> None:
    manifest = ended(tmp_path, monkeypatch, Runner("run", error))
    assert manifest.state == "incomplete"
    assert len(manifest.reasons) == 1 and "no answer" in manifest.reasons[0]
