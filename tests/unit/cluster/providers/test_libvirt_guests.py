"""Guests derived from a topology, their domain XML and their seeds."""

from __future__ import annotations

import dataclasses
import io
import tarfile
import threading
import xml.etree.ElementTree as ET
from pathlib import Path, PurePosixPath
from typing import Any, cast

import pytest

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import NumaNode, pinning
from density_study.cluster.model.errors import InputError, SeveralError, faults_of
from density_study.cluster.model.host import IoLimits, Target
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.network import Network
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.providers.libvirt import making, provider
from density_study.cluster.providers.libvirt.accel import probe_xml
from density_study.cluster.providers.libvirt.guests import Vcpus, guests, networks, vcpus
from density_study.cluster.providers.libvirt.host_cpus import parse_cpus
from density_study.cluster.providers.libvirt.image import FILES
from density_study.cluster.providers.libvirt.keys import Keys
from density_study.cluster.providers.libvirt.making import SECTOR_BYTES, seed_bytes
from density_study.cluster.providers.libvirt.names import METADATA_URI
from density_study.cluster.providers.libvirt.proofs import prove_disks
from density_study.cluster.providers.libvirt.store import store
from density_study.cluster.providers.libvirt.xml import (
    KERNEL_ARGUMENTS,
    network_xml,
    pool_xml,
    tag_in,
    volume_xml,
)
from density_study.cluster.providers.provider import provider_named, software_of
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.state.journal import Journal
from tests.live.support.guests import topology, vm_host
from tests.support.topologies import with_variant

CAPABILITIES = Path("tests/golden/capabilities.xml")
SITE = Site(Path("/runs/s/r/builds/b1"), "s/r/b1")
KERNEL, INITRD = PurePosixPath("/images/k"), PurePosixPath("/images/i")


@pytest.fixture
def layout(tmp_path: Path) -> Topology:
    return topology(vm_host("qemu:///system", tmp_path, 2), 2)


def element(layout: Topology, index: int = 1) -> ET.Element:
    return ET.fromstring(guests(SITE, layout)[index].xml("tcg", KERNEL, INITRD))


def test_a_domain_carries_the_build_tag_and_bypasses_the_host_page_cache(layout: Topology) -> None:
    domain = element(layout)
    build = domain.find(f"metadata/{{{METADATA_URI}}}build")
    assert build is not None and build.get("tag") == SITE.tag and build.get("node") == "w1"
    assert domain.get("type") == "qemu"
    assert {d.get("cache") for d in domain.findall("devices/disk/driver")} == {"none"}
    assert domain.find("memoryBacking/nosharepages") is not None
    assert domain.findtext("memory") == str(1600 + GUEST_OS_MIB)


def test_only_the_data_disk_of_an_emulated_disk_is_throttled(layout: Topology) -> None:
    """Two guests are on the drive: each has half of its limits."""
    slow = dataclasses.replace(
        layout.hosts[0].disks[0], emulated=True, limits=IoLimits(read_iops=100, read_mib_s=80)
    )
    nodes = tuple(dataclasses.replace(node, disk=slow) for node in layout.nodes)
    domain = element(dataclasses.replace(layout, nodes=nodes))
    tuned = [d for d in domain.findall("devices/disk") if d.find("iotune") is not None]
    assert [d.findtext("serial") for d in tuned] == ["data"]
    assert tuned[0].findtext("iotune/read_iops_sec") == "50"
    assert tuned[0].findtext("iotune/read_bytes_sec") == str(40 * 2**20)
    assert element(layout).find("devices/disk/iotune") is None


def test_only_an_emulated_kernel_gets_a_trusted_clock_option(layout: Topology) -> None:
    assert "tsc=reliable" in element(layout).findtext("os/cmdline", "")
    real = ET.fromstring(guests(SITE, layout)[1].xml("kvm", KERNEL, INITRD))
    assert real.findtext("os/cmdline") == KERNEL_ARGUMENTS


def test_a_probe_only_boots_a_kernel() -> None:
    domain = ET.fromstring(probe_xml(SITE.tag, "kvm", KERNEL))
    assert domain.get("type") == "kvm" and domain.findtext("on_reboot") == "destroy"
    assert domain.findtext("os/cmdline") == "panic=-1 quiet" and domain.find("os/initrd") is None
    devices = domain.find("devices")
    assert devices is not None and {device.tag for device in devices} == {"rng", "memballoon"}


def test_values_are_escaped() -> None:
    pool = ET.fromstring(pool_xml("p", None, PurePosixPath("/data/<a>&'b'")))
    assert pool.findtext("target/path") == "/data/<a>&'b'"


