"""A host is cut off, or killed, under load: clients go on, and no acknowledged row is lost. A host that was
cut off returns. A cut whose keeper was killed is mended when the build is torn down.

Four hosts made of namespaces (`tests.hosts`): a master that is also the client, and three workers.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.cluster import read_cluster
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.ssh.toolkit import toolkit
from density_study.workloads.base.fault import Fault, InjectedFault
from density_study.workloads.base.workload import RecordFolder, TrialContext
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.fault_under_load.lasting import LastingFault
from tests.hosts.fixture import Hosts
from tests.hosts.host import USER
from tests.live.support.over_ssh import controlling, lab, left_on, physical_spec

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1500)]

SPEC = """
study: live-lost-host
question: What happens when a host is lost?
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
stack: {replication: 2}
workloads:
  - ycsb:
      records: [5_000]
      mixes: [d]
      threads: [4]
      duration: 10 s
      warm_up: 2 s
      warm_up_client: 4 s
      warm_up_daemons: off
      fault: {FAULT, at: 10 s, rate: 100/s, duration: 130 s}
seed: 7
"""
CUT = SPEC.replace("FAULT", "cut: host, for: 20 s")
KILL = SPEC.replace("FAULT", "kill: host")
VICTIM = "h3"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if os.getuid() != 0:
        pytest.skip("no host was cut off: only root makes network namespaces")
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1", "h2", VICTIM]) as made:
        yield made


@pytest.fixture
def controller(hosts: Hosts, tmp_path: Path) -> Iterator[None]:
    with controlling(hosts, tmp_path):
        yield


def tables(hosts: Hosts) -> str:
    return hosts.on(VICTIM, "/usr/sbin/nft", "list", "tables")


def cut_by_hand(run: Run, build: str) -> int:
    """Cut the host off for ten minutes; returns its keeper's process id on the host."""
    cluster = read_cluster(run.site(build).root)
    transport = provider_named("physical").transport(cluster.site, run.journal)
    record = RecordFolder(run.records / "by-hand")
    context = TrialContext(cluster, transport, record, run.journal)
    LastingFault(context, Fault(cut="host", at_s=0, for_s=600)).begin()
    return max(
        entry["pid"]
        for entry in run.journal.read()
        if entry["event"] == "process-started" and entry["name"] == "fault"
    )


@pytest.mark.usefixtures("controller")
def test_a_host_is_cut_off_and_returns(hosts: Hosts, tmp_path: Path) -> None:
    run = open_run(physical_spec(hosts, CUT, tmp_path / "spec.yaml"), tmp_path / "runs")
    try:
        for step in steps_left(run):
            if step.kind == "down":
                keeper = cut_by_hand(run, step.build)
                while "density_study" not in tables(hosts):
                    pass
                hosts.on(VICTIM, "kill", "-9", str(keeper))
                assert "density_study" in tables(hosts)  # nobody is left on the host to mend it
            ended = carry_out(run, step)
            assert ended.outcome == "ok", ended.message
    finally:
        close_run(run)
    assert tables(hosts) == ""
    assert left_on(hosts, VICTIM) == []
    fault = the_fault(run)
    assert fault.cut == "host" and fault.node == "w3"
    assert fault.until_epoch_s is not None
    assert fault.until_epoch_s - fault.epoch_s == pytest.approx(20, abs=3)


@pytest.mark.usefixtures("controller")
def test_all_daemons_of_a_host_are_killed_at_once(hosts: Hosts, tmp_path: Path) -> None:
    run = open_run(physical_spec(hosts, KILL, tmp_path / "spec.yaml"), tmp_path / "runs")
    names = {}
    try:
        for step in steps_left(run):
            if step.kind == "down":
                there = read_cluster(run.site(step.build).root).processes
                names = {one.pid: one.name for one in there if one.node == "w3"}
            ended = carry_out(run, step)
            assert ended.outcome == "ok", ended.message
    finally:
        close_run(run)
    assert left_on(hosts, VICTIM) == []
    fault = the_fault(run)
    assert (fault.kill, fault.node) == ("host", "w3")
    killed = {entry["pid"] for entry in run.journal.read() if entry.get("by") == "fault"}
    assert killed == set(names)
    assert {"datanode", "nodemanager", "regionserver"} <= {n.split("-")[0] for n in names.values()}


def the_fault(run: Run) -> InjectedFault:
    """What was done to the cluster; no acknowledged row was lost by it."""
    (broken,) = (one for one in closed_records(run.records).values() if one.fault)
    rows = broken.state_after["rows"]
    assert rows["acknowledged"] == rows["found"] and rows["lost_keys"] == []
    assert broken.fault is not None
    return broken.fault


def reached(hosts: Hosts, port: int) -> bool:
    """Whether another worker can connect to a port of the victim."""
    address = hosts.addresses[VICTIM]
    connect = f"import socket; socket.create_connection(({address!r}, {port}), timeout=1).close()"
    try:
        hosts.on("h1", "python3", "-c", connect)
    except subprocess.CalledProcessError:
        return False
    return True


@pytest.mark.usefixtures("controller")
def test_the_user_may_cut_off_its_host_and_ssh_still_works(hosts: Hosts) -> None:
    """No cluster: as the user of the documented sudo rule, with the modules of the toolkit alone."""
    place = hosts.folder / VICTIM / "var-tmp" / "toolkit.zip"
    place.write_bytes(toolkit())
    peers = " ".join(hosts.addresses[name] for name in hosts.names if name != VICTIM)
    module = "density_study.cluster.machine.network_cut"
    cut = f"PYTHONPATH=/var/tmp/toolkit.zip exec python3 -m {module} a/b/c 4 22 {peers}"
    serve = f"exec python3 -m http.server --bind {hosts.addresses[VICTIM]} 21099"
    enter = ["nsenter", f"--target={hosts.first_process(VICTIM)}", "--all", "--", "su", USER, "-c"]
    quiet = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    server = subprocess.Popen([*enter, serve], **quiet)  # ends with the lab
    try:
        deadline = time.monotonic() + 20
        while not reached(hosts, 21099):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        keeper = subprocess.Popen(
            [*enter, cut], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        assert keeper.stdout is not None
        assert "begun" in keeper.stdout.readline()
        assert not reached(hosts, 21099) and reached(hosts, 22)
        assert keeper.wait(timeout=20) == 0
        assert reached(hosts, 21099) and tables(hosts) == ""
    finally:
        server.kill()
        place.unlink()
