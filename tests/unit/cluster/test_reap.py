"""Reap removes exactly what dead runs left behind."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import Swept, reap
from density_study.cluster.machine.directories import make
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.state import lease, own_runs
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.tags import tagged
from tests.support.topologies import worker

pytestmark = pytest.mark.usefixtures("runtime")
NOTHING = Swept((), ())


class Crashed:
    """A run with one build, one process and one directory, and an owner that can be killed."""

    def __init__(self, runs: Path, study: str) -> None:
        self.owner = subprocess.Popen(["sleep", "60"])
        owner = Owner.of_process(self.owner.pid)
        self.tag = f"{study}-{os.getpid()}/r1"
        self.root = runs / f"{study}-{os.getpid()}" / "r1"
        self.journal = Journal(self.root / "journal.jsonl")
        self.root.mkdir(parents=True, mode=0o755)
        own_runs.register(self.root)
        self.journal.write(
            "run-opened", study=study, run="r1", tag=self.tag,
            owner=owner.to_json(),
        )  # fmt: skip
        lease.acquire(self.tag, self.root, owner)
        site = Site(self.root / "builds" / "b1", f"{self.tag}/b1")
        self.journal.write(
            "intent", act="build", build="b1", tag=site.tag, provider="local", ports=[]
        )
        node = worker("w1")
        # The test's disk is the run folder: a node without a disk keeps its data there.
        self.data = make(site, type(node)(**{**vars(node), "disk": None}), self.journal)
        transport = LocalTransport(site.tag, self.journal)
        log = self.root / "log"
        self.process = transport.start(node, Command("daemon", ("sleep", "60")), log, log)

    def kill(self) -> None:
        self.owner.kill()
        self.owner.wait()


@pytest.fixture
def crashed(tmp_path: Path) -> Iterator[Crashed]:
    run = Crashed(tmp_path / "runs", "crashed")
    yield run
    run.kill()
    stop_all(tagged(run.tag), 0.0)


def test_resources_of_a_killed_run_are_removed(crashed: Crashed, tmp_path: Path) -> None:
    foreign = subprocess.Popen(["sleep", "60"])
    crashed.kill()
    try:
        (reaped,) = reap(tmp_path / "runs").reaped
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
    assert reaped.tag == crashed.tag
    assert f"process {crashed.process.pid}" in str(reaped)
    assert str(crashed.data) in str(reaped)
    assert tagged(crashed.tag) == []
    assert not crashed.data.exists()
    assert lease.holder() is None
    assert reap(tmp_path / "runs") == NOTHING


def test_a_dry_run_reports_and_changes_nothing(crashed: Crashed, tmp_path: Path) -> None:
    crashed.kill()
    before = crashed.journal.path.read_text()
    (reaped,) = reap(tmp_path / "runs", dry_run=True).reaped
    assert "would remove process" in str(reaped)
    assert len(tagged(crashed.tag)) == 1
    assert crashed.data.exists()
    assert lease.holder() is not None
    assert crashed.journal.path.read_text() == before


def test_a_live_run_is_left_alone(crashed: Crashed, tmp_path: Path) -> None:
    assert reap(tmp_path / "runs") == NOTHING
    assert len(tagged(crashed.tag)) == 1
    assert crashed.data.exists()


def test_an_ended_run_with_leftovers_is_reaped_though_its_owner_lives(
    crashed: Crashed, tmp_path: Path
) -> None:
    crashed.journal.write("run-ended", outcome="failed", message="")
    assert len(reap(tmp_path / "runs").reaped) == 1
    assert tagged(crashed.tag) == []


def test_a_run_reopened_after_its_end_is_live(crashed: Crashed, tmp_path: Path) -> None:
    opening = next(crashed.journal.read())
    crashed.journal.write("run-ended", outcome="failed", message="")
    crashed.journal.write("run-opened", **{k: opening[k] for k in (
        "study", "run", "tag", "owner")})  # fmt: skip
    assert reap(tmp_path / "runs") == NOTHING


def test_callers_pass_their_own_removal(crashed: Crashed, tmp_path: Path) -> None:
    crashed.kill()
    calls: list[tuple[Path, bool]] = []

    def records(root: Path, dry_run: bool) -> tuple[str, ...]:
        calls.append((root, dry_run))
        return ("record t1 closed",)

    (reaped,) = reap(tmp_path / "runs", on_run=records).reaped
    assert calls == [(crashed.root, False)]
    assert str(reaped).endswith("record t1 closed")


def test_a_folder_without_runs_is_accepted(tmp_path: Path) -> None:
    assert reap(tmp_path / "none") == NOTHING