def test_cpus_are_all_cores_or_pinned_equal_shares() -> None:
    host = parse_cpus(CAPABILITIES.read_text())
    assert vcpus("all", 16, 1, 3, "h", host) == Vcpus(16)
    shares = [vcpus("pinned", 16, index, 4, "h", host) for index in range(4)]
    assert [share.pinned_to for share in shares] == [
        (0, 8, 1, 9), (2, 10, 3, 11), (4, 12, 5, 13), (6, 14, 7, 15)
    ]  # fmt: skip
    with pytest.raises(InputError, match="equal shares for 3 guests"):
        vcpus("pinned", 16, 0, 3, "h", host)


def test_hosts_whose_cores_are_unknown_pin_nothing_and_say_so() -> None:
    """libvirt reports no siblings where Linux shows it no topology."""
    blind = CAPABILITIES.read_text().replace("siblings=", "other=")
    assert parse_cpus(blind) == ()
    assert vcpus("pinned", 16, 0, 4, "h", ()) == Vcpus(4)
    assert pinning(True, ()) == "none: the host does not say which CPUs belong to which core"
    known = pinning(True, parse_cpus(CAPABILITIES.read_text()))
    assert known == "whole cores: 8 with 16 CPUs on 2 NUMA nodes"


def test_threads_of_a_core_are_not_dealt_to_two_guests() -> None:
    """16 CPUs are 8 cores here: 16 guests would share them in pairs."""
    host = parse_cpus(CAPABILITIES.read_text())
    with pytest.raises(InputError, match=r"8 cores on 2 NUMA nodes.* to 16") as caught:
        vcpus("pinned", 16, 0, 16, "host 'h'", host)
    assert caught.value.remedy == "use densities of 1, 2, 4, 8, or do not pin."
    with pytest.raises(InputError, match="has 16 logical CPUs, and the study says 8"):
        vcpus("pinned", 8, 0, 4, "host 'h'", host)


def test_pinned_cores_are_in_the_domain_xml(layout: Topology) -> None:
    assert layout.hosts[0].vms is not None
    vms = dataclasses.replace(layout.hosts[0].vms, vcpus="pinned")
    host = dataclasses.replace(layout.hosts[0], vms=vms)
    pinned, cpus = dataclasses.replace(layout, hosts=(host,)), (NumaNode(0, ((4,), (7,))),)
    domain = ET.fromstring(guests(SITE, pinned, {host.name: cpus})[2].xml("tcg", KERNEL, INITRD))
    assert domain.findtext("vcpu") == "1"
    assert [pin.get("cpuset") for pin in domain.findall("cputune/vcpupin")] == ["7"]
    assert [m.get("nodeset") for m in domain.findall("numatune/memory")] == ["0"]


def test_a_numa_node_with_too_little_memory_is_refused(layout: Topology) -> None:
    assert layout.hosts[0].vms is not None
    vms = dataclasses.replace(layout.hosts[0].vms, vcpus="pinned", reserve_mib=1000)
    pinned = dataclasses.replace(
        layout, hosts=(dataclasses.replace(layout.hosts[0], vms=vms, memory_mib=8192),)
    )

    def node(memory_mib: int) -> NumaNode:
        return NumaNode(0, ((0,), (1,)), memory_mib)

    needed_mib = 1000 + 2 * (1600 + GUEST_OS_MIB)
    assert guests(SITE, pinned, {"h1": (node(needed_mib),)})
    assert guests(SITE, pinned, {"h1": (node(0),)})  # unknown
    with pytest.raises(
        InputError, match=f"has {needed_mib - 1} MiB; .* need {needed_mib} MiB"
    ) as e:
        guests(SITE, pinned, {"h1": (node(needed_mib - 1),)})
    assert e.value.remedy == "write memory: 8191 MiB or less."


def test_every_host_without_libvirt_or_disk_is_named_once(layout: Topology) -> None:
    bare = dataclasses.replace(layout.hosts[0], vms=None)
    with pytest.raises(InputError, match="the key vms is missing") as caught:
        guests(SITE, dataclasses.replace(layout, hosts=(bare,)))
    assert faults_of(caught.value) == (caught.value,)
    other = dataclasses.replace(layout.hosts[0], name="h2", disks=())
    moved = dataclasses.replace(layout.nodes[2], host="h2", disk=None)
    several = dataclasses.replace(layout, hosts=(bare, other), nodes=(*layout.nodes[:2], moved))
    with pytest.raises(InputError) as caught:
        guests(SITE, several)
    assert [fault.where for fault in faults_of(caught.value)] == ["host 'h1'", "host 'h2'"]


