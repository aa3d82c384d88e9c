"""A cluster of two workers: up, used, down, and verified removal; and the known failures."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.reap import reap
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.machine.other_users import private_network
from density_study.cluster.model.access import OPEN
from density_study.cluster.model.cluster import Site, read_cluster
from density_study.cluster.model.errors import BringUpError, InputError
from density_study.cluster.model.transport import Command, ProcessId, Transport
from density_study.cluster.providers.existing.web import session_of
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import Stacks, ensure_stacks
from density_study.cluster.state import lease
from density_study.cluster.state.events import Event, PhaseEnded
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from density_study.workloads.ycsb.stores.ready import row_written_and_read
from tests.live.support.builds import BASE_PORT, open_build, topology
from tests.support.other_user import ROOT_ONLY, reaches

pytestmark = pytest.mark.timeout(300)

TEST_DFSIO = "org.apache.hadoop.fs.TestDFSIO"
DATA = "/benchmarks/TestDFSIO"
LOOPBACK = ("0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000")
"""127.0.0.1 in the notation of /proc, the same mapped into IPv6, and ::1."""


class Up:
    """The running cluster for the tests of this module."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site, self.journal = open_build(folder, os.getpid())
        self.cluster = bring_up(
            self.site,
            topology(folder),
            ensure_stacks(),
            self.journal,
            final_check=lambda cluster: row_written_and_read(cluster, self.journal),
        )

    @property
    def transport(self) -> Transport:
        return provider_named("local").transport(self.site, self.journal)

    def run(self, command: Command, watch: Callable[[], None] = lambda: None) -> str:
        """Standard error of a client program that must succeed; `watch` is called meanwhile."""
        out, err = (self.folder / f"{command.name}.{suffix}" for suffix in ("out", "err"))
        transport = self.transport
        process = transport.start(self.cluster.topology.client, command, out, err)
        while transport.alive(process):
            watch()
            time.sleep(0.2)
        assert transport.wait(process, 1) == 0, err.read_text()[-3000:]
        return err.read_text()

    def dfsio(self, *args: str) -> Command:
        options = (
            *args,
            "-nrFiles",
            "3",
            "-size",
            "8MB",
            "-resFile",
            str(self.folder / "results.log"),
        )
        flags = (f"-Dtest.build.data={DATA}",)
        return hadoop_command(
            self.cluster, "dfsio" + "".join(args), TEST_DFSIO, options, jvm_flags=flags
        )


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder = tmp_path_factory.mktemp("cluster")
    try:
        yield Up(folder)
    finally:
        for journal_path in folder.glob("runs/*/*/journal.jsonl"):
            tag = "/".join(journal_path.parent.parts[-2:])
            tear_down(
                Site(journal_path.parent / "builds" / "b1", f"{tag}/b1"), Journal(journal_path)
            )


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return ensure_stacks()


def test_the_cluster_is_saved_and_disclosed(up: Up) -> None:
    assert read_cluster(up.site.root) == up.cluster
    names = [phase.name for phase in up.cluster.phases]
    assert names[:3] == ["render", "create", "start"]
    assert {"hdfs", "yarn", "hbase", "check"} < set(names)
    assert names[-1] == "total"
    disclosed = up.cluster.disclosure
    assert disclosed["isolation"] == "process"
    assert disclosed["native_hadoop"] is False
    assert "<configuration>" in disclosed["files"]["nodes/w1/hdfs-site.xml"]["text"]
    assert len(disclosed["daemons"]) == 4 + 2 * 3


def test_every_daemon_maps_its_class_data_archive(up: Up) -> None:
    """The JVM is silent when an archive does not fit its class path; it just starts slowly."""
    for process in up.cluster.processes:
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        assert "/classes.jsa" in maps, process.name


