"""What `study doctor` finds on hosts of guests: drives, bridge, room, KVM, and addresses that are taken."""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.machine import describe
from density_study.cluster.machine.describe import describe_guest_host
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import NumaNode
from density_study.cluster.model.errors import HostLostError, InputError, StudyError, faults_of
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.libvirt import host_checks, making, removal, waiting
from density_study.cluster.providers.libvirt.accel import check_kvm
from density_study.cluster.providers.libvirt.guests import guests
from density_study.cluster.providers.libvirt.host_checks import (
    check_hosts,
    check_unused,
    free_on_hosts,
)
from density_study.cluster.providers.libvirt.making import Maker, make_all
from density_study.cluster.state.journal import Journal
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.preflight import _acts as acts_of
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.study_file import parse_study

DRIVES = "drives, bridge and huge pages"
GUESTS = """\
study: guests
provider: libvirt
hosts:
  - {name: h1, address: 192.0.2.11, cores: 8, memory: 16 GiB, roles: [master, worker, client],
     disks: [{path: /data/a, disk_type: flash}]}
  - {name: h2, address: 192.0.2.12, cores: 8, memory: 16 GiB, disks: [{path: /data/a, disk_type: flash}]}
ssh: {user: study}
vms: {network: 198.51.100.0/24, addresses: 198.51.100.11-198.51.100.20, bridge: br0}
factors: {vms_per_host: [0, 1]}
workloads: [testdfsio: {modes: [write], files: 2, file_size: 1 GiB}]
"""


@pytest.fixture
def topologies() -> list[Topology]:
    study = parse_study(GUESTS, "guests.yaml").study
    return list(make_plan(study, planned_hosts(study, Path("/nonexistent/runs"))).built)