def test_every_drive_that_is_not_of_its_disk_type_is_named(
    layout: Topology, tmp_path: Path
) -> None:
    """Each is probed in one of the guests on it."""
    drives = tuple(dataclasses.replace(layout.hosts[0].disks[0], path=f"/d{n}") for n in (1, 2))
    workers = [dataclasses.replace(node, disk=drives[0], more_disks=drives[1:])
               for node in layout.workers]  # fmt: skip
    there = dataclasses.replace(layout, nodes=(layout.nodes[0], *workers))
    everyone, asked = guests(SITE, there), list[tuple[str, str]]()

    class Transport:
        tag = SITE.tag

        def act(self, node: Node, name: str, path: str) -> dict[str, Any]:
            asked.append((node.name, path))
            return {"path": path, "random_4k_read_ms": 9.0, "reads": 99}

    journal, places = Journal(tmp_path / "journal.jsonl"), provider_named("libvirt")
    with pytest.raises(SeveralError, match="ms, like hdd") as caught:
        prove_disks(Transport(), everyone, places.node_paths(SITE, there), journal)  # type: ignore[arg-type]
    assert [fault.where for fault in caught.value.faults] == [
        f"host 'h1', disk /d{number}" for number in (1, 2)
    ]
    assert [node for node, _ in asked] == ["w1", "w1"]


def test_an_own_network_is_isolated_and_a_configured_bridge_is_only_referenced(
    layout: Topology,
) -> None:
    ((bridge, address),) = networks(SITE, layout).values()
    own = ET.fromstring(network_xml("n", "u", bridge, address))
    assert own.find("forward") is None and own.find("ip/dhcp") is None
    bridged = ET.fromstring(network_xml("n", "u", "br0", None))
    forward = bridged.find("forward")
    assert forward is not None and forward.get("mode") == "bridge"
    assert bridged.find("ip") is None


def test_a_clone_references_its_image() -> None:
    clone = ET.fromstring(volume_xml("w1.root", 2**31, "qcow2", PurePosixPath("/images/root")))
    assert clone.findtext("backingStore/path") == "/images/root"


def test_data_disks_may_be_allocated_as_a_whole_and_stay_so(layout: Topology) -> None:
    sparse, whole = (
        ET.fromstring(volume_xml("w1.data", 2**31, allocated=one)) for one in (False, True)
    )
    assert (sparse.findtext("allocation"), whole.findtext("allocation")) == ("0", str(2**31))
    (host,) = layout.hosts
    assert host.vms is not None
    for preallocated, discard in ((False, "unmap"), (True, "ignore")):
        vms = dataclasses.replace(host.vms, preallocated=preallocated)
        own = dataclasses.replace(layout, hosts=(dataclasses.replace(host, vms=vms),))
        found = {
            disk.findtext("serial"): driver.get("discard")
            for disk in element(own).iter("disk")
            if (driver := disk.find("driver")) is not None
        }
        assert (found["root"], found["data"]) == ("unmap", discard)


