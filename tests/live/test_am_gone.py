"""A job whose ApplicationMaster is killed before its client requests the end: an error, within
seconds."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.tags import tagged
from density_study.cluster.stores.answers import fetch_json
from density_study.workloads.testdfsio.job import job_arguments
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.testdfsio.workload import MAIN
from tests.live.support.builds import open_build, topology

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

TEST_CASE = DfsioTestCase(mode="write", files=2, file_size_mib=8, read_size_bytes=2**20)


@dataclass(frozen=True)
class Ended:
    """End of a client: exit code, standard error, seconds since the end of the
    ApplicationMaster."""

    exit_code: int
    stderr: str
    seconds: float


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Ended]]:
    folder = tmp_path_factory.mktemp("am-gone")
    site, journal = open_build(folder, os.getpid())
    try:
        cluster = bring_up(site, topology(folder), ensure_stacks(), journal)
        transport = provider_named("local").transport(site, journal)

        def run(name: str, meanwhile: Callable[[Cluster, ProcessId], float]) -> Ended:
            words = job_arguments(TEST_CASE, f"/study/{name}", str(folder / f"{name}.log"))
            command = hadoop_command(cluster, name, MAIN, words)
            out, err = folder / f"{name}.out", folder / f"{name}.err"
            process = transport.start(cluster.topology.client, command, out, err)
            try:
                since = meanwhile(cluster, process)
                exit_code = transport.wait(process, 240)
                return Ended(exit_code, err.read_text(), time.monotonic() - since)
            finally:
                transport.stop(process)

        yield {"left-alone": run("left-alone", _nothing), "killed": run("killed", _am_killed)}
    finally:
        tear_down(site, journal)


def _nothing(_: Cluster, __: ProcessId) -> float:
    return time.monotonic()


def _am_killed(cluster: Cluster, client: ProcessId) -> float:
    """While the client is stopped, the job ends and its ApplicationMaster dies."""
    _until(lambda: _state(cluster) == "RUNNING")
    os.kill(client.pid, signal.SIGSTOP)
    try:
        _until(lambda: _state(cluster) == "FINISHED")
        for pid in _application_masters(cluster):
            os.kill(pid, signal.SIGKILL)
        _until(lambda: not _application_masters(cluster))
    finally:
        os.kill(client.pid, signal.SIGCONT)
    return time.monotonic()


def _state(cluster: Cluster) -> str | None:
    """YARN's state of the last started job."""
    url = f"http://{cluster.endpoints.one('resourcemanager.http')}/ws/v1/cluster/apps"
    answer = fetch_json(url, 30, cluster.endpoints.network)
    apps = (answer["apps"] or {"app": []})["app"]
    mine = [app for app in apps if app["id"].endswith("_0002")]
    return str(mine[0]["state"]) if mine else None


def _application_masters(cluster: Cluster) -> list[int]:
    processes = []
    for process in tagged(cluster.site.tag):
        try:
            argv = Path(f"/proc/{process.pid}/cmdline").read_text().split("\0")
        except OSError:
            continue  # it has just ended
        if argv[0].endswith("/java") and any(word.endswith(".MRAppMaster") for word in argv):
            processes.append(process.pid)
    return processes


def _until(condition: Callable[[], bool], seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_undisturbed_job_succeeds_and_contacts_no_history_server(
    ended: dict[str, Ended],
) -> None:
    assert ended["left-alone"].exit_code == 0, ended["left-alone"].stderr[-2000:]
    assert "Redirecting to job history server" not in ended["left-alone"].stderr


def test_without_its_application_master_a_job_fails_within_seconds(ended: dict[str, Ended]) -> None:
    killed = ended["killed"]
    assert killed.exit_code != 0
    assert killed.stderr.count("Redirecting to job history server") == 1
    assert "Connection refused" in killed.stderr
    assert killed.seconds < 30  # 25 tries 200 ms apart, and the delay of a busy machine
