"""A daemon of an existing cluster stands still during a trial: /jmx shows it, and the report names it."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live.support.command import study_run, wait_for
from tests.live.support.foreign import FOLDER, LOOPBACK, ForeignCluster, foreign_cluster

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]
AT_S, FOR_S = 20.0, 4.0
STUDY = """
study: live-why
provider: existing
existing: {configuration: CONF, folder: FOLDER, limits: {rate: off}}
monitor: {also: [jmx]}
workloads:
  - ycsb: {records: [5_000], mixes: [read45-insert55], threads: [2], duration: 40 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForeignCluster]:
    with foreign_cluster(tmp_path_factory.mktemp("foreign")) as cluster:
        yield cluster


def test_a_server_that_stands_still_is_named(foreign: ForeignCluster, tmp_path: Path) -> None:
    spec, runs = tmp_path / "why.yaml", tmp_path / "runs"
    spec.write_text(STUDY.replace("CONF", str(foreign.conf)).replace("FOLDER", FOLDER))
    (server,) = (one for one in foreign.processes if "HRegionServer" in str(one.args))
    with study_run(runs, spec=spec) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 200)
        time.sleep(AT_S)
        server.send_signal(signal.SIGSTOP)
        time.sleep(FOR_S)
        server.send_signal(signal.SIGCONT)
        told, _ = child.communicate(timeout=300)
        assert child.returncode == 0, told
    (run,) = runs.glob("live-why/2*")
    causes = json.loads((run / "report" / "summary.json").read_text())["causes"]
    named = {(one["cause"], one["where"]) for one in causes}
    assert ("daemon-silent", f"{LOOPBACK}/regionserver on here") in named, causes
    assert foreign.left_of_studies() == []
