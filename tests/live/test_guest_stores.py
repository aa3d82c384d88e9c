"""Stores other than HBase in guests: every row is accounted for, and nothing is left. Emulated on two cores,
it takes ten minutes or more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.model.store import Store
from density_study.cluster.providers.libvirt.image import ensure_image
from density_study.cluster.providers.libvirt.names import IMAGE_POOL
from density_study.cluster.providers.libvirt.provider import LibvirtProvider, stacks_in_guests
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.stack import ensure_all
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import carry_out, close_run, steps_left
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import TEMPLATE, open_guests
from tests.live.support.libvirtd import Libvirtd, libvirtd
from tests.live.support.measured import operations_of
from tests.support.namespace import inside

pytestmark = [
    pytest.mark.vm,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
ROWS = 300
STORES = ("redis-cluster", "kudu")
WORK = f"""
factors: {{vms_per_host: [2], store: [{", ".join(STORES)}]}}
workloads:
  - ycsb:
      {{records: [{ROWS}], mixes: [load, a], threads: [2], duration: 10 s, warm_up: 3 s,
       regions_per_server: 1, warm_up_client: off, warm_up_daemons: off}}
monitor: {{tool: dool, period: 5 s}}
seed: 1
"""


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libvirtd]:
    folder = tmp_path_factory.mktemp("guests")
    for name in STORES:  # before the namespace, which has no access to the archive
        ensure_image(ensure_all(stacks_in_guests(Store(name))))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DENSITY_STUDY_RUNTIME", str(folder / "runtime"))
        with libvirtd(folder / "h1", "h1") as running, inside(running.namespace):
            yield running


@pytest.fixture(scope="module")
def run(daemon: Libvirtd) -> Iterator[Run]:
    """Executed to its last step, including its tear-down."""
    hosts, _, _ = TEMPLATE.read_text().partition("factors:")
    opened = open_guests(daemon.folder.parent, daemon, hosts + WORK)
    try:
        for step in steps_left(opened):
            ended = carry_out(opened, step)
            assert ended.outcome == "ok", f"{step.label}: {ended.message}"
    finally:
        close_run(opened)
    end_run(opened, "ok")
    yield opened


def test_every_row_is_accounted_for_in_guests(run: Run) -> None:
    manifests = closed_records(run.records)
    assert {manifest.topology.store.name for manifest in manifests.values()} == {*STORES}
    assert len(manifests) == 2 * len(STORES)
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
