"""Stores that others run, measured through a namespace of the study's own: all else stays untouched."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.store import store_named
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.existing.endpoint_tool import ask_store, endpoint_properties
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from tests.live.existing.endpoints import OURS, check_measured
from tests.live.stores.loading import loading, rows_left, tool
from tests.live.support.builds import open_build, topology
from tests.live.support.command import study, study_run, wait_for
from tests.live.support.measured import measured
from tests.support.topologies import with_variant

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
PORT = 23900
PASSWORD = "only-in-its-file"
REDIS = f"""
study: live-endpoint
provider: existing
store: redis
existing:
  limits: {{rate: off}}
  endpoint: {{addresses: ["127.0.0.1:{PORT}"], password_file: PASSWORD}}
workloads:
  - ycsb: {{records: [2_000], mixes: [load, {{name: half-scans, scan: 0.5, insert: 0.5}}], threads: [2],
           duration: 4 s, warm_up: 1 s, warm_up_client: off, warm_up_daemons: off}}
repetitions: 1
"""


@contextmanager
def redis_of_others(folder: Path) -> Iterator[Path]:
    """A server with a password and a key of its owner; yields the study's file."""
    (folder / "password").write_text(PASSWORD + "\n")
    (folder / "redis.conf").write_text(
        f"bind 127.0.0.1\nport {PORT}\ndir {folder}\nrequirepass {PASSWORD}\n"
        "appendonly yes\nappendfsync no\nset-proc-title no\n"
    )
    server = subprocess.Popen(["/usr/bin/redis-server", str(folder / "redis.conf")],
                              stdout=subprocess.DEVNULL)  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        while ask("SET", "density_studycanary", "1") != "OK":
            assert time.monotonic() < deadline
            time.sleep(0.1)
        spec = folder / "study.yaml"
        spec.write_text(REDIS.replace("PASSWORD", str(folder / "password")))
        yield spec
    finally:
        server.kill()
        server.wait()


def ask(*words: str) -> str:
    argv = ["redis-cli", "-p", str(PORT), *words]
    env = {**os.environ, "REDISCLI_AUTH": PASSWORD}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env).stdout.strip()


def test_redis_with_a_password(tmp_path: Path) -> None:
    with redis_of_others(tmp_path) as spec:
        with measured(spec, tmp_path / "runs") as done:
            check_measured(done, 2000)
            for manifest in done[1].values():
                assert manifest.disclosure["existing"]["appendfsync"] == "no"
        assert ask("KEYS", "*") == "density_studycanary"
        files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
        assert files and not [
            path for path in files if PASSWORD in path.read_text(errors="replace")
        ]
        ask("CONFIG", "SET", "appendfsync", "everysec")
        with (
            pytest.raises(InputError, match=r"keep memory .*everysec"),
            measured(spec, tmp_path / "more"),
        ):
            pass
        ask("CONFIG", "SET", "appendfsync", "no")
        ask("SET", "density_study:key", "of others")
        with (
            pytest.raises(InputError, match="density_study already"),
            measured(spec, tmp_path / "most"),
        ):
            pass
        assert sorted(ask("KEYS", "*").split()) == ["density_study:key", "density_studycanary"]


def test_after_kill_9_reap_removes_the_keys_of_the_study_alone(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    with redis_of_others(tmp_path) as spec, study_run(runs, spec=spec) as child:
        wait_for(runs, lambda entry: entry.get("state") == "running", 200)
        child.kill()
        child.wait()
        assert ask("GET", "density_study:owner").startswith("live-endpoint/")
        reaped = study("reap", "--runs", str(runs), runs=runs)
        assert reaped.returncode == 0, reaped.stdout + reaped.stderr
        assert "namespace density_study" in reaped.stdout
        assert ask("KEYS", "*") == "density_studycanary"


@pytest.mark.usefixtures("shared_network")
@pytest.mark.parametrize("name", ["redis-cluster", "cassandra"])
def test_a_cluster(tmp_path: Path, name: str) -> None:
    """A cluster of this program plays that of others, with rows of its own."""
    store = store_named(name, "synced")  # type: ignore[arg-type]
    site, journal = open_build(tmp_path, os.getpid())
    try:
        cluster = bring_up(
            site, with_variant(topology(tmp_path), store=store), ensure_stacks(store=store), journal
        )
        transport = provider_named("local").transport(site, journal)
        tool(cluster, transport, tmp_path, "empty")
        rows = rows_of_others(cluster, transport, tmp_path)
        spec = tmp_path / "study.yaml"
        address = next(iter(cluster.endpoints.all("store").values()))
        spec.write_text(OURS.replace("NAME", name).replace("ADDRESS", f'"{address}"'))
        with measured(spec, tmp_path / "runs") as done:
            check_measured(done, 1000)
            existing = next(iter(done[0].plan.topologies.values()))
        assert ask_store(endpoint_properties(existing), "owner") == [{}]
        assert rows_left(cluster, transport, tmp_path) == rows
    finally:
        tear_down(site, journal)


def rows_of_others(cluster: Cluster, transport: Transport, folder: Path) -> int:
    """Some rows, loaded as the study's own cluster loads them."""
    client, _ = loading(cluster, transport, folder)
    transport.stop(client, 0)
    rows = rows_left(cluster, transport, folder)
    assert rows > 0
    return rows
