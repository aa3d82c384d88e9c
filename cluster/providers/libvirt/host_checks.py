"""What hosts of guests must have before a study builds on them: room, drives, the bridge, KVM, addresses."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from density_study.cluster.machine.sockets import answering
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.libvirt.accel import check_kvm
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.provider import FreeResources
from density_study.cluster.providers.ssh.acting import Act, act_on
from density_study.cluster.providers.ssh.channel import on_all

_SSH = 22


def free_on_hosts(topology: Topology) -> Mapping[str, FreeResources]:
    """For the hosts that answer: memory, their drives, and the folder of golden images."""

    def free(_: str, host: Host) -> FreeResources:
        act = act_on(host)
        assert act is not None and host.vms is not None
        folders = [*(disk.path for disk in host.disks), host.vms.images]
        memory_mib: int = act("available-memory-mib")
        if huge_kib := host.vms.huge_kib:  # which no other program can have
            memory_mib += _free_pages(_facts(host, act), huge_kib) * huge_kib // 1024
        return FreeResources.of(memory_mib, act("free-disks", folders))

    return on_all(_asked(topology), free)


def check_hosts(topology: Topology) -> None:
    """InputError for a drive that is not mounted, and for a bridge or huge pages that a host lacks."""

    def check(_: str, host: Host) -> None:
        act = act_on(host)
        assert act is not None and host.vms is not None
        facts = _facts(host, act)
        if facts["missing"]:
            raise InputError(
                f"there is no folder {', '.join(facts['missing'])}, and no disk is mounted above: guests "
                "would fill another disk.",
                f"host {host.name!r}, key disks",
                "mount the drives, or correct the paths.",
            )
        if not facts["bridge"]:
            raise InputError(
                f"there is no bridge {host.vms.bridge}.",
                f"host {host.name!r}, vms.bridge",
                "make it and join the host's network card to it, or name another one (ip link show type "
                "bridge).",
            )
        _check_huge_pages(topology, host, facts)

    on_all(_asked(topology), check)


def _check_huge_pages(topology: Topology, host: Host, facts: Mapping[str, Any]) -> None:
    if host.vms is None or not (kib := host.vms.huge_kib) or not topology.variant.vms_per_host:
        return
    guests_mib = (one.memory_mib + GUEST_OS_MIB for one in topology.nodes if one.host == host.name)
    needed, free = sum(ceil(mib * 1024 / kib) for mib in guests_mib), _free_pages(facts, kib)
    if free < needed:
        raise InputError(
            f"{free} huge pages of {kib} KiB are free; its guests need {needed}.",
            f"host {host.name!r}, key vms.huge_pages",
            f"reserve {needed - free} more, best at boot: as root, raise the number in "
            f"/sys/kernel/mm/hugepages/hugepages-{kib}kB/nr_hugepages; or remove huge_pages.",
            ("vms", "huge_pages"),
        )


def _free_pages(facts: Mapping[str, Any], kib: int) -> int:
    return int(facts["huge_pages"].get(str(kib), 0))


def check_unused(topology: Topology) -> None:
    """InputError for addresses of guests at which there is a machine already."""
    joined = [host.vms for host in topology.occupied if host.vms and host.vms.bridge]
    of_guests = {address for vms in joined for address in vms.addresses}
    addresses = [node.address for node in topology.nodes if node.address in of_guests]
    if taken := answering(addresses, _SSH):
        raise InputError(
            f"machines answer at {', '.join(taken)}.",
            "vms.addresses",
            "name a range that nobody uses and that no DHCP server gives out; `study reap` removes guests of "
            "killed runs.",
            ("vms", "addresses"),
        )


def _asked(topology: Topology) -> dict[str, Host]:
    """The hosts of guests that can be asked, by name."""
    return {one.name: one for one in topology.occupied if one.vms is not None and act_on(one)}


def check_kvm_of(host: Host) -> None:
    """As `check_kvm`, with what the host itself shows."""
    assert host.vms is not None
    act = act_on(host)
    check_kvm(Virsh(host.vms.uri), _facts(host, act)["no_kvm"] if act else "")


def _facts(host: Host, act: Act) -> dict[str, Any]:
    bridge = host.vms.bridge if host.vms else None
    facts: dict[str, Any] = act("guest-host", [disk.path for disk in host.disks], bridge or "")
    return facts
