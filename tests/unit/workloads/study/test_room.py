"""Each disk has to hold its part of the data, not all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.machine.host_commands import free_disks
from density_study.cluster.model.errors import FaultsError, InputError, faults_of
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.physical.provider import PhysicalProvider
from density_study.cluster.providers.provider import FreeResources
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.preflight import (
    _check_room,
    _shared_drives,
    disk_need_mib,
    written,
)
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.planning.room import WORK_MIB
from density_study.workloads.study.study_file import parse_study

DRIVES = [f"/data/{n}" for n in range(12)]
HOSTS = "".join(
    f"""
  - {{name: h{n}, address: 192.0.2.{n + 1}, cores: 64, memory: 256 GiB,
     roles: [{"worker" if n else "master, client"}],
     disks: [{", ".join(f"{{path: {drive}, disk_type: hdd}}" for drive in DRIVES)}]}}"""
    for n in range(10)
)
STUDY = f"""
study: s
provider: physical
ssh: {{user: study}}
hosts:{HOSTS}
workloads:
  - testdfsio: {{modes: [write, read], files: 576, file_size: 4 GiB}}
  - ycsb: {{records: [30000000], mixes: [load, c], threads: [64], duration: 10 min}}
factors: {{vms_per_host: [0]}}
"""
ENOUGH_MIB = 40_000


class Hosts(PhysicalProvider):
    """Free space of every folder, but for those named. The `shared` ones are on one device."""

    def __init__(self, drive_mib: int, other_mib: int, **changed_mib: Mapping[str, int]) -> None:
        self.drive_mib, self.other_mib, self.changed = drive_mib, other_mib, changed_mib
        self.shared: tuple[str, ...] = ()

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        folders = {**dict.fromkeys(DRIVES, self.drive_mib), "/var/tmp/study": self.other_mib}
        return {
            host.name: FreeResources(
                2**20, {**folders, **self.changed.get(host.name, {})}, dict.fromkeys(self.shared, 7)
            )
            for host in topology.hosts
        }


def check(hosts: Hosts, tmp_path: Path, text: str = STUDY) -> int:
    study = parse_study(text, "s.yaml").study
    plan = make_plan(study, assumed_hosts(study))
    (topology,) = plan.built
    _check_room(replace(topology, provider=hosts), written(study, plan, tmp_path))
    return disk_need_mib(study)


def test_nine_hosts_of_twelve_drives_hold_what_no_drive_could(tmp_path: Path) -> None:
    need_mib = check(Hosts(drive_mib=ENOUGH_MIB, other_mib=WORK_MIB), tmp_path)
    assert need_mib > 50 * ENOUGH_MIB


@pytest.mark.parametrize(
    ("host", "folder", "free_mib"),
    [("h3", "/data/7", 20_000), ("h9", "/var/tmp/study", 1_000), ("h0", "/var/tmp/study", 100)],
)
def test_the_one_full_folder_is_named(
    host: str, folder: str, free_mib: int, tmp_path: Path
) -> None:
    hosts = Hosts(ENOUGH_MIB, WORK_MIB, **{host: {folder: free_mib}})
    with pytest.raises(InputError, match=f"{free_mib} MiB are free") as caught:
        check(hosts, tmp_path)
    assert caught.value.where == f"host {host!r}, disk {folder}"


def test_all_full_folders_are_named(tmp_path: Path) -> None:
    full = {"/data/7": 10, "/data/8": 20}
    with pytest.raises(FaultsError) as caught:
        check(Hosts(ENOUGH_MIB, WORK_MIB, h3=full, h5=full), tmp_path)
    where = [f"host '{host}', disk {folder}" for host in ("h3", "h5") for folder in full]
    assert [fault.where for fault in caught.value.faults] == where


def test_a_host_with_fewer_drives_holds_more_on_each(tmp_path: Path) -> None:
    few = "[" + ", ".join(f"{{path: {drive}, disk_type: hdd}}" for drive in DRIVES[:2]) + "]"
    before, _, last = STUDY.rpartition("disks: [")
    text = f"{before}disks: {few}}}{last[last.index(chr(10)) :]}"
    with pytest.raises(InputError) as caught:
        check(Hosts(ENOUGH_MIB, WORK_MIB), tmp_path, text)
    assert [fault.where for fault in faults_of(caught.value)] == [
        f"host 'h9', disk {drive}" for drive in DRIVES[:2]
    ]
    check(Hosts(ENOUGH_MIB, WORK_MIB, h9=dict.fromkeys(DRIVES, 6 * ENOUGH_MIB)), tmp_path, text)


def test_a_host_without_workers_holds_no_data(tmp_path: Path) -> None:
    check(Hosts(ENOUGH_MIB, WORK_MIB, h0=dict.fromkeys(DRIVES, 10)), tmp_path)


def test_drives_on_one_device_share_its_space(tmp_path: Path) -> None:
    """Each of the two has room for its own part alone."""
    hosts = Hosts(ENOUGH_MIB, WORK_MIB)
    hosts.changed = {f"h{n}": dict.fromkeys(DRIVES, 2 * ENOUGH_MIB) for n in range(2, 10)}
    hosts.shared = ("/data/3", "/data/7")
    with pytest.raises(InputError, match=f"{ENOUGH_MIB} MiB are free") as caught:
        check(hosts, tmp_path)
    assert caught.value.where == "host 'h1', disk /data/3 and /data/7 (one device)"
    hosts.drive_mib = 2 * ENOUGH_MIB
    check(hosts, tmp_path)


def test_two_drives_that_are_one_are_named() -> None:
    study = parse_study(STUDY, "s.yaml").study
    plan = make_plan(study, assumed_hosts(study))
    hosts = Hosts(ENOUGH_MIB, WORK_MIB)
    built = [replace(one, provider=hosts) for one in plan.built]
    assert list(_shared_drives(built)) == []
    hosts.shared = ("/data/3", "/data/7", "/var/tmp/study")
    found = list(_shared_drives(built))
    assert [one.name for one in found] == [f"drives of h{n}" for n in range(10)]
    assert found[0].warning.startswith(
        "/data/3 and /data/7 are on one device: the study counts 2 drives"
    )


def test_the_host_says_which_folders_share_a_device(tmp_path: Path) -> None:
    found = free_disks([str(tmp_path), str(tmp_path / "not" / "yet"), "/proc"])
    (mib, device), below, other = found.values()
    assert mib > 0 and below[1] == device != other[1]
