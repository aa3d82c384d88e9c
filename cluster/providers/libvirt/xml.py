"""XML of a build's domains, networks, pools and volumes. Pure; ElementTree escapes what goes in."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from cluster.model.host import IoLimits, VmCache
from cluster.providers.libvirt.cpus import Vcpus
from cluster.providers.libvirt.guest import ROOT_LABEL
from cluster.providers.libvirt.names import METADATA_URI
from cluster.state.events import Accel

KERNEL_ARGUMENTS = (
    f"root=LABEL={ROOT_LABEL} rw console=ttyS0 net.ifnames=0 quiet panic=-1 fsck.mode=skip"
)
EMULATED_ARGUMENTS = " mitigations=off no5lvl tsc=reliable"
"""Emulated there is no CPU to guard, and page tables are walked by software. QEMU's TSC is one for all
vCPUs, which the kernel does not believe of several: it would ask the emulated HPET for the time, which is
slower by far, at every call."""
MIB = 2**20


@dataclass(frozen=True)
class DiskXml:
    """A volume as a guest's disk; `serial` is how the guest finds it (/dev/disk/by-id/virtio-...)."""

    pool: str
    volume: str
    format: Literal["qcow2", "raw"]
    serial: str
    limits: IoLimits | None = None


@dataclass(frozen=True)
class DomainXml:
    """One guest. `kernel` and `initrd` are paths on its host; `console` a file there."""

    name: str
    uuid: str
    tag: str
    node: str
    memory_mib: int
    vcpus: Vcpus
    accel: Accel
    cache: VmCache
    kernel: PurePath
    initrd: PurePath | None
    console: PurePath | None
    disks: tuple[DiskXml, ...] = ()
    network: str | None = None
    mac: str | None = None
    arguments: str = KERNEL_ARGUMENTS
    keep_on_reboot: bool = True


def domain_xml(domain: DomainXml) -> str:
    root = ET.Element("domain", type="kvm" if domain.accel == "kvm" else "qemu")
    _text(root, "name", domain.name)
    _text(root, "uuid", domain.uuid)
    _text(root, "title", f"density-study {domain.tag} {domain.node}")
    ET.register_namespace("study", METADATA_URI)
    build = ET.SubElement(_sub(root, "metadata"), f"{{{METADATA_URI}}}build")
    build.set("tag", domain.tag)
    build.set("node", domain.node)
    _text(root, "memory", str(domain.memory_mib), unit="MiB")
    _text(root, "currentMemory", str(domain.memory_mib), unit="MiB")
    _sub(_sub(root, "memoryBacking"), "nosharepages")  # merged pages would be shared hardware
    _vcpus(root, domain.vcpus)
    _boot(root, domain)
    _sub(_sub(root, "features"), "acpi")
    # Migratable models hide features; the guest is to see what the host has.
    _sub(root, "cpu", mode="host-passthrough" if domain.accel == "kvm" else "maximum")
    _sub(root, "clock", offset="utc")
    _text(root, "on_poweroff", "destroy")
    _text(root, "on_reboot", "restart" if domain.keep_on_reboot else "destroy")
    _text(root, "on_crash", "destroy")
    _devices(_sub(root, "devices"), domain)
    return _written(root)


def kernel_arguments(accel: Accel) -> str:
    return KERNEL_ARGUMENTS + (EMULATED_ARGUMENTS if accel == "tcg" else "")


def _vcpus(root: ET.Element, vcpus: Vcpus) -> None:
    _text(root, "vcpu", str(vcpus.count), placement="static")
    if vcpus.pinned_to:
        tune = _sub(root, "cputune")
        for index, core in enumerate(vcpus.pinned_to):
            _sub(tune, "vcpupin", vcpu=str(index), cpuset=str(core))
        _sub(tune, "emulatorpin", cpuset=",".join(map(str, vcpus.pinned_to)))