def test_only_images_are_readable_by_other_users_of_the_host(
    layout: Topology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guest's seed holds its private host key, which is unpacked into its clone."""
    created: list[str] = []

    class Recorded:
        uri = "qemu:///system"

        def run(self, *args: str, stdin: str = "", **_: object) -> str:
            if args[0] == "vol-create":
                created.append(stdin)
            return ""

        def upload(self, *_: object) -> None: ...

        def volumes(self, _: str) -> dict[str, str]:
            return {}

        def names(self, _: str) -> list[str]:
            return []

        def active(self, *_: str) -> bool:
            return False

    monkeypatch.setattr(making, "seed_bytes", lambda *_: b"secret")
    image = tmp_path / "0123"
    image.mkdir()
    for name in FILES.values():
        (image / name).write_bytes(b"x")
    journal, virsh = Journal(tmp_path / "journal.jsonl"), cast(Any, Recorded())
    stored = store(virsh, "/images", image, journal, SITE.tag)
    images, created[:] = list(created), []
    making.Maker(virsh, SITE, journal).volumes(guests(SITE, layout)[1], stored, Keys(tmp_path))
    assert (len(images), len(created)) == (4, 3)
    assert {mode_of(xml) for xml in images} == {"0644"}
    assert {mode_of(xml) for xml in created} == {"0600"}


def mode_of(volume: str) -> str | None:
    return ET.fromstring(volume).findtext("target/permissions/mode")


def test_the_tag_is_read_back_from_libvirt_metadata() -> None:
    assert tag_in('<build xmlns="urn:density-study:1" tag="s/r/b1" node="w1"/>') == "s/r/b1"
    assert tag_in("no XML") is None


def test_a_seed_is_a_sector_aligned_tar_with_protected_private_keys(
    layout: Topology, tmp_path: Path
) -> None:
    for name, text in {
        "identity": "", "identity.pub": "ssh-ed25519 A\n",
        "host-w1": "PRIVATE\n", "host-w1.pub": "ssh-ed25519 B\n",
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    guest, keys = guests(SITE, layout)[1], Keys(tmp_path)
    content = seed_bytes(guest, keys)
    assert content == seed_bytes(guest, keys) and len(content) % SECTOR_BYTES == 0
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        modes = {entry.name: (entry.mode, entry.uid) for entry in archive}
        files = {name: archive.extractfile(name).read().decode() for name in modes}  # type: ignore[union-attr]
    assert modes["etc/ssh/ssh_host_ed25519_key"] == (0o600, 0)
    assert modes["home/study/.ssh/authorized_keys"] == (0o600, 1000)
    assert files["etc/hosts"].splitlines() == [
        "127.0.0.1 localhost", "10.78.0.11 m1", "10.78.0.12 w1", "10.78.0.13 w2"
    ]  # fmt: skip
    network = files["etc/systemd/network/10-study.network"]
    assert files["etc/study-drives"] == "data\n"
    assert "Address=10.78.0.12/24\n" in network and "Gateway" not in network
    assert files["etc/ssh/ssh_host_ed25519_key"] == "PRIVATE\n"
    assert files["home/study/.ssh/authorized_keys"] == "ssh-ed25519 A\n"


class Guest:
    """A channel to a guest that notes what is asked of it."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def act(self, name: str, *arguments: Any) -> Any:
        self.asked.append((name, *arguments))
        return "ens2" if name == "network-device" else None

    def close(self) -> None:
        self.asked.append(("close",))


def test_the_network_of_guests_is_checked_and_set_in_each_of_them(
    layout: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: dict[str, Guest] = {}
    monkeypatch.setattr(provider, "channel", lambda to: there.setdefault(to.host, Guest()))
    reach = {n.name: Target(n.name, n.address, 22, "study", "") for n in layout.nodes}
    build = SshBuild(SITE, Journal(SITE.root / "none"), reach, PurePosixPath("/study"))
    provider._set_networks(build, layout)
    assert there == {}
    provider._set_networks(build, with_variant(layout, network=Network(mtu=1400)))
    assert sorted(there) == [node.name for node in layout.nodes]
    settings = {"mtu": 1400}
    assert there["w1"].asked == [
        ("check-network", layout.nodes[1].address, settings),
        ("network-device", layout.nodes[1].address),
        ("set-network", "ens2", settings),
        ("close",),
    ]


def test_the_java_of_guests_is_that_of_their_image(
    layout: Topology, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packages = "openjdk-17-jre 17.0.9-1\nopenjdk-17-jre-headless 17.0.21.1+2-1~deb12u1\n"
    (tmp_path / "packages.txt").write_text(packages)
    monkeypatch.setattr(provider, "_image", lambda _: tmp_path)
    found = software_of(dataclasses.replace(layout, provider=provider_named("libvirt"))).java()
    assert (found.home.name, found.version) == ("java-17-openjdk-amd64", "17.0.21.1")


def test_a_cpu_that_guests_do_not_have_is_refused_before_they_are_made(layout: Topology) -> None:
    few = with_variant(layout, network=Network(rps=(2,)))
    with pytest.raises(InputError, match="no CPU 2, only 0 to 1"):
        provider.LibvirtProvider().preflight(few, "s/r/b1")


def test_hosts_with_pinned_guests_are_asked_for_their_cpus_once_and_at_the_same_time(
    layout: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For preflight, creation and disclosure: over SSH an answer takes a second."""
    both, asked = threading.Barrier(2, timeout=10), []

    class Libvirt:
        def __init__(self, uri: str) -> None:
            self.uri = uri

        def run(self, *words: str) -> str:
            asked.append((self.uri, *words))
            both.wait()
            return "<capabilities/>"

    monkeypatch.setattr(provider, "Virsh", Libvirt)
    (host,) = layout.hosts
    assert host.vms is not None
    hosts = [
        dataclasses.replace(
            host,
            name=name,
            vms=dataclasses.replace(host.vms, uri=f"test:///{name}", vcpus="pinned"),
        )
        for name in ("h1", "h2")
    ]
    nodes = [dataclasses.replace(layout.workers[0], host=name) for name in ("h1", "h2")]
    placed = dataclasses.replace(layout, hosts=tuple(hosts), nodes=tuple(nodes))
    for _ in range(3):
        assert provider._cpus(placed) == {"h1": (), "h2": ()}
    assert sorted(asked) == [(f"test:///{name}", "capabilities") for name in ("h1", "h2")]
