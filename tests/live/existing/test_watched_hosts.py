"""Provider `existing` with a host over SSH: its monitors show the CPU use of the cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.providers.ssh.channel import close_channels
from density_study.cluster.providers.ssh.options import IDENTITY
from density_study.workloads.monitors import MONITORS
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.command import study, study_run, wait_for
from tests.live.support.foreign import FOLDER, ForeignCluster, foreign_cluster
from tests.live.support.over_ssh import left_on

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]
UNSEEN = "the CPU use of the cluster's hosts is unknown"

STUDY = """
study: live-watched
provider: existing
existing: {configuration: CONF, folder: FOLDER, limits: {rate: off}}
ssh: {user: study, known_hosts: KNOWN_HOSTS}
hosts: [{name: h1, address: ADDRESS}]
workloads:
  - ycsb: {records: [5_000], mixes: [load, read45-insert55], threads: [2], duration: 6 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    if os.getuid() != 0:
        pytest.skip("hosts over SSH were not tested: only root makes network namespaces")
    lab = Hosts(tmp_path_factory.mktemp("lab") / "hosts", ["h1"], cold=("h1",))
    with lab.inside():  # as a controller is, and everything that it starts
        yield lab
    close_channels()
    lab.close()


@pytest.fixture(scope="module")
def foreign(hosts: Hosts, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignCluster]:
    # without a way out of the host, a look-up of its address fails at once, and not after 10 s
    hosts.on("h1", "ip", "route", "del", "default")
    enter = ("nsenter", f"--net=/proc/{hosts.first_process('h1')}/ns/net", "--")
    root = tmp_path_factory.mktemp("foreign")
    with foreign_cluster(root, hosts.addresses["h1"], enter) as cluster:
        yield cluster


@pytest.fixture
def spec(
    hosts: Hosts, foreign: ForeignCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv(IDENTITY, str(hosts.identity))
    text = STUDY.replace("CONF", str(foreign.conf)).replace("FOLDER", FOLDER)
    text = text.replace("KNOWN_HOSTS", str(hosts.known_hosts))
    path = tmp_path / "watched.yaml"
    path.write_text(text.replace("ADDRESS", hosts.addresses["h1"]))
    return path


def test_monitors_on_the_clusters_host_show_its_cpu_and_leave_nothing(
    hosts: Hosts, foreign: ForeignCluster, spec: Path, tmp_path: Path
) -> None:
    before, runs = foreign.canaries(), tmp_path / "runs"
    ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = runs.glob("live-watched/2*")
    for record in closed_records(run / "records").values():
        monitored = {(monitor.host, monitor.kind) for monitor in record.monitors}
        assert monitored == {(host, kind) for host in ("here", "h1") for kind in MONITORS}
        assert record.disclosure["existing"]["unwatched"] == []
        assert record.disclosure["machines"]["h1"]["cores"] == os.cpu_count()
    trials = json.loads((run / "report" / "summary.json").read_text())["trials"]
    assert trials
    for trial in trials:
        reasons = "; ".join(trial["reasons"])
        assert trial["verdict"] != "unknown", reasons
        assert UNSEEN not in reasons
        if trial["verdict"] == "valid":  # a busy machine may make a trial invalid
            assert "whether daemons of HDFS and YARN restarted is unknown" in reasons
        used = {m["scope"]: m["value"] for m in trial["metrics"] if m["name"] == "cpu_used"}
        assert 0 < used["host:h1"] <= 100
        assert "host:here" not in used  # the client's host is no host of the cluster
    assert left_on(hosts, "h1") == []
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before


def test_kill_9_leaves_nothing_on_the_clusters_host_after_reap(
    hosts: Hosts, foreign: ForeignCluster, spec: Path, tmp_path: Path
) -> None:
    before, runs = foreign.canaries(), tmp_path / "runs"
    with study_run(runs, spec=spec) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 200)
        child.kill()
        child.wait()
        left = left_on(hosts, "h1")
        reaped = study("reap", "--runs", str(runs), runs=runs)
    assert any("toolkit.zip" in one for one in left), left
    assert reaped.returncode == 0, reaped.stdout + reaped.stderr
    assert left_on(hosts, "h1") == []
    assert foreign.left_of_studies() == []
    assert foreign.canaries() == before
