"""A study with guests: read or refused with a remedy, and planned without contacting a host."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.ports import allocate_ports
from density_study.cluster.render.blueprint import Blueprint, NodePaths
from density_study.cluster.render.conf_files import RACK_FAULT_TOLERANT
from density_study.cluster.stores.store import render
from density_study.dags.cli.plan_page import warnings_of
from density_study.workloads.planning.planned_study import plan_study
from density_study.workloads.study.providers.libvirt_hosts import declared_hosts
from density_study.workloads.study.providers.registry import densities
from density_study.workloads.study.study_file import parse_study
from tests.support.topologies import HOMES

TALK = Path("workloads/studies/talk-2013.yaml")
TEXT = """\
study: guests
provider: libvirt
hosts:
  - {name: h1, address: 192.0.2.11, cores: 8, memory: 16 GiB, roles: [master, worker, client],
     disks: [{path: /data/a, disk_type: flash}, {path: /data/b, disk_type: flash}]}
  - {name: h2, address: 192.0.2.12, cores: 8, memory: 16 GiB, disks: [{path: /data/a, disk_type: flash}]}
ssh: {user: study}
vms: {network: 192.0.2.0/24, addresses: 192.0.2.100-192.0.2.120, bridge: br0}
factors: {vms_per_host: [0, 1, 2]}
stack: {replication: 2}
workloads:
  - testdfsio: {modes: [write, random], files: 2, file_size: 1 MiB}
