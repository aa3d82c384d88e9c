"""A real Prometheus with a real node_exporter: what it scraped of this machine.

It keeps the fake of tests/unit/workloads/monitors/test_prometheus.py true.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.existing import Prometheus
from density_study.cluster.providers.existing.prometheus import instances_of, lead_s, scraped
from density_study.workloads.monitors.devices import parse_device
from tests.live.support.foreign import LOOPBACK, free_port
from tests.support.records.exported_trial import exported_trial

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]
CONFIG = """
global: {scrape_interval: 1s, scrape_timeout: 1s}
scrape_configs:
  - {job_name: node, static_configs: [{targets: ["TARGET"]}]}
"""
SCRAPED_S = 8.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    if not (shutil.which("prometheus") and shutil.which("prometheus-node-exporter")):
        pytest.skip("nothing was scraped: needs prometheus and prometheus-node-exporter")
    folder = tmp_path_factory.mktemp("prometheus")
    target, web = (f"{LOOPBACK}:{free_port()}" for _ in range(2))
    (folder / "config.yml").write_text(CONFIG.replace("TARGET", target))
    programs = (
        ("prometheus-node-exporter", f"--web.listen-address={target}"),
        ("prometheus", f"--config.file={folder / 'config.yml'}", f"--web.listen-address={web}",
         f"--storage.tsdb.path={folder / 'data'}"),
    )  # fmt: skip
    with ExitStack() as stack, (folder / "log").open("w") as log:
        for words in programs:
            process = subprocess.Popen(words, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
        deadline_s = time.monotonic() + 60
        while not _is_ready(f"http://{web}/-/ready"):
            assert time.monotonic() < deadline_s, (folder / "log").read_text()
            time.sleep(0.2)
        yield Prometheus(f"http://{web}")


def _is_ready(url: str) -> bool:
    try:
        return requests.get(url, timeout=1).status_code == 200
    except requests.RequestException:
        return False


def test_what_was_scraped_is_what_this_machine_did(server: Prometheus, tmp_path: Path) -> None:
    begin_s = time.time()
    time.sleep(SCRAPED_S)
    told = exported_trial(server, tmp_path, [LOOPBACK], begin_s, time.time())
    assert told is not None and told.faults == ()
    assert told.clock_lead_s == pytest.approx(0.0, abs=0.5)
    assert {one.device for one in told.files} >= {"exported", "sockets", "kernel"}
    assert [one.period_s for one in told.files] == pytest.approx([1.0] * len(told.files), abs=0.1)
    rows = {}
    for one in told.files:
        parsed = parse_device((tmp_path / one.file).read_text(), one.file)
        assert not parsed.quarantined
        rows[one.device] = parsed.rows
    first, *_, last = rows["exported"]
    passed_s, cpus = last.epoch_s - first.epoch_s, os.cpu_count() or 1
    spent = [dict(zip(one.names, one.values, strict=True)) for one in (first, last)]
    all_ms = spent[1]["all_ms"] - spent[0]["all_ms"]
    assert all_ms == pytest.approx(1000 * cpus * passed_s, rel=0.1)
    assert 0 < spent[1]["used_ms"] - spent[0]["used_ms"] <= all_ms
    of_host = [one for one in rows["sockets"] if one.source == "host"]
    assert {"sent_segments", "retransmitted", "in_use"} <= set(of_host[0].names)


def test_a_real_server_refuses_and_names_as_the_fake_does(server: Prometheus) -> None:
    assert abs(lead_s(server)[0]) < 0.5
    assert set(instances_of(server, [LOOPBACK]).values()) == {LOOPBACK}
    with pytest.raises(StudyError, match=r"an error \(HTTP 400\): .*parse error"):
        scraped(server, "{", time.time() - 5, time.time())
    with pytest.raises(StudyError, match="scrapes no host of the cluster"):
        instances_of(server, ["192.0.2.1"])
    with pytest.raises(StudyError, match="no JSON"):
        lead_s(Prometheus(f"{server.url}/nowhere"))
