"""Thread dumps, slow calls, flight recordings and profiles of real daemons, as evidence of what was slow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.workloads.execution.jvm_recordings import difference
from density_study.workloads.record.manifest import Manifest
from tests.live.why.standing import Standing, standing

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(tmp_path_factory.mktemp("why"), os.getpid()) as made:
        made.trial("first", warm_up_daemons_s=60)  # loads the table, and is not looked at
        yield made


def _sentences(cluster: Standing, trial: str) -> str:
    found = "\n".join(row["sentence"] for row in cluster.explained()[trial])
    print(found)
    return found


def _left(cluster: Standing, manifest: Manifest, kind: str) -> list[Path]:
    """What the device left in the record, beside its file."""
    root = cluster.run.records / manifest.trial
    found = [root / name for run in manifest.monitors if run.kind == kind for name in run.files]
    assert all(path.stat().st_size for path in found), found
    return found


def test_a_stopped_server_shows_that_it_was_stopped(cluster: Standing) -> None:
    manifest = cluster.trial("stopped", cluster.stop)
    assert "the process was stopped by a signal" in _sentences(cluster, manifest.trial)


def test_a_throttled_disk_shows_in_threads_and_slow_calls(cluster: Standing) -> None:
    manifest = cluster.trial("throttled", lambda: cluster.throttle(8.0))
    found = _sentences(cluster, manifest.trial)
    assert "slow call" in found
    assert "stood still for" in found and "handlers are in" in found
    assert any(path.suffix == ".txt" for path in _left(cluster, manifest, "stalls"))


def test_daemons_and_clients_are_profiled_and_recorded(cluster: Standing) -> None:
    manifest = cluster.trial("quiet")
    profiles = {path.name.split(".", 2)[2] for path in _left(cluster, manifest, "profile")}
    for daemon in ("regionserver-1", "datanode", "namenode", "client"):
        assert any(f"{daemon}.cpu.html" in name for name in profiles), profiles
    servers = [p for p in _left(cluster, manifest, "profile") if p.match("*regionserver*.jfr")]
    page = servers[0].with_name("difference.html")
    assert difference(servers[:1], servers[1:], page) and "Flame Graph" in page.read_text()
    left = _left(cluster, manifest, "jfr")
    reports = [path.read_text() for path in left if path.name.endswith(".rules.xml")]
    assert reports and all("<severity>" in report for report in reports)
