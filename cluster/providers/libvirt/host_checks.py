"""What hosts of guests must have before a study builds on them: room, drives, the bridge, KVM, addresses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from density_study.cluster.machine.sockets import answering
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.libvirt.accel import check_kvm
from density_study.cluster.providers.libvirt.guests import Guest
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
            memory_mib += _free_pages(_facts(host, act), f"{huge_kib}") * huge_kib // 1024
        return FreeResources.of(memory_mib, act("free-disks", folders))

    return on_all(_asked(topology), free)


def check_hosts(topology: Topology, everyone: Sequence[Guest]) -> None:
    """InputError for a drive that is not mounted, and for a bridge or huge pages that a host lacks.
    `everyone`: the guests of the topology."""

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
        _check_huge_pages(host, facts, [one for one in everyone if one.host == host])

    on_all(_asked(topology), check)


def _check_huge_pages(host: Host, facts: Mapping[str, Any], here: Sequence[Guest]) -> None:
    """A pinned guest has memory only of its NUMA nodes."""
    if host.vms is None or not (kib := host.vms.huge_kib):
        return
    needed = Counter[str]()
    for guest in here:
        pages = (guest.node.memory_mib + GUEST_OS_MIB) * 1024 / kib
        needed[f"{kib}"] += ceil(pages)
        for own in guest.vcpus.numa:
            needed[f"{own.number}/{kib}"] += ceil(pages / len(guest.vcpus.numa))
    for place, number in needed.items():
        node, _, _ = place.rpartition("/")
        if (free := _free_pages(facts, place)) < number:
            folder = f"devices/system/node/node{node}" if node else "kernel/mm"
            raise InputError(
                f"{free} huge pages of {kib} KiB are free{node and f' on NUMA node {node}'}; its guests need "
                f"{number}.",
                f"host {host.name!r}, key vms.huge_pages",
                f"reserve {number - free} more, best at boot: as root, raise the number in "
                f"/sys/{folder}/hugepages/hugepages-{kib}kB/nr_hugepages; or remove huge_pages.",
                ("vms", "huge_pages"),
            )


def _free_pages(facts: Mapping[str, Any], place: str) -> int:
    return int(facts["huge_pages"].get(place, 0))


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
    """`check_kvm` for the host, including what the host itself shows against KVM."""
    assert host.vms is not None
    act = act_on(host)
    check_kvm(Virsh(host.vms.uri), _facts(host, act)["no_kvm"] if act else "")


def _facts(host: Host, act: Act) -> dict[str, Any]:
    bridge = host.vms.bridge if host.vms else None
    facts: dict[str, Any] = act("guest-host", [disk.path for disk in host.disks], bridge or "")
    return facts
