"""A run whose owner can be killed."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

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
        self.journal.write("run-opened", study=study, run="r1", tag=self.tag, owner=owner.to_json())
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
        until = time.monotonic() + 10  # exec shows its environment a moment after it begins
        while not tagged(self.tag) and time.monotonic() < until:
            time.sleep(0.01)

    def kill(self) -> None:
        self.owner.kill()
        self.owner.wait()


@pytest.fixture
def crashed(tmp_path: Path) -> Iterator[Crashed]:
    run = Crashed(tmp_path / "runs", "crashed")
    yield run
    run.kill()
    stop_all(tagged(run.tag), 0.0)