def _boot(root: ET.Element, domain: DomainXml) -> None:
    os = _sub(root, "os")
    _text(os, "type", "hvm", arch="x86_64", machine="q35")
    _text(os, "kernel", str(domain.kernel))
    if domain.initrd is not None:
        _text(os, "initrd", str(domain.initrd))
    _text(os, "cmdline", domain.arguments)


def _devices(devices: ET.Element, domain: DomainXml) -> None:
    for disk, letter in zip(domain.disks, "abcdefgh", strict=False):
        _disk(devices, domain, disk, f"vd{letter}")
    if domain.network and domain.mac:
        interface = _sub(devices, "interface", type="network")
        _sub(interface, "mac", address=domain.mac)
        _sub(interface, "source", network=domain.network)
        _sub(interface, "model", type="virtio")
    if domain.console is not None:
        serial = _sub(devices, "serial", type="file")
        _sub(serial, "source", path=str(domain.console))
        _sub(serial, "target", port="0")
    rng = _sub(devices, "rng", model="virtio")  # keys must not wait for entropy
    _text(rng, "backend", "/dev/urandom", model="random")
    _sub(devices, "memballoon", model="none")  # a guest's memory is what the study says


def _disk(devices: ET.Element, domain: DomainXml, disk: DiskXml, target: str) -> None:
    element = _sub(devices, "disk", type="volume", device="disk")
    _sub(
        element,
        "driver",
        name="qemu",
        type=disk.format,
        cache=domain.cache,
        io="native",
        discard="unmap",
    )
    _sub(element, "source", pool=disk.pool, volume=disk.volume)
    _sub(element, "target", dev=target, bus="virtio")
    if disk.limits is not None:
        tune = _sub(element, "iotune")
        for name, value in disk.limits.iotune().items():
            _text(tune, name, str(value))
    _text(element, "serial", disk.serial)


def network_xml(name: str, uuid: str, bridge: str, address: str | None) -> str:
    """A network of our own that leads nowhere else, the host on it as `address` (with its prefix);
    with no address the host's own `bridge`, which is only named and never changed."""
    root = ET.Element("network")
    _text(root, "name", name)
    _text(root, "uuid", uuid)
    if address is None:
        _sub(root, "forward", mode="bridge")
        _sub(root, "bridge", name=bridge)
        return _written(root)
    _sub(root, "bridge", name=bridge, stp="off", delay="0")
    _sub(root, "dns", enable="no")
    host, _, prefix = address.partition("/")
    _sub(root, "ip", address=host, prefix=prefix)
    return _written(root)


def pool_xml(name: str, uuid: str | None, target: PurePath) -> str:
    root = ET.Element("pool", type="dir")
    _text(root, "name", name)
    if uuid:
        _text(root, "uuid", uuid)
    at = _sub(root, "target")
    _text(at, "path", str(target))
    permissions = _sub(at, "permissions")
    _text(permissions, "mode", "0711")
    return _written(root)


def volume_xml(
    name: str,
    capacity_bytes: int,
    format: Literal["qcow2", "raw"] = "raw",
    backing: PurePath | None = None,
    secret: bool = False,
) -> str:
    """A sparse volume; a clone of the raw image `backing` if given."""
    root = ET.Element("volume")
    _text(root, "name", name)
    _text(root, "capacity", str(capacity_bytes), unit="bytes")
    _text(root, "allocation", "0", unit="bytes")
    target = _sub(root, "target")
    _sub(target, "format", type=format)
    _text(_sub(target, "permissions"), "mode", "0600" if secret else "0644")
    if backing is not None:
        store = _sub(root, "backingStore")
        _text(store, "path", str(backing))
        _sub(store, "format", type="raw")
    return _written(root)


def mark_in(metadata: str) -> str | None:
    """The tag in the output of `virsh metadata`; None if there is none."""
    try:
        return ET.fromstring(metadata).get("tag")
    except ET.ParseError:
        return None


def _sub(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, attributes)


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    ET.SubElement(parent, tag, attributes).text = text


def _written(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"
