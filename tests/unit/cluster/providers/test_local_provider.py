"""Local provider: creating and removing directories, verified tear-down."""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.tear_down import leftovers_of, tear_down
from density_study.cluster.machine import describe
from density_study.cluster.machine.describe import describe_disk, describe_machine
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.machine.sockets import is_taken, listener
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, TearDownError
from density_study.cluster.model.host import Disk, IoLimits
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.local import provider as local_module
from density_study.cluster.providers.local.provider import LocalProvider
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.events import DiskEmulated
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from tests.support.topologies import local


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    own = Site(tmp_path / "runs" / "b1", f"test/{os.getpid()}-{tmp_path.name}/b1")
    yield own
    stop_all(tagged(own.tag), 0.0)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs" / "journal.jsonl")


@pytest.fixture
def topology(tmp_path: Path) -> Topology:
    disk = Disk(str(tmp_path / "disk"), "flash")
    spec = local()
    return replace(spec, nodes=tuple(replace(n, disk=disk if n.disk else None) for n in spec.nodes))


def intend(site: Site, journal: Journal, ports: list[tuple[str, int]]) -> None:
    journal.write("intent", act="build", build="b1", tag=site.tag, provider="local", ports=ports)


def test_directories_are_tagged_and_journalled(
    site: Site, journal: Journal, topology: Topology, tmp_path: Path
) -> None:
    LocalProvider().create(site, topology, journal)
    on_disk = tmp_path / "disk" / "density-study" / site.tag / "w1"
    assert (on_disk / "STUDY_TAG").read_text() == site.tag + "\n"
    assert (site.root / "data" / "c1" / "STUDY_TAG").exists()  # it has no disk of its own
    events = [(e["event"], e.get("path")) for e in journal.read()]
    assert events.index(("intent", str(on_disk))) < events.index(("dir-made", str(on_disk)))


def test_tear_down_removes_everything_but_logs_and_conf(
    site: Site, journal: Journal, topology: Topology, tmp_path: Path
) -> None:
    provider = LocalProvider()
    intend(site, journal, [])
    provider.create(site, topology, journal)
    log = site.root / "logs" / "w1" / "datanode.log"
    log.write_text("kept")
    transport = provider.transport(site, journal)
    process = transport.start(topology.nodes[0], Command("d", ("sleep", "60")), log, log)
    assert any(str(process.pid) in left for left in leftovers_of(site, journal))
    tear_down(site, journal)
    assert not transport.alive(process) and not leftovers_of(site, journal)
    assert list((tmp_path / "disk").iterdir()) == []
    assert not (site.root / "data").exists()
    assert log.read_text() == "kept"
    destroyed = list(journal.read())[-1]
    assert (destroyed["event"], destroyed["proof"]["found"]) == ("destroyed", 0)
    tear_down(site, journal)  # again: nothing to do


def test_tear_down_of_what_never_was_succeeds(site: Site, journal: Journal) -> None:
    tear_down(site, journal)
    assert list(journal.read()) == []


def test_a_partially_created_directory_is_removed_too(
    site: Site, journal: Journal, tmp_path: Path
) -> None:
    intend(site, journal, [])
    path = tmp_path / "disk" / "density-study" / site.tag / "w1"
    journal.write("intent", act="make-dir", tag=site.tag, path=str(path))
    (path / "tmp").mkdir(parents=True)  # killed before it wrote the tag
    tear_down(site, journal)
    assert not path.exists()


@pytest.mark.thorough
def test_directories_with_a_foreign_tag_are_kept_and_reported(
    site: Site, journal: Journal, tmp_path: Path
) -> None:
    intend(site, journal, [])
    path = tmp_path / "theirs"
    path.mkdir()
    (path / "STUDY_TAG").write_text("somebody/else/b1\n")
    (path / "data").write_text("precious")
    journal.write("intent", act="make-dir", tag=site.tag, path=str(path))
    with pytest.raises(TearDownError, match="theirs"):
        tear_down(site, journal)
    assert (path / "data").read_text() == "precious"


