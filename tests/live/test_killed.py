"""kill -9 of the orchestrator at every journalled step, then reap: nothing remains, each time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.machine.as_root import INSTALLED
from density_study.cluster.model.errors import HostBusyError
from density_study.cluster.providers.ssh.units import PROGRAM, unit_name
from density_study.cluster.state import lease
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.tags import TAG, tagged
from density_study.workloads.execution.opening import open_run
from tests.hosts.fixture import Hosts
from tests.hosts.host import USER
from tests.live.support.killed import kinds
from tests.live.support.over_ssh import controlling, lab, left_on, physical_spec

pytestmark = pytest.mark.timeout(600)

LOCAL = """
study: killed-local
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK}]}]
factors: {vms_per_host: [2]}
stack: {base_port: 24000}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""
PHYSICAL = """
study: killed-physical
provider: physical
hosts:
HOSTS
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 MiB}]
"""
FOREIGN = ["sleep infinity", "/mnt/density-study", "/mnt/density-study/another-study"]
"""Processes of another study on a host, which must survive every reap."""


@pytest.fixture
def foreign() -> Iterator[subprocess.Popen[bytes]]:
    """A process of another study, tagged like ours, which must survive."""
    env = {**os.environ, TAG: "another-study/r1/b1"}
    process = subprocess.Popen(["java", "600"], executable="/bin/sleep", env=env)
    yield process
    process.kill()
    process.wait()


def orchestrate(enter: tuple[str, ...], spec: Path, runs: Path, *kind: str) -> int:
    argv = [*enter, sys.executable, "-m", "tests.live.support.killed", str(spec), str(runs), *kind]
    return subprocess.run(argv, check=False, timeout=300).returncode


def test_local(runtime: None, tmp_path: Path, foreign: subprocess.Popen[bytes]) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    (disk / "foreign").write_text("not ours")
    spec = tmp_path / "spec.yaml"
    spec.write_text(LOCAL.replace("DISK", str(disk)))
    assert orchestrate((), spec, tmp_path / "whole") == 0
    every = kinds(next(tmp_path.glob("whole/*/*/journal.jsonl")))
    assert {"intent build", "intent make-dir", "intent start datanode", "destroyed"} <= set(every)
    for number, kind in enumerate(every):
        runs = tmp_path / f"runs-{number}"
        assert orchestrate((), spec, runs, kind) == -9, kind
        reap(runs)
        assert tagged("killed-local") == [], kind
        assert [path.name for path in disk.iterdir()] == ["foreign"], kind
        assert lease.holder() is None, kind
        assert reap(runs).reaped == ()
    assert foreign.poll() is None


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1"]) as made:
        yield made


@pytest.fixture
def controller(hosts: Hosts, tmp_path: Path) -> Iterator[Path]:
    """The study's file; this process controls the hosts."""
    with controlling(hosts, tmp_path):
        yield physical_spec(hosts, PHYSICAL, tmp_path / "spec.yaml")


@pytest.mark.timeout(1800)  # some twenty builds, each with a reap
def test_physical(hosts: Hosts, controller: Path, tmp_path: Path) -> None:
    hosts.on("h1", "mkdir", "-p", FOREIGN[-1])
    hosts.on("h1", "chown", "-R", USER, "/mnt/density-study")
    hosts.on("h1", "sh", "-c", f"STUDY_TAG=another-study/r1/b1 setpriv --reuid {USER} --regid {USER} "
             "--clear-groups sleep infinity >/dev/null 2>&1 &")  # fmt: skip
    assert orchestrate(hosts.enter, controller, tmp_path / "whole") == 0
    every = kinds(next(tmp_path.glob("whole/*/*/journal.jsonl")))
    assert {"intent lease-host", "intent make-dir", "intent start datanode"} <= set(every)
    for number, kind in enumerate(every):
        runs = tmp_path / f"runs-{number}"
        if "copy-stack" in kind:  # the hosts have it since the whole run, and nothing would be sent
            for name in hosts.addresses:
                hosts.on(name, "rm", "-rf", f"/var/tmp/density-study-{USER}/stacks")
        assert orchestrate(hosts.enter, controller, runs, kind) == -9, kind
        reap(runs)
        assert left_on(hosts, "m1") == [], kind
        assert left_on(hosts, "h1") == FOREIGN, kind
        assert tagged("killed-physical") == [], kind
    assert hosts.on("h1", "ls", "/mnt/density-study").split() == ["another-study"]


def test_reap_after_a_network_outage_during_bring_up(
    hosts: Hosts, controller: Path, tmp_path: Path
) -> None:
    argv = [
        *hosts.enter,
        sys.executable,
        "-m",
        "tests.live.support.killed",
        str(controller),
        str(tmp_path),
    ]
    building = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(tmp_path, "dir-made", building)
        hosts.cut("h1")
        _, errors = building.communicate(timeout=120)
    finally:
        building.kill()
        building.wait()
        hosts.mend("h1")
    assert building.returncode != 0
    assert "h1" in errors
    hosts.wait_for_ssh("h1")
    reap(tmp_path)
    assert left_on(hosts, "m1") == []
    assert [one for one in left_on(hosts, "h1") if one not in FOREIGN] == []


def test_the_sudo_rules_let_a_user_start_our_programs_alone(hosts: Hosts) -> None:
    """What these do with hostile arguments: tests/security/privileges."""
    ours = str(INSTALLED / PROGRAM)
    assert may(hosts, (ours, unit_name("s/r/b", "w1", "datanode"), "s/r/b", "/spec.json"))
    assert not may(hosts, ("/usr/bin/systemd-run", "--uid=study", "/bin/true"))
    assert not may(hosts, ("/bin/true",))


def may(hosts: Hosts, argv: tuple[str, ...]) -> bool:
    """Whether sudo would let the user run it, without running it."""
    become = ("setpriv", "--reuid", USER, "--regid", USER, "--init-groups")
    try:
        hosts.on("h1", *become, "sudo", "-n", "-l", "--", *argv)
    except subprocess.CalledProcessError:
        return False
    return True


def test_a_host_leased_by_another_run_is_refused(
    hosts: Hosts, controller: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run's controller may be another machine: the lease is on the host."""
    open_run(controller, tmp_path / "first", owner=Owner.of_process(os.getpid()))
    # It is held once a build exists; here only the lease is taken.
    from density_study.cluster.model.host import Target
    from density_study.cluster.providers.ssh.channel import channel
    from density_study.cluster.providers.ssh.host_leases import take_leases

    journal = Journal(next(tmp_path.glob("first/*/*/journal.jsonl")))
    tag = "killed-physical/" + journal.path.parent.name
    known = tmp_path / "first" / "killed-physical" / "known_hosts"
    target = Target("h1", hosts.addresses["h1"], 22, USER, str(known))
    take_leases({"h1": target}, tag, journal)
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(tmp_path / "another controller"))
    with pytest.raises(HostBusyError, match="is using it"):
        open_run(controller, tmp_path / "second")
    assert lease.holder() is None
    channel(target).call("release_lease", f"/var/tmp/density-study-{USER}", tag)


def wait_for(runs: Path, kind: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        for path in runs.glob("*/*/journal.jsonl"):
            if kind in kinds(path):
                return
        time.sleep(0.1)
    raise TimeoutError(kind)