def test_daemons_listen_only_on_loopback_except_where_disclosed(up: Up) -> None:
    """Hadoop binds ShuffleHandler to every address, and nothing can configure it."""
    open_ports = {port for port, _ in wildcard_listeners(up.site.tag)}
    listeners = up.cluster.disclosure["listens_on_all_addresses"]
    shuffle = {
        int(listener.rpartition(" ")[2])
        for listener in listeners["ShuffleHandler of the NodeManagers"]
    }
    assert open_ports == shuffle == {BASE_PORT + 17, BASE_PORT + 27}


def test_programs_cannot_be_started_through_yarns_web_port(up: Up) -> None:
    url = f"http://{up.cluster.endpoints.one('resourcemanager.http')}/ws/v1/cluster/apps/new-application"
    refused = session_of(OPEN, up.cluster.endpoints.network).post(url, timeout=10)
    assert refused.status_code == 403
    assert "disabled" in refused.text


@ROOT_ONLY
@pytest.mark.skipif(bool(private_network.obstacle()), reason="no network namespaces here")
def test_other_users_of_the_machine_reach_no_daemon(up: Up) -> None:
    asked = up.journal.intents("build", up.site.tag)
    ports = sorted({address for build in asked for address in build.ports})
    assert len(ports) == 30
    points = up.cluster.endpoints
    for address in ports:  # they do listen, for this user
        with contextlib.suppress(ConnectionRefusedError):  # two are spare
            private_network.connect(points.network, address, 5).close()
    for address in (
        points.one("resourcemanager.rpc"),
        points.one("namenode.rpc"),
        points.one("zookeeper.client"),
    ):
        host, _, port = address.rpartition(":")
        private_network.connect(points.network, (host, int(port)), 5).close()
    tries = f"""
import socket
for address in {ports!r}:
    try: socket.create_connection(address, 1)
    except OSError: continue
    raise SystemExit(address)
"""
    assert reaches(None, tries)


def test_a_file_in_hdfs_is_read_back_unchanged(up: Up) -> None:
    there, back = (up.folder / name for name in ("there", "back"))
    there.write_bytes(os.urandom(3 * 1024 * 1024))
    hdfs = Hdfs(up.cluster)
    hdfs.put(there, "/live/file")
    hdfs.fetch("/live/file", back)
    assert back.read_bytes() == there.read_bytes()


def test_dfsio_runs_on_yarn_in_tagged_containers(up: Up) -> None:
    daemons = {process.pid for process in up.cluster.processes}
    containers: dict[int, ProcessId] = {}
    open_to_all: set[str] = set()

    def look() -> None:
        open_to_all.update(who for _, who in wildcard_listeners(up.site.tag))
        for process in tagged(up.site.tag):
            if process.pid not in daemons and "YarnChild" in arguments(process.pid):
                containers[process.pid] = process

    up.run(up.dfsio("-write"), look)
    errors = up.run(up.dfsio("-read", "-random"))
    assert "----- TestDFSIO ----- : random read" in errors
    assert {process.node for process in containers.values()} == {"w1", "w2"}
    # As disclosed in the manifest: these two, and nothing else of the job.
    assert {"NodeManager", "MRAppMaster"} == open_to_all
    assert len(Hdfs(up.cluster).job_histories()) == 2


@pytest.mark.usefixtures("shared_network")
def test_a_cluster_on_ports_of_other_programs_is_refused(tmp_path: Path, stacks: Stacks) -> None:
    site, journal = open_build(tmp_path, os.getpid())
    with (
        socket.create_server(("127.0.0.1", BASE_PORT)),
        pytest.raises(InputError, match=f"port {BASE_PORT} .* is taken by process") as caught,
    ):
        bring_up(site, topology(tmp_path), stacks, journal)
    assert caught.value.where == "stack.base_port"
    assert tagged(site.tag) == []
    assert not (tmp_path / "disk").exists()


def test_after_tear_down_only_logs_remain(up: Up) -> None:
    foreign = subprocess.Popen(["java", "600"], executable="/bin/sleep")
    try:
        tear_down(up.site, up.journal)
        assert foreign.poll() is None
    finally:
        foreign.kill()
        foreign.wait()
    assert tagged(up.site.tag) == []
    assert list((up.folder / "disk").iterdir()) == []
    assert (up.site.root / "logs" / "w1" / "datanode.log").stat().st_size > 0
    tear_down(up.site, up.journal)


