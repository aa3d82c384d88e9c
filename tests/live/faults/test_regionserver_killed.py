"""A RegionServer is killed during a YCSB run: failures are counted and reported, and never
hidden."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.stack import classpath, ensure
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.record.record import Record
from density_study.workloads.ycsb.faults import faults_of
from density_study.workloads.ycsb.output.status import parse_status
from density_study.workloads.ycsb.output.summary import (
    OperationCount,
    operation_counts,
    parse_summary,
)
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.workload import YcsbWorkload
from tests.live.support.builds import open_build, topology
from tests.live.support.java_client import YCSB
from tests.support.drafts import draft

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

TEST_CASE = YcsbTestCase(mix="a", records=5_000, threads=4, duration_s=25, warm_up_s=2)
IMPATIENT = ("-p", "hbase.retries=1", "-p", "hbase.operation.timeout.ms=4000")
"""Long enough for some operations to fail before the other server takes over the regions."""


@dataclass(frozen=True)
class Killed:
    """A run during which one of two RegionServers was killed."""

    raw: Path
    exit_code: int
    seconds: float

    @property
    def counts(self) -> dict[str, OperationCount]:
        return operation_counts(parse_summary((self.raw / "ycsb-1.out").read_bytes(), "out").rows)

    @property
    def stderr(self) -> str:
        return (self.raw / "ycsb-1.err").read_text()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    folder = tmp_path_factory.mktemp("killed")
    site, journal = open_build(folder, os.getpid())
    try:
        cluster = bring_up(site, topology(folder), ensure_stacks(), journal)
        transport = provider_named("local").transport(site, journal)
        bench = TrialContext(
            cluster, transport, Record.open(folder / "records", draft("trial")), journal
        )
        YcsbWorkload().prepare(bench, TEST_CASE)
        victim = next(
            p for p in cluster.processes if p.name.startswith("regionserver") and p.node == "w2"
        )
        yield _run(bench, victim)
    finally:
        tear_down(site, journal)


def _run(bench: TrialContext, victim: ProcessId) -> Killed:
    raw = bench.record.raw
    words = (*client_arguments(TEST_CASE, f"{raw}/ycsb-1-"), *IMPATIENT)
    command = java_command(
        bench.cluster, "ycsb-1", classpath(ensure("ycsb")), YCSB, words, serial(512)
    )
    out, err = raw / "ycsb-1.out", raw / "ycsb-1.err"
    begun = time.monotonic()
    process = bench.transport.start(bench.cluster.topology.client, command, out, err)
    try:
        _until_it_works(err)
        os.kill(victim.pid, signal.SIGKILL)
        exit_code = bench.transport.wait(process, 120)
    finally:
        bench.transport.stop(process)
    return Killed(raw, exit_code, time.monotonic() - begun)


def _until_it_works(err: Path) -> None:
    deadline = time.monotonic() + 40
    while time.monotonic() < deadline:
        if re.search(r" [4-9] sec: [1-9][0-9]+ operations", err.read_text()):
            return
        time.sleep(0.1)
    raise TimeoutError(err.read_text())


def test_the_client_ends_by_itself_in_time(killed: Killed) -> None:
    assert killed.exit_code == 0  # so the verdict cannot come from it (method 9)
    assert killed.seconds < TEST_CASE.duration_s + 60  # type: ignore[operator]


def test_some_operations_succeeded_and_some_failed(killed: Killed) -> None:
    assert sum(count.ok for count in killed.counts.values()) > 100
    assert sum(count.failed for count in killed.counts.values()) > 0


def test_the_bindings_count_of_failures_equals_ycsbs(killed: Killed) -> None:
    for name in ("READ", "UPDATE"):
        counts = re.findall(rf"hbase-client: ([0-9]+) x {name} ", killed.stderr)
        assert sum(map(int, counts)) == killed.counts[name].failed, killed.stderr[-3000:]


def test_each_kind_of_failure_is_reported_once_with_its_cause(killed: Killed) -> None:
    first = re.findall(r"hbase-client: first (.*)", killed.stderr)
    assert first and len(first) == len(set(first))


def test_all_operations_are_accounted_for(killed: Killed) -> None:
    status = parse_status((killed.raw / "ycsb-1.err").read_bytes(), "err").rows
    counted = sum(count.ok + count.failed for count in killed.counts.values())
    assert counted == status[-1].operations


def test_the_trial_has_a_fault_though_its_client_exited_0(killed: Killed) -> None:
    faults = faults_of(killed.raw, "ycsb-1", TEST_CASE)
    assert faults and all("failed (" in fault and "ERROR" in fault for fault in faults)
