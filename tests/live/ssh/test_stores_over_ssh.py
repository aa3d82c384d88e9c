"""Stores other than HBase on hosts over SSH: every row is accounted for, and nothing is left.

The hosts are namespaces (`tests.hosts`). Stores in their containers: tests/live/container.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.reap import reap
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import end_run
from density_study.workloads.execution.steps import carry_out, close_run
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.hosts.fixture import Hosts
from tests.live.support.command import wait_for
from tests.live.support.measured import measured, operations_of
from tests.live.support.over_ssh import controlling, lab, left_on

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(os.getuid() != 0, reason="only root makes network namespaces"),
]
ROWS = 2_000
TRIALS = f"""
stack: {{base_port: 27800}}
workloads:
  - ycsb: {{records: [{ROWS}], mixes: [load, a], threads: [2], duration: 4 s, warm_up: 1 s,
           warm_up_client: off, warm_up_daemons: off, regions_per_server: 2}}
repetitions: 1
seed: 7
"""
PHYSICAL = """
study: live-physical-stores
provider: physical
hosts:
  - {name: m1, address: M1, memory: 2600 MiB, disks: [{path: /mnt}], roles: [master, client]}
  - {name: h1, address: H1, memory: 2200 MiB, disks: [{path: /mnt}], roles: [worker]}
  - {name: h2, address: H2, memory: 2200 MiB, disks: [{path: /mnt}], roles: [worker]}
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0], store: [redis-cluster, {name: cassandra, durability: synced}, kudu, accumulo]}
"""
EMBEDDED = """
study: live-physical-embedded
provider: physical
hosts:
  - {name: m1, address: M1, memory: 2000 MiB, disks: [{path: /mnt}], roles: [master]}
  - {name: h1, address: H1, memory: 4000 MiB, disks: [{path: /mnt}], roles: [worker, client]}
ssh: {user: study, known_hosts: KNOWN_HOSTS}
factors: {vms_per_host: [0], store: [redis, rocksdb]}
"""
Found = Mapping[str, tuple[Manifest, Mapping[str, int]]]
"""By trial: its manifest, and acknowledged operations."""


def spec_of(hosts: Hosts, text: str, folder: Path) -> Path:
    filled = text + TRIALS
    for name, address in hosts.addresses.items():
        filled = filled.replace(f"address: {name.upper()}", f"address: {address}")
    spec = folder / "stores.yaml"
    spec.write_text(filled.replace("KNOWN_HOSTS", str(hosts.known_hosts)))
    return spec


def carried_out(hosts: Hosts, text: str, folder: Path) -> tuple[Found, list[str]]:
    """The trials, and what is left on the hosts."""
    with controlling(hosts, folder):
        with measured(spec_of(hosts, text, folder), folder / "runs") as (run, manifests):
            found = {}
            for name, manifest in manifests.items():
                counts = operations_of(run, name)
                assert all(count.failed == 0 for count in counts.values()), name
                found[name] = manifest, {kind: count.ok for kind, count in counts.items()}
        left = [one for name in hosts.names for one in left_on(hosts, name)]
    return found, left


def check(found: Found, stores: set[str]) -> None:
    assert len(found) == 2 * len(stores)
    for name, (manifest, counts) in found.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        assert manifest.isolation == "host"
        assert sum(counts.values()) > 0 and manifest.state_after["store"]["rows"] == ROWS, name
    built = {manifest.topology.store.name for manifest, _ in found.values()}
    assert built == stores


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with lab(tmp_path_factory.mktemp("lab"), ["m1", "h1", "h2"]) as made:
        yield made


@pytest.fixture(scope="module")
def physical(hosts: Hosts, tmp_path_factory: pytest.TempPathFactory) -> tuple[Found, list[str]]:
    return carried_out(hosts, PHYSICAL, tmp_path_factory.mktemp("physical"))


def test_stores_on_physical_hosts(physical: tuple[Found, list[str]]) -> None:
    check(physical[0], {"redis-cluster", "cassandra", "kudu", "accumulo"})


def test_what_is_on_the_hosts_is_disclosed(physical: tuple[Found, list[str]]) -> None:
    for manifest, _ in physical[0].values():
        disclosed = manifest.disclosure
        assert set(disclosed["machines"]) == {"m1", "h1", "h2"}
        jmx = disclosed.get("listens_on_all_addresses", {}).get("JMX of Cassandra", [])
        assert len(jmx) == (2 if manifest.topology.store.name == "cassandra" else 0)
        programs = [argv[0] for argv in disclosed["daemons"].values()]
        ours = [one for one in programs if "/stacks/" in one or "kudu" in one]
        assert all(one.startswith("/var/tmp/density-study-study/") for one in ours)


def test_compactions_of_accumulo_are_counted_on_its_hosts(
    physical: tuple[Found, list[str]],
) -> None:
    (after_load,) = (
        manifest.state_before["store"]
        for name, (manifest, _) in physical[0].items()
        if manifest.topology.store.name == "accumulo" and "ycsb-load" not in name
    )
    assert after_load["background_runs"] >= 4  # every tablet, when the table was settled


def test_nothing_is_left_on_physical_hosts(physical: tuple[Found, list[str]]) -> None:
    assert physical[1] == []


def test_a_single_server_and_an_engine_in_the_client(tmp_path: Path) -> None:
    with lab(tmp_path, ["m1", "h1"]) as hosts:
        found, left = carried_out(hosts, EMBEDDED, tmp_path)
    check(found, {"redis", "rocksdb"})
    assert left == []


def of_one(store: str) -> str:
    head, _, _ = PHYSICAL.partition("factors:")
    return f"{head}store: {{name: {store}, durability: synced}}\nfactors: {{vms_per_host: [0]}}\n"


SERVERS = {
    "redis-cluster": "redis-server",
    "cassandra": "CassandraDaemon",
    "kudu": "kudu-tserver",
    "accumulo": "tserver.TabletServer",
}
"""A word of the server's command line."""


@pytest.mark.parametrize("store", SERVERS)
def test_a_server_that_dies_fails_its_trial(hosts: Hosts, tmp_path: Path, store: str) -> None:
    with controlling(hosts, tmp_path):
        run = open_run(spec_of(hosts, of_one(store), tmp_path), tmp_path / "runs")

        def strike() -> None:
            wait_for(tmp_path / "runs", lambda entry: entry.get("state") == "running", 300)
            hosts.on("h1", "pkill", "-9", "-f", SERVERS[store])

        threading.Thread(target=strike, daemon=True).start()
        try:
            for step in run.plan.steps[:2]:
                carry_out(run, step)
        finally:
            close_run(run)
            end_run(run, "failed")
        (manifest,) = closed_records(run.records).values()
    assert manifest.state == "failed"
    assert "on w1 died" in manifest.reasons[0]
    assert [one for name in hosts.names for one in left_on(hosts, name)] == []


@pytest.mark.parametrize("store", SERVERS)
def test_reap_removes_what_a_killed_study_left(hosts: Hosts, tmp_path: Path, store: str) -> None:
    with controlling(hosts, tmp_path):
        spec = spec_of(hosts, of_one(store), tmp_path)
        argv = [
            sys.executable,
            "-m",
            "tests.live.support.killed",
            str(spec),
            str(tmp_path / "runs"),
        ]
        killed = subprocess.run([*argv, "build-ready", "real"], check=False, timeout=300)
        assert killed.returncode == -9
        assert SERVERS[store] in hosts.on("h1", "ps", "-ww", "-eo", "args=")
        reap(tmp_path / "runs")
    assert [one for name in hosts.names for one in left_on(hosts, name)] == []
