"""A cluster whose trials are disturbed at a known time, and the explanations of their slow seconds."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.analysis.explanation.explain import explained
from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.machine import io_limits
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.configuration import Configuration
from density_study.cluster.model.host import IoLimits
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.events import TrialState
from density_study.cluster.state.journal import Journal
from density_study.jobs.ingest.ingest import ingest
from density_study.workloads import tables
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.trial import run_trial
from density_study.workloads.monitors import DEVICES
from density_study.workloads.monitors.daemons.attach import jcmd
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record, closed_records
from density_study.workloads.ycsb.properties import table_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.builds import open_build, topology
from tests.live.support.java_client import compiled
from tests.support.drafts import draft, plan, study
from tests.support.topologies import with_variant

# Far below saturation: only a disturbance makes a second slow.
TEST_CASE = YcsbTestCase(mix="read45-insert55", records=60_000, threads=8, duration_s=32,
                      warm_up_s=6, warm_up_client_s=0, target_ops_s=300)  # fmt: skip
LARGE = TEST_CASE.model_copy(
    update={"records": 150_000, "target_ops_s": 1500, "warm_up_s": 25, "duration_s": 60}
)
"""At half of saturation, and a table whose compaction takes seconds: elsewhere it slows nothing. They are few
of the trial's seconds, as in a study: a third of them would pass for its usual noise. A client whose JVM is
cold falls behind its target for 10 to 20 s: they are no part of the window, for the same reason."""
AFTER_WARM_UP_S = 12.0
"""When a trial is disturbed."""


DURABLE = Configuration(
    properties={"hbase-site": {"hbase.wal.hsync": "true", "hbase.ipc.warn.response.time": "300"}}
)
"""Each put waits for a disk, as a throttled one must show; the slow log has what takes long here."""
SLOW_DISK = IoLimits(write_iops=2)


class Standing:
    """The cluster, and a run folder for its trials."""

    def __init__(self, folder: Path, cluster: Cluster, journal: Journal) -> None:
        name, build = cluster.topology.name, cluster.site.root.name
        alike = plan().model_copy(
            update={"topologies": {name: cluster.topology}, "builds": {build: name}}
        )
        watching = study(**{"monitor.also": list(DEVICES)})
        self.run = Run(folder / "runs" / "why" / "r1", watching, alike, journal)
        self.cluster = cluster
        self.transport = provider_named("local").transport(cluster.site, journal)
        self._number = 0
        self._classes = compiled(folder, "Compact", within=Path(__file__).parent)

    def trial(
        self,
        kind: str,
        disturb: Callable[[], object] | None = None,
        test_case: YcsbTestCase = TEST_CASE,
        warm_up_daemons_s: int = 0,
    ) -> Manifest:
        """A trial, disturbed once AFTER_WARM_UP_S. The first one with a test case loads its table."""
        self._number += 1
        name = f"{kind}-{self._number:02d}"
        if disturb is not None:
            threading.Thread(
                target=self._later, args=(name, disturb, at_s(test_case)), daemon=True
            ).start()
        build = self.cluster.site.root.name
        test_case = test_case.model_copy(update={"warm_up_daemons_s": warm_up_daemons_s})
        step = Step(index=self._number, kind="trial", repetition=1, build=build, label="why",
                    trial=name, order=self._number, test_case=test_case, estimate_s=1.0)  # fmt: skip
        manifest = run_trial(self.run, step, self.cluster, self.transport)
        assert manifest.state == "complete", manifest.reasons
        return manifest

    def _later(self, trial: str, disturb: Callable[[], object], delay_s: float) -> None:
        while not any(
            (event.trial, event.state) == (trial, "running")
            for event in self.run.journal.events(TrialState)
        ):
            time.sleep(0.1)
        time.sleep(delay_s)
        disturb()

    def explained(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of slow_seconds of each trial so far. The tables are made anew: no Spark for so few."""
        shutil.rmtree(self.run.root / "tables", ignore_errors=True)
        ingest(_no_session, self.run.root)
        rows = explained(self.run.root)[tables.SLOW_SECONDS].to_dict("records")
        closed = closed_records(self.run.records)
        return {trial: [row for row in rows if row["trial"] == trial] for trial in closed}

    def compact(self) -> None:
        """Major-compact the table of LARGE. No flush: one before it would share its slow seconds."""
        name = f"compact-{self._number}"
        record = Record.open(self.run.root / "tools", draft(name))
        context = TrialContext(self.cluster, self.transport, record, self.run.journal)
        command = java_command(
            self.cluster, name, self._classes, "Compact", (table_of(LARGE),), serial(128)
        )
        require_success(context, run_client(context, command, 60.0, folder="logs"), "compacting")

    def throttle(self, for_s: float = 5.0) -> None:
        """The DataNodes' disk does SLOW_DISK for a while."""
        group = io_limits.group(self.cluster.site.tag, "throttled")
        io_limits.make(group, self.run.root, SLOW_DISK)
        nodes = [one.pid for one in self.cluster.processes if one.name == "datanode"]
        try:
            for pid in nodes:
                io_limits.join(group, pid)
            time.sleep(for_s)
        finally:
            for pid in nodes:
                io_limits.join(group.parent, pid)
            io_limits.remove(group)

    def stop(self, for_s: float = 4.0) -> None:
        """A RegionServer is stopped by a signal for a while."""
        pid = max(self.servers().items())[1]
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(for_s)
        finally:
            os.kill(pid, signal.SIGCONT)

    def servers(self) -> dict[str, int]:
        """The pid of each RegionServer, by node."""
        found = self.cluster.processes
        return {one.node: one.pid for one in found if one.name.startswith("regionserver")}

    def pause(self, at_least_s: float = 0.5) -> None:
        """All threads of a RegionServer stand still for a full collection, again and again."""
        pid = max(self.servers().items())[1]
        begun_s = time.monotonic()
        while time.monotonic() - begun_s < at_least_s:
            jcmd(pid, "GC.run")


def at_s(test_case: YcsbTestCase) -> float:
    """When its trials are disturbed, after the client's start."""
    return test_case.warm_up_s + AFTER_WARM_UP_S


def _no_session() -> Any:
    raise AssertionError("so little is parsed without a session")


@contextmanager
def standing(folder: Path, owner_pid: int) -> Iterator[Standing]:
    site, journal = open_build(folder, owner_pid)
    variant = with_variant(topology(folder), configuration=DURABLE)
    try:
        yield Standing(folder, bring_up(site, variant, ensure_stacks(), journal), journal)
    finally:
        tear_down(site, journal)
