"""Stores other than HBase in guests: every row is accounted for, and nothing is left. Emulated on two cores,
a store takes ten minutes or more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.store import store_named
from density_study.cluster.providers.libvirt.names import IMAGE_POOL
from density_study.cluster.providers.libvirt.provider import LibvirtProvider
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.workloads.execution.run import Run
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import HOSTS, carried_out, daemon_for, open_guests
from tests.live.support.libvirtd import Libvirtd
from tests.live.support.measured import operations_of

pytestmark = [
    pytest.mark.vm,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
ROWS = 300
STORES = ("redis-cluster", "cassandra", "kudu", "accumulo")
"""One in a study: two are not measured within the 20 minutes of a group."""
WORK = f"""
factors: {{vms_per_host: [2], store: [{{name: STORE, durability: synced}}]}}
workloads:
  - ycsb:
      {{records: [{ROWS}], mixes: [load, a], threads: [2], duration: 40 s, warm_up: 3 s,
       regions_per_server: 1, warm_up_client: off, warm_up_daemons: off}}
monitor: {{tool: dool, period: 5 s}}
seed: 1
"""


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def daemon(store: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libvirtd]:
    with daemon_for(tmp_path_factory.mktemp("guests"), [store_named(store)]) as running:
        yield running


@pytest.fixture(scope="module")
def run(store: str, daemon: Libvirtd) -> Run:
    text = HOSTS + WORK.replace("STORE", store)
    return carried_out(open_guests(daemon.folder.parent, daemon, text))


def test_every_row_is_accounted_for_in_guests(store: str, run: Run) -> None:
    manifests = closed_records(run.records)
    assert [manifest.topology.store.name for manifest in manifests.values()] == [store] * 2
    for name, manifest in manifests.items():
        assert (manifest.state, manifest.reasons, manifest.isolation) == ("complete", (), "vm")
        counts = operations_of(run, name)
        assert all(count.failed == 0 for count in counts.values())
        assert sum(count.ok for count in counts.values()) > 0
        assert manifest.state_after["store"]["rows"] == ROWS, name


def test_nothing_is_left_of_them(run: Run, daemon: Libvirtd) -> None:
    for build in run.plan.builds:
        assert not LibvirtProvider().leftovers(run.site(build), run.journal)
    virsh = Virsh(daemon.uri)
    assert virsh.names("list") == [] and virsh.names("net-list") == []
    assert virsh.names("pool-list") == [IMAGE_POOL]
    assert list(Path(daemon.folder.parent / "disk").iterdir()) == []