"""
ONE_HOST = "  - {name: h2"


@pytest.fixture(autouse=True)
def no_host_is_contacted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("planning reached for the network or started a program")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("subprocess.Popen.__init__", refuse)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("vms: {", "# {", "needs the key vms"),
        ("provider: libvirt", "provider: physical", "key vms needs provider libvirt"),
        ("[0, 1, 2]", "[0]", "vms_per_host contains no VM"),
        ("ssh: {user: study}\n", "", "add the key ssh"),
        ("192.0.2.120,", "192.0.2.102,", "has 3 address(es); the hosts have up to 5 guests"),
        ("192.0.2.120,", "192.0.3.1,", "192.0.2.255 is not a host address"),
        ("100-192.0.2.120", "120-192.0.2.100", "not a range"),
        ("100-192.0.2.120", "10-192.0.2.120", "the address of host 'h1' itself"),
        ("bridge: br0", "bridge: br0, gateway: 192.0.2.110", "gateway's"),
        (", bridge: br0", "", "vms.bridge is missing"),
        ("bridge: br0", "bridge: 'br 0'", "a bridge name"),
        ("bridge: br0", "bridge: br0, cache: writeback", "uses the host's page cache"),
        ("bridge: br0", "bridge: br0, cache: unsafe", "uses the host's page cache"),
        ("bridge: br0", "bridge: br0, cache: never", "'none' or 'directsync'"),
        ("bridge: br0", "bridge: br0, host_reserve: 2", "no unit"),
        ("bridge: br0", "bridge: br0, vcpus: some", "'all' or 'pinned'"),
        ("bridge: br0", "bridge: br0, data_disk: 1500 MiB", "whole GiB"),
        ("cores: 8", "cores: auto", "cores is auto"),
        ("memory: 16 GiB", "memory: auto", "memory is auto"),
        ("path: /data/b, disk_type: flash", "path: /data/b", "'h1': disk_type is auto"),
        ("path: /data/a, disk_type: flash", "path: /data/a", "'h1': disk_type is auto"),
        ("replication: 2", "replication: 3", "exceeds the 2 workers of the smallest variant"),
        (
            "[0, 1, 2]}",
            "[1, 2], regionservers_per_node: [1, 2]}",
            "control variant on the bare host",
        ),
        ("192.0.2.12,", "127.0.0.1,", "loopback"),
        ("name: h2,", "name: h2, libvirt: 'qemu:///session',", "is not qemu:///system or"),
        ("[0, 1, 2]", "[0, 3]", "cannot be divided equally among 3 VMs"),
    ],
)
def test_a_fault_is_one_error_that_names_its_cause(old: str, new: str, message: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    if "divided equally" in message:
        text = text.replace("bridge: br0", "bridge: br0, vcpus: pinned")
    with pytest.raises(InputError) as caught:
        parse_study(text, "g.yaml")
    assert message in caught.value.what
    assert caught.value.remedy and caught.value.where.startswith("g.yaml:")


def test_replicas_on_a_single_host_are_refused() -> None:
    lines = [line for line in TEXT.splitlines() if not line.startswith(ONE_HOST)]
    with pytest.raises(InputError, match="all replicas of a block on it"):
        parse_study("\n".join(lines).replace("[0, 1, 2]", "[2]"), "g.yaml")


def test_the_bare_host_is_a_control_variant_with_as_many_regionservers(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(TEXT)
    topologies = plan_study(tmp_path / "g.yaml", runs=tmp_path).plan.topologies
    assert list(topologies) == ["v0-flash", "v0-r2-flash", "v1-flash", "v2-flash"]
    servers = {name: sum(n.regionservers for n in t.workers) for name, t in topologies.items()}
    assert servers["v0-r2-flash"] == servers["v2-flash"] == 4
    kinds = {name: (t.provider.name, t.isolation) for name, t in topologies.items()}
    assert kinds["v0-r2-flash"] == ("physical", "host")
    assert kinds["v2-flash"] == ("libvirt", "vm")
    bare, dense = topologies["v0-flash"], topologies["v2-flash"]
    assert [disk.path for disk in bare.workers[0].disks] == ["/data/a", "/data/b"]
    assert [node.disk and node.disk.path for node in dense.workers[:2]] == ["/data/a", "/data/b"]
    assert not list(tmp_path.glob("guests"))  # no file was written either


def test_a_selected_control_variant_has_only_bare_hosts() -> None:
    text = TEXT.replace("[0, 1, 2]", "[0, 2], regionservers_per_node: [1, 3]")
    study = parse_study(text, "g.yaml").study
    assert parse_study(text, "g.yaml").study == study
    assert densities(study) == ((0, 1), (0, 3), (2, 1))


def test_hosts_are_racks_and_replicas_are_spread_over_them(tmp_path: Path) -> None:
    (tmp_path / "g.yaml").write_text(TEXT)
    topology = plan_study(tmp_path / "g.yaml", runs=tmp_path).plan.topologies["v2-flash"]
    data = {node.name: Path("/study") / node.name for node in topology.nodes}
    places = NodePaths(Path("/study/conf"), Path("/study/logs"), data)
    blueprint = Blueprint(topology, "s/r/b1", allocate_ports(topology), HOMES, places)
    files = render(blueprint).files
    racks = dict(line.split() for line in files["nodes/m1/racks"].splitlines())
    assert racks == {node.address: f"/{node.host}" for node in topology.workers}
    assert RACK_FAULT_TOLERANT in files["nodes/m1/hdfs-site.xml"]
    assert len(racks) == 4


def test_every_host_login_uses_the_studys_own_host_keys(tmp_path: Path) -> None:
    hosts = declared_hosts(parse_study(TEXT, "g.yaml").study, tmp_path)
    assert hosts[0].vms is not None
    known_hosts = tmp_path / "guests" / "known_hosts"
    assert hosts[0].vms.uri == f"qemu+ssh://study@192.0.2.11/system?known_hosts={known_hosts}"
    assert hosts[0].login is not None and hosts[0].login.known_hosts == str(known_hosts)


@pytest.mark.thorough
def test_the_study_of_the_talk_can_be_planned(tmp_path: Path) -> None:
    """4 densities on flash (bare host, 2, 3, 4 VMs) and the bare host on HDDs, at most 10 blocks."""
    plan = plan_study(TALK, runs=tmp_path).plan
    assert len(plan.topologies) == 5 and len(plan.builds) == 50
    beside = Counter(step.build for step in plan.trials if "beside" in step.label)
    assert len(plan.trials) == 250
    # a victim alone and beside its neighbour: only on the most VMs
    assert beside == {f"b{block}-v4-flash": 2 for block in range(1, 11)}
    assert Counter(t.isolation for t in plan.topologies.values()) == {"vm": 3, "host": 2}
    for topology in plan.topologies.values():
        workers = max(topology.variant.vms_per_host, 1) * 3
        assert len(topology.workers) == workers
        if topology.isolation is Isolation.VM:
            addresses = [node.address for node in topology.nodes]
            assert len(set(addresses)) == len(addresses) == workers + 1
            for host in topology.hosts:
                guests = [node for node in topology.nodes if node.host == host.name]
                used_mib = sum(node.memory_mib + GUEST_OS_MIB for node in guests)
                assert used_mib <= host.memory_mib - 2048
        for host in ("slave1", "slave2", "slave3"):
            own = [disk.path for n in topology.workers if n.host == host for disk in n.disks]
            assert {path[:-1] for path in own} == {f"/data/{topology.variant.disk_type}"}
            assert len(set(own)) == 4
    assert any(
        "v3-flash: 3 nodes of slave1 share its 4 flash drives evenly, 3 on each" in line
        for line in warnings_of(plan)
    )
    assert not any("v2-flash" in line or "v4-flash" in line for line in warnings_of(plan))