def test_parent_folders_of_a_foreign_directory_are_kept(
    site: Site, journal: Journal, topology: Topology, tmp_path: Path
) -> None:
    neighbour = tmp_path / "disk" / "density-study" / "other" / "r" / "b1"
    neighbour.mkdir(parents=True)
    intend(site, journal, [])
    LocalProvider().create(site, topology, journal)
    tear_down(site, journal)
    assert neighbour.exists()
    assert [p.name for p in neighbour.parents[2].iterdir()] == ["other"]


LISTEN = (
    "import socket,sys,time; s=socket.create_server(('127.0.0.1',int(sys.argv[1]))); time.sleep(60)"
)


def test_a_port_of_our_process_remains_until_tear_down(
    site: Site, journal: Journal, topology: Topology, free_port: int, tmp_path: Path
) -> None:
    intend(site, journal, [("127.0.0.1", free_port)])
    command = Command("listener", (sys.executable, "-c", LISTEN, str(free_port)))
    transport = LocalProvider().transport(site, journal)
    transport.start(topology.nodes[0], command, tmp_path / "out", tmp_path / "err")
    while listener(free_port) is None:
        time.sleep(0.02)
    assert leftovers_of(site, journal)[-1:] == (f"port {free_port} on 127.0.0.1",)
    tear_down(site, journal)
    assert not is_taken(("127.0.0.1", free_port))


def test_a_port_since_taken_by_another_process_is_not_ours(
    site: Site, journal: Journal, free_port: int
) -> None:
    intend(site, journal, [("127.0.0.1", free_port)])
    with socket.create_server(("127.0.0.1", free_port)):
        assert not leftovers_of(site, journal)
        tear_down(site, journal)


def test_an_existing_directory_is_refused(site: Site, journal: Journal, topology: Topology) -> None:
    LocalProvider().create(site, topology, journal)
    with pytest.raises(InputError, match="study reap"):
        LocalProvider().create(site, topology, journal)


def test_an_unwritable_disk_is_named(
    site: Site, journal: Journal, topology: Topology, tmp_path: Path
) -> None:
    (tmp_path / "disk").write_text("a file")
    with pytest.raises(InputError) as caught:
        LocalProvider().create(site, topology, journal)
    assert str(tmp_path / "disk") in caught.value.where


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(InputError, match="'cloud'"):
        provider_named("cloud")


def test_the_machine_describes_itself(tmp_path: Path) -> None:
    machine = describe_machine()
    assert machine["cores"] >= 1
    assert machine["memory_mib"] > 100
    assert machine["cpu_model"]
    assert describe_disk("/proc/self")["filesystem"] == "proc"
    assert describe_disk(str(tmp_path))["device"]


def test_others_may_mount_what_they_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "mounts").write_bytes(
        b"root / ext4 rw 0 0\nfuse /home/u/\xff fuse rw 0 0\nfuse /home/u/\xe2\x80\xa8 fuse rw 0 0\n"
        b"data %s/a\\040b xfs rw 0 0\n" % bytes(tmp_path)
    )
    monkeypatch.setattr(describe, "MOUNTS", tmp_path / "mounts")
    assert describe_disk(str(tmp_path / "a b"))["filesystem"] == "xfs"
    assert describe_disk("/")["device"] == "root"


def test_every_limited_drive_of_a_worker_is_proved_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drives = [Disk(f"/d{n}", "hdd", True, IoLimits(read_mib_s=n)) for n in (1, 2)]
    nodes = [
        dataclasses.replace(one, disk=drives[0], more_disks=(drives[1],))
        if one.roles == ("worker",)
        else one
        for one in local(2).nodes
    ]
    proved: list[str] = []
    monkeypatch.setattr(local_module.io_limits, "make", lambda *_: "all")
    monkeypatch.setattr(
        local_module, "prove", lambda _, node, folder, limits: proved.append(folder) or {}
    )
    topology = dataclasses.replace(local(2), nodes=tuple(nodes))
    journal = Journal(tmp_path / "journal.jsonl")
    local_module._emulate(Site(tmp_path, "s/r/b"), topology, journal)
    assert proved == [f"/d{n}/density-study/s/r/b/w1/tmp" for n in (1, 2)]
    assert [event.disk for event in journal.events(DiskEmulated)] == ["/d1", "/d2"]