def test_a_daemon_killed_during_bring_up_is_named(tmp_path: Path, stacks: Stacks) -> None:
    site, journal = open_build(tmp_path, os.getpid())

    class Killing(Journal):
        def record(self, event: Event) -> None:
            super().record(event)
            if isinstance(event, PhaseEnded) and event.name == "start":
                victim = next(e for e in self.read() if is_start(e, "datanode", "w2"))
                os.kill(victim["pid"], signal.SIGKILL)

    try:
        with pytest.raises(BringUpError) as caught:
            bring_up(site, topology(tmp_path), stacks, Killing(journal.path))
    finally:
        tear_down(site, journal)
    assert caught.value.daemon == "datanode"
    assert "'w2'" in caught.value.where
    assert "DataNode" in caught.value.log_tail
    assert tagged(site.tag) == []


def test_after_kill_9_of_the_orchestrator_reap_leaves_nothing(
    runtime: None, tmp_path: Path
) -> None:
    argv = [sys.executable, "-m", "tests.live.support.orchestrator", str(tmp_path)]
    orchestrator = subprocess.Popen(argv)
    foreign = subprocess.Popen(["java", "600"], executable="/bin/sleep")
    try:
        wait_for_daemons(tmp_path, orchestrator, at_least=6)
        assert reap(tmp_path / "runs").reaped == ()  # its owner lives
        orchestrator.kill()
        orchestrator.wait()
        (reaped,) = reap(tmp_path / "runs").reaped
        assert foreign.poll() is None
    finally:
        for process in (orchestrator, foreign):
            process.kill()
            process.wait()
        reap(tmp_path / "runs")
    assert len([line for line in reaped.removed if line.startswith("process")]) >= 6
    assert tagged(reaped.tag) == []
    assert list((tmp_path / "disk").iterdir()) == []
    assert lease.holder() is None


def wildcard_listeners(tag: str) -> set[tuple[int, str]]:
    """(port, main class) of the tag's processes that listen on all addresses."""
    inodes: dict[str, int] = {}
    listeners = set()
    network = next(iter(tagged(tag)), None)  # all of them are in one
    for table in ("tcp", "tcp6") if network else ():
        text = Path(f"/proc/{network.pid}/net/{table}").read_text()
        for fields in map(str.split, text.splitlines()[1:]):
            host, port = fields[1].rsplit(":", 1)
            if fields[3] == "0A" and host not in LOOPBACK:
                inodes[f"socket:[{fields[9]}]"] = int(port, 16)
    for process in tagged(tag):
        for descriptor in Path(f"/proc/{process.pid}/fd").glob("*"):
            with contextlib.suppress(OSError):  # closed, or its process ended, meanwhile
                port_there = inodes.get(str(descriptor.readlink()))
                if port_there is not None:
                    listeners.add((port_there, main_class(process.pid)))
    return listeners


def main_class(pid: int) -> str:
    names = ("MRAppMaster", "NodeManager", "YarnChild", "TestDFSIO")
    return next((name for name in names if f".{name}" in arguments(pid)), arguments(pid)[-80:])


def wait_for_daemons(folder: Path, orchestrator: subprocess.Popen[bytes], at_least: int) -> None:
    """Waits for this number of started daemons, in the middle of the bring-up."""
    deadline = time.monotonic() + 60
    started = 0
    while started < at_least:
        assert orchestrator.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
        for path in folder.glob("runs/*/*/journal.jsonl"):
            started = sum(e["event"] == "process-started" for e in Journal(path).read())


def is_start(entry: dict[str, object], name: str, node: str) -> bool:
    return entry["event"] == "process-started" and entry["name"] == name and entry["node"] == node


def arguments(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""  # ended meanwhile
