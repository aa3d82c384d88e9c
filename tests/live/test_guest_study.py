"""A whole study in guests: one master and two workers, HDFS, YARN and HBase, both workloads, dool
in the guests and on their host; and complete removal afterwards. Emulated on two cores, it takes a
quarter of an hour or more.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.providers.libvirt.names import IMAGE_POOL
from density_study.cluster.providers.libvirt.provider import LibvirtProvider
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.render.jvm import FAST_START
from density_study.cluster.state import lease
from density_study.cluster.state.tags import tagged
from density_study.workloads.execution.run import Run
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import (
    carried_out,
    daemon_for,
    open_guests,
    samples,
    used_core_s,
)
from tests.live.support.libvirtd import Libvirtd

pytestmark = [
    pytest.mark.vm,
    pytest.mark.timeout(5400),
    pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root"),
]
GUESTS = {"m1.h1": 2, "w1.h1": 1, "w2.h1": 1}
"""vCPUs of each guest."""
HOST, HOST_CORES = "h1", 2


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Libvirtd]:
    with daemon_for(tmp_path_factory.mktemp("guests")) as running:
        yield running


@pytest.fixture(scope="module")
def run(daemon: Libvirtd) -> Run:
    return carried_out(open_guests(daemon.folder.parent, daemon))


@pytest.fixture
def records(run: Run) -> list[Manifest]:
    return list(closed_records(run.records).values())


def test_every_trial_is_complete_in_vms(run: Run, records: list[Manifest]) -> None:
    assert len(records) == len(run.plan.trials) == 4
    for manifest in records:
        assert (manifest.state, manifest.reasons) == ("complete", ())
        assert manifest.isolation == "vm"
        assert [client.exit_code for client in manifest.clients] == [0]
        assert {phase.name for phase in manifest.bring_up} >= {"hdfs", "yarn", "hbase", "check"}


def test_emulation_and_its_jit_options_are_disclosed(
    daemon: Libvirtd, records: list[Manifest]
) -> None:
    for manifest in records:
        accel = manifest.disclosure["acceleration"][daemon.uri]
        lines = [*manifest.disclosure["daemons"].values(), *(c.argv for c in manifest.clients)]
        limited = [FAST_START[0] in line for line in lines]
        assert len(lines) == 1 + 4 + 2 * 3
        assert all(limited) if accel == "tcg" else not any(limited)


def test_random_reads_came_from_the_guests_disks(records: list[Manifest]) -> None:
    (random,) = (m for m in records if m.test_case_id.startswith("testdfsio-random"))
    cold = random.cold
    assert cold is not None and cold.physical_read_bytes and cold.distinct_bytes_asked
    assert cold.physical_read_bytes >= 0.9 * cold.distinct_bytes_asked > 2**20


def test_dool_of_each_guest_and_of_the_host_covers_the_window(
    run: Run, records: list[Manifest]
) -> None:
    for manifest in records:
        assert manifest.window is not None
        assert {sample.host for sample in manifest.clock} == {*GUESTS, HOST}
        start_s, end_s = manifest.window.start_epoch_s, manifest.window.end_epoch_s
        for machine in (*GUESTS, HOST):
            measured = samples(run, manifest, machine)
            assert measured[0].start_s <= start_s and end_s <= measured[-1].end_s, (
                manifest.trial,
                machine,
            )
            inside_it = [sample for sample in measured if start_s < sample.end_s <= end_s]
            expected = (end_s - start_s) / 5
            assert len(inside_it) >= 0.95 * expected - 1, (manifest.trial, machine)


def test_guests_and_host_are_reconciled(run: Run, records: list[Manifest]) -> None:
    """Two rules about the host's time per guest vCPU (manifest.guests) and the dool samples: the
    host used at least the time it gave its guests; and a guest used at most the time it received
    plus the time it waited for, since an emulated guest counts its wait for a core as its own
    use."""
    for manifest in records:
        assert {f"{guest.node}.{guest.host}" for guest in manifest.guests} == {*GUESTS}
        for guest in manifest.guests:
            between = guest.from_epoch_s, guest.to_epoch_s
            machine = f"{guest.node}.{guest.host}"
            own = used_core_s(samples(run, manifest, machine), GUESTS[machine], *between)
            had = guest.cpu_s + guest.waited_s
            assert 0 < own <= 1.05 * had + _slack_s(GUESTS[machine]), (manifest.trial, machine)
        given_s = sum(guest.cpu_s for guest in manifest.guests)
        used = used_core_s(samples(run, manifest, HOST), HOST_CORES, *between)
        print(f"{manifest.trial}: host {used:.1f} core-s, guests {given_s:.1f}")
        assert used >= 0.98 * given_s - _slack_s(HOST_CORES), manifest.trial


def _slack_s(cores: int) -> float:
    """Possible error in core-seconds of a 5 s sample at an edge: its load is not uniform."""
    return 5.0 * cores


def test_the_daemons_logs_were_saved_before_the_guests_were_removed(run: Run) -> None:
    (build,) = run.plan.builds
    logs = run.site(build).root / "logs"
    for node, daemon in (("m1", "namenode"), ("w1", "datanode"), ("w2", "regionserver-1")):
        assert (logs / node / f"{daemon}.log").stat().st_size > 0


def test_nothing_of_the_study_remains(run: Run, daemon: Libvirtd) -> None:
    (build,) = run.plan.builds
    assert not LibvirtProvider().leftovers(run.site(build), run.journal)
    virsh = Virsh(daemon.uri)
    assert virsh.names("list") == [] and virsh.names("net-list") == []
    assert virsh.names("pool-list") == [IMAGE_POOL]
    assert list(Path(daemon.folder.parent / "disk").iterdir()) == []
    assert tagged(run.tag) == []
    assert lease.holder() is None
    assert not (run.site(build).root / "ssh").exists()
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    assert [line.split(":")[1].strip() for line in links.splitlines()] == ["lo"]
    assert _in_namespace(daemon) & {"qemu-system-x86", "dnsmasq"} == set()


def _in_namespace(daemon: Libvirtd) -> set[str]:
    argv = ["ip", "netns", "pids", daemon.namespace]
    pids = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split()
    comms = (Path(f"/proc/{pid}/comm") for pid in pids if int(pid) != os.getpid())
    return {comm.read_text().strip() for comm in comms if comm.exists()}
