"""What people write of a company's hosts: refused with the remedy, or planned."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from density_study.cluster.model.errors import FaultsError, InputError
from density_study.cluster.providers.provider import FreeResources
from density_study.workloads.planning import preflight
from density_study.workloads.planning.cautions import cautions_of
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.preflight import disks_too_small, written
from density_study.workloads.planning.resolve import assumed_hosts
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study

DISKS = [{"path": f"/data/f{n}", "disk_type": "flash"} for n in range(12)]
MACHINE = {"cores": 64, "memory": "256 GiB"}
MASTER = {
    **MACHINE,
    "name": "m1",
    "address": "192.0.2.10",
    "roles": ["master", "client"],
    "disks": DISKS[:1],
}
VMS = {
    "network": "192.0.2.0/24", "addresses": "192.0.2.100-192.0.2.249", "bridge": "br0",
    "host_reserve": "16 GiB", "vcpus": "pinned", "cache": "none", "data_disk": "4 TiB",
}  # fmt: skip
YCSB = {"records": [10_000_000], "mixes": ["load", "b"], "threads": [64], "duration": "10 min"}


def company(address: str = "192.0.2.{}", **changed: Any) -> dict[str, Any]:
    """A master and nine workers."""
    workers = [
        {**MACHINE, "name": f"s{n}", "address": address.format(10 + n), "disks": DISKS}
        for n in range(1, 10)
    ]
    study = {
        "study": "big", "provider": "physical", "ssh": {"user": "study"}, "hosts": [MASTER, *workers],
        "factors": {"vms_per_host": [0]}, "workloads": [{"ycsb": YCSB}], "repetitions": 5,
    }  # fmt: skip
    return {**study, **changed}


def guests(*densities: int, vms: Any = None, jvm: Any = None, **changed: Any) -> dict[str, Any]:
    factors: dict[str, Any] = {"vms_per_host": list(densities)}
    if jvm:
        factors["configuration"] = {"own": {"jvm": jvm}}
    made = {"provider": "libvirt", "vms": {**VMS, **(vms or {})}, "factors": factors}
    return company(**{**made, **changed})


def planned(study: dict[str, Any]) -> tuple[Study, Plan]:
    read = parse_study(yaml.safe_dump(study, sort_keys=False), "s.yaml").study
    return read, make_plan(read, assumed_hosts(read))


def hosts(**changed: Any) -> list[dict[str, Any]]:
    return [MASTER, {**MACHINE, "name": "s1", "address": "192.0.2.11", "disks": DISKS, **changed}]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "IPv6": (company("2001:db8::{}"), "daemons use IPv4"),
    "a login in an address": (company("root@192.0.2.{}"), "the key ssh.user"),
    "a port in an address": (company("192.0.2.{}:2222"), "the key ssh.port"),
    "a user with a domain": (company(ssh={"user": "jdoe@corp.example"}), "without a domain"),
    "a part of a core": (company(hosts=hosts(cores=31.5)), "key hosts[1].cores: write a whole number"),
    "two masters": (company(hosts=hosts(roles=["master", "worker"])), "'m1' and 's1' are both master"),
    "HBase 1": (company(stack={"hbase": "1.4.13"}), "runs HBase 2 or 3, not HBase 1.4.13"),
    "Hadoop 2": (company(stack={"hadoop": "2.10.2"}), "runs Hadoop 3, not Hadoop 2.10.2"),
    "a heap of 1 MiB": (guests(0, 8, jvm={"regionserver": {"heap": "1 MiB"}}), "needs 64 MiB"),
    "a heap of nothing": (guests(0, 8, jvm={"regionserver": {"heap": "0.1% of node"}}), "heap 1% of"),
    "a DataNode of 300 GiB": (guests(0, 8, jvm={"datanode": {"heap": "300 GiB"}}), "make heaps smaller"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_the_remedy(name: str) -> None:
    study, said = REFUSED[name]
    with pytest.raises(InputError) as caught:
        planned(study)
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["two masters", "HBase 1", "Hadoop 2", "a heap of 1 MiB"])
def test_a_recorded_study_is_read_as_when_it_ran(name: str) -> None:
    """A run of an earlier version, which took it, is resumed, shown and compared."""
    text = yaml.safe_dump(REFUSED[name][0], sort_keys=False)
    with pytest.raises(InputError):
        parse_study(text, "s.yaml")
    assert parse_study(text, "s.yaml", recorded=True).study.study == "big"


@pytest.mark.parametrize(
    "study",
    [
        company("node{}.dc1.corp.example"),
        company(ssh={"user": "j.doe", "port": 2222, "jump": "j.doe@bastion:2200"}),
        company(hosts=hosts(memory="1536 GiB", cores=256)),
        company(hosts=hosts(memory="8 GiB", cores=4, disks=DISKS[:1])),
    ],
)
def test_planned(study: dict[str, Any]) -> None:
    assert planned(study)[1].trials


def test_the_number_of_nodes_that_fit_is_right() -> None:
    """31 GiB of heap: 6 nodes of 34,464 MiB, 12 GiB of containers and 16 GiB of the host are 235,456 MiB; a
    seventh node has no room. Their control on the bare host, with as many RegionServers, goes with them."""
    jvm = {"regionserver": {"heap": "31 GiB"}}
    with pytest.raises(InputError, match=r"use at most 6 nodes"):
        planned(guests(0, 1, 2, 4, 8, jvm=jvm))
    assert planned(guests(0, 1, 2, 4, jvm=jvm))[1].trials


def test_data_disks_of_guests_hold_their_part(tmp_path: Path) -> None:
    """2,304 GiB of files on 9 x 12 drives, uneven by 1.3: 28 GiB on each."""
    load = [{"testdfsio": {"modes": ["write"], "files": 576, "file_size": "4 GiB"}}]
    small = planned(guests(0, 1, 2, workloads=load, vms={"data_disk": "10 GiB"}))
    said = "".join(disks_too_small(*small, tmp_path))
    assert "write data_disk: 28 GiB" in said
    assert "the guests' data disks may take 10 GiB of each drive" in said
    assert "host 's1', 's2', 's3', 's4', 's5', 's6', 's7', 's8', 's9', key vms.data_disk" in said
    enough = planned(guests(0, 1, 2, workloads=load, vms={"data_disk": "28 GiB"}))
    assert not list(disks_too_small(*enough, tmp_path))


def test_hosts_with_small_data_disks_hide_none_with_too_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = [{"testdfsio": {"modes": ["write"], "files": 576, "file_size": "4 GiB"}}]
    study, plan = planned(guests(1, workloads=load, vms={"data_disk": "10 GiB"}))
    free = {name: FreeResources.of(1024, {}) for name in ("s1", "s2")}
    provider = SimpleNamespace(free_resources=lambda _: free)
    monkeypatch.setattr(preflight, "provider_of", lambda _: provider)
    with pytest.raises(FaultsError) as caught:
        preflight._check_room(plan.built[0], written(study, plan, tmp_path))
    disks, *memory = caught.value.faults
    assert "data disks" in disks.what
    assert [fault.where for fault in memory] == [f"host '{name}', key memory" for name in free]


@pytest.mark.parametrize(("preallocated", "taken_gib"), [(False, 28), (True, 4096)])
def test_data_disks_that_are_allocated_need_all_of_their_room(
    preallocated: bool, taken_gib: int, tmp_path: Path
) -> None:
    load = [{"testdfsio": {"modes": ["write"], "files": 576, "file_size": "4 GiB"}}]
    study, plan = planned(guests(0, 2, workloads=load, vms={"preallocated": preallocated}))
    most = written(study, plan, tmp_path)
    for topology in plan.built:
        worker = topology.hosts[1]
        taken_mib = most.taken_mib("/data/f3", worker, topology)
        expected = taken_gib if topology.variant.vms_per_host else 28
        assert taken_mib == pytest.approx(expected * 1024, rel=0.05)
        assert most.taken_mib("/elsewhere", worker, topology) < 4096


def test_a_reserve_that_the_host_itself_exceeds_is_named() -> None:
    """1 GiB, the default, of 256: 8 VMs alone need 512 + 8 x 256 MiB, and tables of 0.4 % of their memory."""

    def said(reserve: str) -> list[str]:
        return [one for one in cautions_of(planned(guests(0, 8, vms={"host_reserve": reserve}))[1])
                if "host_reserve" in one]  # fmt: skip

    (caution,) = said("1 GiB")
    assert "leaves hosts s1, s2, s3 and 6 more less than" in caution
    assert "`host_reserve: 4 GiB`" in caution
    assert said("4 GiB") == []
    assert said("16 GiB") == []
