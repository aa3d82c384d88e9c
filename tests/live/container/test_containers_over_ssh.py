"""Containers on two hosts over SSH: a study from its file to its records; limits, networks; kill -9 and reap.

The hosts are namespaces (`tests.hosts`) and share this machine's cgroups, so that the names of one host's
containers must not be those of another's.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.container.names import container_id
from density_study.cluster.providers.container.over_ssh import ContainerOverSshProvider
from density_study.cluster.providers.ssh.channel import close_channels
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.killed import kinds
from tests.live.support.measured import measured, operations_of
from tests.live.support.over_ssh import AGENT_ENDS_WITHIN_S, controlling, lab

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = """
study: live-container-ssh
provider: container
hosts:
  - {name: h1, address: H1, memory: 6 GiB, roles: [master, worker, client], disks: [{path: /mnt}]}
  - {name: h2, address: H2, memory: 4 GiB, disks: [{path: /mnt}]}
ssh: {user: root, known_hosts: KNOWN_HOSTS}
containers: {network: 198.18.45.0/26}
factors: {vms_per_host: [2]}
workloads:
  - ycsb: {records: [5_000], mixes: [read45-insert55], threads: [2], duration: 8 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
seed: 7
"""
STORES = """
study: live-container-stores-ssh
provider: container
hosts:
  - {name: h1, address: H1, memory: 5200 MiB, roles: [master, worker, client], disks: [{path: /mnt}]}
  - {name: h2, address: H2, memory: 2600 MiB, disks: [{path: /mnt}]}
ssh: {user: root, known_hosts: KNOWN_HOSTS}
containers: {network: 198.18.45.0/26}
factors: {vms_per_host: [1], store: [redis-cluster, {name: cassandra, durability: synced}, kudu, accumulo]}
workloads:
  - ycsb: {records: [2_000], mixes: [load, a], threads: [2], duration: 4 s, warm_up: 1 s,
           warm_up_client: off, warm_up_daemons: off, regions_per_server: 2}
repetitions: 1
seed: 7
"""
NODES = {"h1": {"m1", "c1", "w1", "w2"}, "h2": {"w3", "w4"}}
PARTS = {"h1": "198.18.45.0/27", "h2": "198.18.45.32/27"}
BURN = """\
import os, time
os.fork()
end = time.time() + 3
while time.time() < end: pass
"""
ACTS = (
    "intent make-bridge",
    "intent make-route",
    "intent make-netns",
    "intent make-container",
    "container-up",
    "process-started datanode",
)
STATE = """\
ip -o -4 address | awk '{print $2, $4}'
ip route
ls /run/runc /run/netns 2>/dev/null | grep study
ls -d /sys/fs/cgroup/study-* /sys/fs/cgroup/*/study-* 2>/dev/null
find /mnt -mindepth 1
find /var/tmp/density-study-root/builds -mindepth 1 2>/dev/null
ls /var/tmp/density-study-root/host-lease.json 2>/dev/null
ps -eo args= | grep -E '^(runc|sleep|/bin/sleep|java|python3 -I)' || true
"""
"""What a build may have on a host, and processes of agents."""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["h1", "h2"], user="root") as made:
        yield made


@pytest.fixture(params=[SPEC])
def spec(request: pytest.FixtureRequest, hosts: Hosts, tmp_path: Path) -> Iterator[Path]:
    """The study's file; this process controls the hosts."""
    text = request.param.replace("KNOWN_HOSTS", str(hosts.known_hosts))
    for name, address in hosts.addresses.items():
        text = text.replace(name.upper(), address)
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with controlling(hosts, tmp_path):
        yield path


def forward(hosts: Hosts, name: str, value: int) -> None:
    hosts.on(name, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/ip_forward")


@pytest.fixture
def before(hosts: Hosts, spec: Path) -> dict[str, str]:
    """State of the hosts and of this machine, without any build."""
    for name in hosts.names:
        forward(hosts, name, 1)
    return state(hosts)


def state(hosts: Hosts) -> dict[str, str]:
    found = {name: hosts.on(name, "sh", "-c", STATE) for name in hosts.names}
    routes = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True)
    return {**found, "controller": routes.stdout}


def check_same(hosts: Hosts, before: dict[str, str], why: str = "") -> None:
    """Once our agents have ended, which takes a moment after their connection."""
    close_channels()
    deadline = time.monotonic() + AGENT_ENDS_WITHIN_S
    while (now := state(hosts)) != before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert now == before, why


def test_a_host_that_forwards_no_packets_is_refused(
    hosts: Hosts, spec: Path, tmp_path: Path
) -> None:
    forward(hosts, "h1", 1)
    forward(hosts, "h2", 0)
    empty = state(hosts)
    with pytest.raises(InputError, match="does not forward packets") as caught:
        open_run(spec, tmp_path / "runs")
    assert "'h2'" in caught.value.where
    assert "ip_forward=1" in caught.value.remedy
    check_same(hosts, empty)


@pytest.mark.parametrize("spec", [STORES], indirect=True, ids=["stores"])
def test_stores_on_two_hosts(
    hosts: Hosts, spec: Path, before: dict[str, str], tmp_path: Path
) -> None:
    with measured(spec, tmp_path / "runs") as (run, manifests):
        assert len(manifests) == 8
        for name, manifest in manifests.items():
            assert (manifest.state, manifest.isolation) == ("complete", "container")
            counts = operations_of(run, name)
            assert all(count.ok > 0 and count.failed == 0 for count in counts.values()), name
            assert manifest.state_after["store"]["rows"] == 2_000
    check_same(hosts, before)


def test_a_study_on_two_hosts(
    hosts: Hosts, spec: Path, before: dict[str, str], tmp_path: Path
) -> None:
    run = open_run(spec, tmp_path / "runs")
    try:
        for step in steps_left(run):
            ended = carry_out(run, step)
            assert ended.outcome == "ok", ended.message
            if ended.step.kind == "up":
                check_containers(hosts, run, step.build)
    finally:
        close_run(run)
    check_same(hosts, before)
    records = closed_records(run.records)
    assert len(records) == len(run.plan.trials) == 1
    for manifest in records.values():
        assert (manifest.state, manifest.isolation) == ("complete", "container")
        assert {monitor.host for monitor in manifest.monitors} == {"h1", "h2"}
        assert {guest.node: guest.host for guest in manifest.guests} == {
            node: host for host, nodes in NODES.items() for node in nodes
        }
        assert all(guest.cpu_s > 0 for guest in manifest.guests)
        disclosed = manifest.disclosure
        assert set(disclosed["machines"]) == {"h1", "h2"}
        assert disclosed["containers"]["runc"].startswith("runc version")
    logs = run.site(next(iter(run.plan.builds))).root / "logs"
    assert all((logs / f"w{n}" / "datanode.log").stat().st_size > 0 for n in (1, 2, 3, 4))


def check_containers(hosts: Hosts, run: Run, build: str) -> None:
    """While the cluster stands."""
    site, topology = run.site(build), run.plan.topology_of(build)
    for host, wanted in NODES.items():
        nodes = [node for node in topology.nodes if node.host == host]
        assert {node.name for node in nodes} == wanted
        ids = {container_id(site.tag, host, node.name) for node in nodes}
        assert set(hosts.on(host, "ls", "/run/netns").split()) == ids
        assert set(hosts.on(host, "ls", "/run/runc").split()) == ids
        (other,) = set(NODES) - {host}
        assert f"{PARTS[other]} via {hosts.addresses[other]}" in hosts.on(host, "ip", "route")
    provider = ContainerOverSshProvider()
    inside = _Inside(run, topology, build)
    assert inside.told("w3", "/bin/hostname") == (0, "w3\n")
    code, told = inside.told("w3", "/usr/bin/touch", "/etc/file")
    assert code == 1 and "Read-only file system" in told
    earlier, began = provider.guest_times(site, topology)["w4"], time.monotonic()
    assert inside.told("w4", "python3", "-c", BURN)[0] == 0
    seconds = time.monotonic() - began
    later = provider.guest_times(site, topology)["w4"]
    # its daemons and two processes want more than the one core that it may have
    assert (later.cpu_s - earlier.cpu_s) / seconds < 1.05
    assert later.waited_s > earlier.waited_s
    peers = "import socket; print(*(socket.gethostbyname(f'w{n}') for n in (1, 2, 3, 4)))"
    addresses = {node.name: node.address for node in topology.nodes}
    assert inside.told("w1", "python3", "-c", peers)[1].split() == [
        addresses[f"w{number}"] for number in (1, 2, 3, 4)
    ]
    assert {addresses["m1"], addresses["w3"]} == {"198.18.45.2", "198.18.45.34"}


class _Inside:
    """Commands in the containers of a build."""

    def __init__(self, run: Run, topology: Topology, build: str) -> None:
        self.site = run.site(build)
        self.nodes = {node.name: node for node in topology.nodes}
        self.transport = ContainerOverSshProvider().transport(self.site, run.journal)
        self.count = 0

    def told(self, node: str, *argv: str) -> tuple[int, str]:
        """Exit code and output."""
        self.count += 1
        out = self.site.root / "logs" / f"told-{self.count}"
        command = Command("test", ("/usr/bin/env", *argv), {}, "/")
        process = self.transport.start(self.nodes[node], command, out, out)
        code = self.transport.wait(process, 60.0)
        self.transport.stop(process, 0.0)
        self.transport.fetch(self.nodes[node], out, out)
        return code, out.read_text()


def test_reap_cleans_up_hosts_after_kill_9(
    hosts: Hosts, spec: Path, before: dict[str, str], tmp_path: Path
) -> None:
    def orchestrate(runs: Path, *kind: str) -> int:
        module = (sys.executable, "-m", "tests.live.support.killed")
        argv = [*hosts.enter, *module, str(spec), str(runs), *kind]
        return subprocess.run(argv, check=False, timeout=300).returncode

    assert orchestrate(tmp_path / "whole") == 0
    assert set(ACTS) <= set(kinds(next(tmp_path.glob("whole/*/*/journal.jsonl"))))
    check_same(hosts, before, "whole")
    for number, kind in enumerate(ACTS):
        runs = tmp_path / f"runs-{number}"
        assert orchestrate(runs, kind) == -9, kind
        reap(runs)
        check_same(hosts, before, kind)
        assert reap(runs).reaped == ()