@pytest.fixture
def h2(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What host h2 answers; h1 has everything."""
    fine = {
        "missing": [],
        "bridge": True,
        "no_kvm": "",
        "huge_pages": {"2048": 10**4, "1048576": 20},
    }
    answers = {"guest-host": fine, "free-mib": 10**6, "available-memory-mib": 15_500}
    own = dict(answers)

    def answer(host: Any, name: str, *arguments: Any) -> Any:
        its = own if host.name == "h2" else answers
        if name == "free-disks":
            return {path: (its["free-mib"], number) for number, path in enumerate(arguments[0])}
        return its[name]

    monkeypatch.setattr(host_checks, "act_on", lambda host: partial(answer, host))
    return own


@pytest.mark.parametrize(
    ("facts", "what", "key"),
    [
        ({"missing": ["/data/a"]}, "no folder /data/a", "disks"),
        ({"bridge": False}, "no bridge br0", "vms.bridge"),
    ],
)
def test_a_host_without_drive_or_bridge_is_named(
    facts: dict[str, Any], what: str, key: str, h2: dict[str, Any], topologies: list[Topology]
) -> None:
    for topology in topologies:
        check_hosts(topology, ())
    h2["guest-host"] = {**h2["guest-host"], **facts}
    with pytest.raises(InputError, match=what) as caught:
        check_hosts(topologies[-1], ())
    assert caught.value.where == f"host 'h2', key {key}".replace("key vms", "vms")


def test_a_drive_without_room_for_its_guests_is_named(
    h2: dict[str, Any], topologies: list[Topology], tmp_path: Path
) -> None:
    study = parse_study(GUESTS, "guests.yaml").study
    plan = make_plan(study, planned_hosts(study, tmp_path))
    h2["free-mib"] = 100
    (guests_of,) = (one for one in topologies if one.variant.vms_per_host)
    act = dict(acts_of(study, plan, tmp_path, "s/doctor"))[f"memory and disks of {guests_of.name}"]
    with pytest.raises(InputError, match="100 MiB are free") as caught:
        act()
    assert "host 'h2', disk /data/a" in [fault.where for fault in faults_of(caught.value)]
    assert free_on_hosts(guests_of)["h1"].disks_mib.keys() == {
        "/data/a",
        "/var/lib/libvirt/images/density-study",
    }


@pytest.mark.parametrize(("size", "needed"), [("2 MiB", 7680), ("1 GiB", 15)])
def test_a_host_without_huge_pages_for_its_guests_is_named(
    size: str, needed: int, h2: dict[str, Any]
) -> None:
    """15 GiB of each host, which keeps one."""
    text = GUESTS.replace("bridge: br0", f"bridge: br0, huge_pages: {size}")
    with pytest.raises(InputError, match="less memory than them"):
        parse_study(text, "guests.yaml")
    study = parse_study(text.replace("[0, 1]", "[1]"), "guests.yaml").study
    (topology,) = make_plan(study, planned_hosts(study, Path("/nonexistent/runs"))).built
    kib = str(2048 if size == "2 MiB" else 2**20)
    pages = {kib: needed - 1}
    h2["guest-host"] = {**h2["guest-host"], "huge_pages": pages}
    everyone = guests(SITE, topology)
    with pytest.raises(InputError, match=f"need {needed}") as caught:
        check_hosts(topology, everyone)
    assert "reserve 1 more" in caught.value.remedy
    pages[kib] += 1
    check_hosts(topology, everyone)
    # a guest of both NUMA nodes, and all free pages on one of them
    numa = tuple(NumaNode(number, ((number,), (number + 2,))) for number in (0, 1))
    pinned = [
        replace(one, vcpus=replace(one.vcpus, numa=numa if one.host.name == "h2" else ()))
        for one in everyone
    ]
    pages |= {f"0/{kib}": needed, f"1/{kib}": 0}
    with pytest.raises(InputError, match=rf"0 huge pages .* on NUMA node 1; .*{ceil(needed / 2)}"):
        check_hosts(topology, pinned)
    pages |= {f"{number}/{kib}": ceil(needed / 2) for number in (0, 1)}
    check_hosts(topology, pinned)
    h2["available-memory-mib"] = 100
    assert free_on_hosts(topology)["h2"].memory_mib == 100 + 15 * 1024
    xml = everyone[-1].xml("kvm", *map(PurePosixPath, ("/k", "/i")))
    page = ET.fromstring(xml).find("memoryBacking/hugepages/page")
    assert page is not None and page.attrib == {"size": kib, "unit": "KiB"}


def test_huge_pages_that_another_program_has_reserved_are_not_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that has mapped them and touched none yet: the doctor promised them to guests."""
    monkeypatch.setattr(describe, "HUGE_PAGES", tmp_path)
    for kib, free, reserved in ((2048, 100, 30), (2**20, 4, 9)):
        folder = tmp_path / f"hugepages-{kib}kB"
        folder.mkdir()
        (folder / "free_hugepages").write_text(f"{free}\n")
        (folder / "resv_hugepages").write_text(f"{reserved}\n")
    of_node = tmp_path / "node" / "node1" / "hugepages" / "hugepages-2048kB"
    of_node.mkdir(parents=True)
    (of_node / "free_hugepages").write_text("60\n")
    monkeypatch.setattr(describe, "SYSTEM", tmp_path)
    found = describe_guest_host([], "")["huge_pages"]
    assert found == {"2048": 70, "1/2048": 60, "1048576": 0}


def test_addresses_of_guests_that_answer_are_named_and_hosts_own_are_not(
    topologies: list[Topology], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_checks, "answering", lambda addresses, _: [*addresses])
    by_density = {topology.variant.vms_per_host: topology for topology in topologies}
    check_unused(by_density[0])
    with pytest.raises(InputError, match=r"machines answer at 198\.51\.100\.11, ") as caught:
        check_unused(by_density[1])
    assert "study reap" in caught.value.remedy
    own = by_density[1].hosts
    alone = tuple(replace(host, vms=host.vms and replace(host.vms, bridge=None)) for host in own)
    check_unused(replace(by_density[1], hosts=alone))


def test_guests_and_the_bare_hosts_beside_them_have_checks_of_their_own(tmp_path: Path) -> None:
    study = parse_study(GUESTS, "guests.yaml").study
    plan = make_plan(study, planned_hosts(study, tmp_path))
    names = {name for name, _ in acts_of(study, plan, tmp_path, "s/doctor")}
    bare, guests_of = sorted((one.variant.vms_per_host, one.name) for one in plan.built)
    of_bare = {f"{what} of {bare[1]}" for what in ("hosts", "ports", "connections between hosts")}
    of_guests = {f"{what} of {guests_of[1]}" for what in ("hosts", f"{DRIVES} of hosts")}
    assert of_bare | of_guests <= names
    assert not {f"ports of {guests_of[1]}", f"{DRIVES} of hosts of {bare[1]}"} & names


@pytest.mark.parametrize(
    ("flags", "device", "why"),
    [
        ("fpu sse", True, "neither vmx nor svm"),
        ("fpu vmx", False, "there is no "),
        ("svm", True, ""),
    ],
)
def test_a_host_tells_why_it_can_have_no_kvm(
    flags: str, device: bool, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(describe, "_line_value", lambda _, key: flags)
    monkeypatch.setattr(describe, "KVM", tmp_path if device else tmp_path / "none")
    told = describe_guest_host([str(tmp_path), "/nonexistent/f1"], "nonexistent0")
    assert told["missing"] == ["/nonexistent/f1"] and told["bridge"] is False
    assert why in told["no_kvm"] and bool(told["no_kvm"]) == bool(why)


class FakeVirsh:
    """Fails the commands in `failing`."""

    uri = "qemu:///system"

    def __init__(self, *failing: str) -> None:
        self.failing = failing

    def run(self, *arguments: str) -> str:
        if arguments[0] in self.failing:
            raise StudyError(f"virsh {arguments[0]} failed: no.", "libvirt", "read its log.")
        return ""


def test_a_host_with_kvm_has_no_fault() -> None:
    check_kvm(FakeVirsh())  # type: ignore[arg-type]


def test_a_host_without_kvm_is_named_with_what_it_means() -> None:
    with pytest.raises(InputError) as caught:
        check_kvm(FakeVirsh("domcapabilities"))  # type: ignore[arg-type]
    assert caught.value.where == "libvirt qemu:///system"
    assert "emulated" in caught.value.what and "nested" in caught.value.remedy


def test_a_libvirt_that_does_not_answer_is_another_fault() -> None:
    with pytest.raises(StudyError, match="virsh version failed") as caught:
        check_kvm(FakeVirsh("version", "domcapabilities"))  # type: ignore[arg-type]
    assert not isinstance(caught.value, InputError)


SITE = Site(Path("/runs/s/r/builds/b1"), "s/r/b1")
NINE = [f"qemu+ssh://study@192.0.2.{n}/system" for n in range(1, 10)]


def test_guests_of_all_hosts_are_made_and_removed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """72 guests on nine hosts take the time of eight on one: nobody passes the barrier alone."""
    everyone = threading.Barrier(len(NINE), timeout=10)
    guests = [SimpleNamespace(vms=SimpleNamespace(uri=uri)) for uri in NINE for _ in range(8)]
    monkeypatch.setattr(making, "Virsh", lambda uri: SimpleNamespace(uri=uri))
    monkeypatch.setattr(Maker, "make", lambda self, here, *_: (everyone.wait(), len(here))[1])
    made = make_all(SITE, None, guests, dict.fromkeys(NINE), tmp_path, None)  # type: ignore[arg-type]
    assert made == dict.fromkeys(NINE, 8)
    journal = Journal(tmp_path / "journal.jsonl")
    for uri in NINE:
        journal.intend("make-network", SITE.tag, uri=uri, network="n")
    monkeypatch.setattr(removal, "Virsh", lambda uri: SimpleNamespace(uri=uri))
    removed = []

    def remove(virsh: Any, tag: str, _: Journal) -> None:
        everyone.wait()
        if virsh.uri == NINE[0]:
            raise StudyError("it does not answer.", virsh.uri, "look at it.")
        removed.append(virsh.uri)

    monkeypatch.setattr(removal, "remove", remove)
    with pytest.raises(StudyError, match="does not answer"):
        removal.remove_all(SITE, journal)
    assert sorted(removed) == NINE[1:], "one that does not answer keeps nobody's guests"

    def find(virsh: Any, tag: str) -> dict[str, list[str]]:
        everyone.wait()
        if virsh.uri == NINE[0]:
            raise StudyError("it does not answer.", virsh.uri, "look at it.")
        return {"domain": ["g"]}

    monkeypatch.setattr(removal, "find", find)
    assert removal.find_all(SITE, journal) == (
        f"host {NINE[0]} (unknown: it does not answer)",
        *(f"domain g on {uri}" for uri in NINE[1:]),
    )


def test_every_guest_that_does_not_start_is_named(
    topologies: list[Topology], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mender of one host would start again, and wait for the next."""
    everyone = guests(SITE, topologies[-1])

    def act(node: Any, _: str) -> None:
        if node.name != everyone[0].node.name:
            raise HostLostError("it is not there.", node.name, "wait.")

    virsh = SimpleNamespace(uri="qemu:///system", run=lambda *words: words[0])  # not running
    monkeypatch.setattr(waiting, "Virsh", lambda _: virsh)
    kvm: Any = {one.vms.uri: "kvm" for one in everyone}
    with pytest.raises(StudyError) as caught:
        waiting.await_guests(SimpleNamespace(act=act), everyone, kvm)  # type: ignore[arg-type]
    named = [one.what for one in faults_of(caught.value)]
    assert named == [f"guest {one.node.name} ended while it booted." for one in everyone[1:]]
    assert len(named) > 1


def test_hosts_of_guests_are_asked_at_once(
    topologies: list[Topology], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=10)
    fine = {"missing": [], "bridge": True, "no_kvm": "", "huge_pages": {}}

    def answer(name: str, *arguments: Any) -> Any:
        both.wait()
        return {"guest-host": fine, "available-memory-mib": 1, "free-disks": {}}[name]

    monkeypatch.setattr(host_checks, "act_on", lambda _: answer)
    check_hosts(topologies[-1], ())
    assert free_on_hosts(topologies[-1]).keys() == {"h1", "h2"}
