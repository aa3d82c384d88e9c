"""Networks of hosts over SSH are changed, measured, and put back, also after kill -9.

Two hosts made of namespaces (`tests.hosts`). Daemons are fakes that sleep (`tests.live.support.killed`);
interfaces, journal and removal are real. The user is not root: the documented sudo rules let it change them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.model.cluster import read_cluster
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.journal import Journal
from density_study.workloads.execution.opening import open_run
from tests.hosts.fixture import Hosts
from tests.live.support.over_ssh import controlling, lab, physical_spec

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = """
study: live-network
question: What does the network of hosts cost?
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors:
  vms_per_host: [0]
  network: [NETWORK]
workloads: [testdfsio: {modes: [write], files: 2, file_size: 16 MiB}]
"""
CHANGED = "{rate: 100 Mbit/s, mtu: 1400, rps: [1]}"
PLAIN = ("noqueue", 1500, 0)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if os.getuid() != 0 or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("no host's network was changed: needs root, and two CPUs")
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        with made.inside():
            for name in made.names:
                # the far end of its veth pair is on this machine, and its CPUs are the same
                steered = f"/sys/class/net/v-{name}/queues/rx-0/rps_cpus"
                rps = f"mount -t sysfs sysfs /sys; echo 2 > {steered}"
                subprocess.run(["unshare", "--mount", "sh", "-c", rps], check=True)
        yield made


@pytest.fixture
def controller(hosts: Hosts, tmp_path: Path) -> Iterator[None]:
    with controlling(hosts, tmp_path):
        yield


def spec(hosts: Hosts, folder: Path, network: str) -> Path:
    return physical_spec(hosts, SPEC.replace("NETWORK", network), folder / "spec.yaml")


def orchestrate(spec: Path, runs: Path, *kind: str) -> int:
    argv = [sys.executable, "-m", "tests.live.support.killed", str(spec), str(runs), *kind]
    return subprocess.run(argv, check=False, timeout=300).returncode


def network_of(hosts: Hosts, name: str) -> tuple[str, int, int]:
    """Queueing discipline, MTU, and the mask of CPUs of the first queue."""
    qdisc = hosts.on(name, "/usr/sbin/tc", "qdisc", "show", "dev", "eth0").split()[1]
    folder = "/sys/class/net/eth0"
    mtu = hosts.on(name, "cat", f"{folder}/mtu")
    return qdisc, int(mtu), int(hosts.on(name, "cat", f"{folder}/queues/rx-0/rps_cpus"), 16)


@pytest.mark.usefixtures("controller")
def test_a_network_is_measured_and_put_back(hosts: Hosts, tmp_path: Path) -> None:
    assert orchestrate(spec(hosts, tmp_path, CHANGED), tmp_path / "runs") == 0
    (journal,) = tmp_path.glob("runs/*/*/journal.jsonl")
    (build,) = journal.parent.glob("builds/*")
    disclosed = read_cluster(build).disclosure["network"]
    assert disclosed["interfaces"] == {"m1": "eth0", "h1": "eth0"}
    found = {one["what"]: one for one in disclosed["measured"]}
    assert {what: one["holds"] for what, one in found.items()} == {
        "rate": True,
        "mtu": True,
        "steered": True,
    }
    assert found["rate"]["measured"] == pytest.approx(100.0, rel=0.02)
    assert {name: network_of(hosts, name) for name in hosts.names} == dict.fromkeys(
        hosts.names, PLAIN
    )


@pytest.mark.usefixtures("controller")
@pytest.mark.parametrize("kind", ["intent set-network", "phase network"])
def test_reap_puts_networks_back_after_kill_9(hosts: Hosts, tmp_path: Path, kind: str) -> None:
    runs = tmp_path / "runs"
    assert orchestrate(spec(hosts, tmp_path, CHANGED), runs, kind) == -9
    changed = {name: network_of(hosts, name) for name in hosts.names}
    if kind == "phase network":
        assert changed == dict.fromkeys(hosts.names, ("tbf", 1400, 2))
    assert reap(runs).reaped != ()
    assert {name: network_of(hosts, name) for name in hosts.names} == dict.fromkeys(
        hosts.names, PLAIN
    )
    (journal,) = runs.glob("*/*/journal.jsonl")
    assert Journal(journal).intents("set-network")[0].former["mtu"] == 1500
    assert reap(runs).reaped == ()


@pytest.mark.usefixtures("controller")
@pytest.mark.parametrize(
    ("network", "says"),
    [
        ("{rps: [1023]}", "no CPU 1023"),
        ("{delay: 1 ms}", "netem"),
        ("{rfs: 4096}", "a network namespace, which may not set the machine's table"),
        ("{coalesce: {rx-usecs: 50}}", "eth0 does not let its interrupts be coalesced"),
        ("{irq_affinity: [0]}", "eth0 has no interrupts of its own"),
    ],
)
def test_what_a_host_cannot_do_is_refused_before_anything_starts(
    hosts: Hosts, tmp_path: Path, network: str, says: str
) -> None:
    netem = ["unshare", "--net", "/usr/sbin/tc", "qdisc", "add", "dev", "lo", "root", "netem"]
    if "delay" in network and subprocess.run(netem, check=False).returncode == 0:
        pytest.skip("this kernel has netem")
    with pytest.raises(InputError, match=says):
        open_run(spec(hosts, tmp_path, network), tmp_path / "runs")
    assert not list((tmp_path / "runs").glob("*/*/journal.jsonl"))


@pytest.mark.usefixtures("controller")
def test_an_interface_with_a_discipline_of_its_own_is_refused(hosts: Hosts, tmp_path: Path) -> None:
    hosts.on("h1", "/usr/sbin/tc", "qdisc", "add", "dev", "eth0", "root", "handle", "7:", "tbf",
             *("rate", "1gbit", "burst", "1mb", "latency", "10ms"))  # fmt: skip
    try:
        with pytest.raises(
            InputError, match="eth0 has a queueing discipline that is not the kernel's"
        ):
            open_run(spec(hosts, tmp_path, "{rate: 100 Mbit/s}"), tmp_path / "runs")
    finally:
        hosts.on("h1", "/usr/sbin/tc", "qdisc", "delete", "dev", "eth0", "root")
