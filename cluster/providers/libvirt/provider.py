"""Provider `libvirt`: VMs on each host, linked clones of the project's golden image."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Any, ClassVar

from density_study.cluster.machine.packet_cpus import check_cpus
from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.dividing.cpus import Cpus, pinning
from density_study.cluster.model.dividing.virtio import virtio_of
from density_study.cluster.model.errors import StudyError, do_all
from density_study.cluster.model.host import Target
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.memory import GUEST_OS_MIB
from density_study.cluster.model.store import MachineProgram, Store
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.libvirt import removal
from density_study.cluster.providers.libvirt.guests import guests, networks
from density_study.cluster.providers.libvirt.host_checks import (
    check_hosts,
    check_kvm_of,
    check_unused,
    free_on_hosts,
)
from density_study.cluster.providers.libvirt.host_cpus import parse_cpus
from density_study.cluster.providers.libvirt.image import (
    DATA,
    JAVA_HOME,
    SERVERS,
    USER,
    ensure_image,
    java_version,
)
from density_study.cluster.providers.libvirt.image import STACKS as STACKS_IN_GUEST
from density_study.cluster.providers.libvirt.keys import Keys, keys_of, make_keys
from density_study.cluster.providers.libvirt.making import make_all
from density_study.cluster.providers.libvirt.proofs import prove_disks
from density_study.cluster.providers.libvirt.usage import guest_times
from density_study.cluster.providers.libvirt.virsh import Virsh
from density_study.cluster.providers.libvirt.waiting import await_guests
from density_study.cluster.providers.local.transport import LocalTransport
from density_study.cluster.providers.provider import (
    GRACE_S,
    FreeResources,
    Leftovers,
    Machine,
    NamedCheck,
    NodeTime,
    Provider,
)
from density_study.cluster.providers.ssh.build import SshBuild
from density_study.cluster.providers.ssh.channel import channel, close_channels, on_all
from density_study.cluster.providers.ssh.transport import SshTransport
from density_study.cluster.providers.stacks import moved
from density_study.cluster.render.blueprint import NodePaths
from density_study.cluster.stack import Java, ensure_all, stack_home
from density_study.cluster.stack.machine_software import THIS_MACHINE
from density_study.cluster.state.events import GuestsUp, HostReach, NodeReach
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.tags import tagged
from density_study.cluster.state.timeout_scale import EMULATED, timeout_scale

WORK = PurePosixPath(DATA)
"""The program's folder in each guest: its data disk."""


@dataclass(frozen=True)
class ImageSoftware:
    """What the topology's image has: Debian's packages. It is built first, if the cache has none."""

    topology: Topology

    def java(self, feature: int | None = None) -> Java:
        """The only one, of which studies cannot choose another release."""
        return Java(Path(JAVA_HOME), java_version(_image(self.topology)))

    def refusal(self, flags: Sequence[str], feature: int | None = None) -> str:
        """By this machine's Java: that of guests is unknown before there are guests."""
        return THIS_MACHINE.refusal(flags, feature)

    def program(self, wanted: MachineProgram) -> Mapping[str, str]:
        found: dict[str, dict[str, str]] = json.loads((_image(self.topology) / SERVERS).read_text())
        return found[wanted.package]


class LibvirtProvider(Provider[Topology]):
    """No leases: guests carry their build's tag, so several studies may use one host. Nothing is reserved on
    hosts: a build's guests have ports, memory and disks of their own, once they exist."""

    isolation = Isolation.VM
    bare = "physical"
    slowest = EMULATED
    fixed_of_network: ClassVar[Mapping[str, str]] = {
        "queues": "the queues of a guest's card are not changed; use provider container"
    }

    def checks(self, topology: Topology, tag: str) -> Iterator[NamedCheck]:
        yield f"hosts of {topology.name}", partial(self.preflight, topology, tag)
        yield (
            f"drives, bridge and huge pages of hosts of {topology.name}",
            lambda: check_hosts(topology, guests(Site(Path(), tag), topology, _cpus(topology))),
        )

    def doctor_checks(self, topology: Topology) -> Iterator[NamedCheck]:
        for host in topology.hosts:
            if host.vms is not None:
                yield f"KVM of {host.name}", partial(check_kvm_of, host)
        yield f"addresses of {topology.name}", partial(check_unused, topology)

    def free_resources(self, topology: Topology) -> Mapping[str, FreeResources]:
        """An image that outgrows its drive stops its guest."""
        return free_on_hosts(topology)

    def node_paths(self, site: Site, topology: Topology) -> NodePaths:
        data = {node.name: WORK / node.name for node in topology.nodes}
        more = {
            node.name: tuple(
                PurePosixPath(f"{WORK}-{number}") / node.name
                for number in range(2, len(node.disks) + 1)
            )
            for node in topology.nodes
        }
        folder = WORK / "builds" / site.tag
        return NodePaths(folder / "conf", folder / "logs", data, more)

    def remote_path(self, topology: Topology, path: PurePath | str) -> str:
        """A stack of the controller is in the golden image, by the name of its folder."""
        homes = [stack_home(name, topology.variant.versions) for name in _stacks_of(topology)]
        return moved(path, {home: STACKS_IN_GUEST / home.name for home in homes})

    def software(self, topology: Topology) -> ImageSoftware:
        return ImageSoftware(topology)

    def preflight(self, topology: Topology, tag: str) -> None:
        """Every libvirt answers, else StudyError; and guests have the CPUs of their network, else
        InputError. The same where CPUs cannot be divided as the study says."""
        check_cpus(topology.variant.network, min(node.cores for node in topology.nodes))
        uris = {host.name: host.vms.uri for host in topology.occupied if host.vms}
        on_all(uris, lambda _, uri: Virsh(uri).run("version"))
        guests(Site(Path(), tag), topology, _cpus(topology))

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        image = _image(topology)
        everyone = guests(site, topology, _cpus(topology))
        keys = make_keys(site, topology, journal)
        accelerations = make_all(site, journal, everyone, networks(site, topology), image, keys)
        _journal_targets(site, journal, keys, topology)
        transport = self.transport(site, journal)
        seconds = await_guests(transport, everyone, accelerations)
        journal.record(GuestsUp(tag=site.tag, seconds=seconds))
        places = self.node_paths(site, topology)
        _in_guests(site, journal).make_folders(places.all_data(topology.nodes))
        _set_networks(_in_guests(site, journal), topology)
        prove_disks(transport, everyone, places, journal)
        for host in topology.occupied:
            if host.login is not None:
                journal.record(HostReach(tag=site.tag, node=host.name, target=host.target))
        if (build := _on_hosts(site, journal)) is not None:
            build.make_folders()

    def transport(self, site: Site, journal: Journal) -> SshTransport:
        return SshTransport(site, journal, lambda: _in_guests(site, journal).place)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """Guests and their hosts; a host without an SSH login is this machine."""
        guests_ssh = self.transport(site, journal)
        found = [Machine(f"{n.name}.{n.host}", n, guests_ssh) for n in topology.nodes]
        build = _on_hosts(site, journal)
        for host in topology.occupied:
            transport: Transport = LocalTransport(site.tag, journal)
            if host.login is not None:
                assert build is not None  # made with the guests
                transport = SshTransport(site, journal, lambda: build.place)
            itself = Node(host.name, host.name, host.address, (), host.memory_mib, host.cores)
            found.append(Machine(host.name, itself, transport))
        return tuple(found)

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, NodeTime]:
        return guest_times(guests(site, topology))

    def disclose(self, topology: Topology) -> dict[str, Any]:
        """The hosts as the study knows them, and how their CPUs are pinned; what the guests have of them."""
        cpus = _cpus(topology)
        return {
            "machines": {
                host.name: {
                    "cores": host.cores,
                    "pinning": pinning(host.name in cpus, cpus.get(host.name, ())),
                    **(
                        {"huge_pages_kib": host.vms.huge_kib}
                        if host.vms and host.vms.huge_kib
                        else {}
                    ),
                }
                for host in topology.hosts
            },
            "guests": {node.name: asdict(virtio_of(topology, node)) for node in topology.nodes},
        }

    def memory_mib(self, topology: Topology) -> int:
        return sum(node.memory_mib + GUEST_OS_MIB for node in topology.nodes)

    def destroy(self, site: Site, journal: Journal) -> None:
        def remove_guests() -> None:
            close_channels()
            removal.remove_all(site, journal)
            shutil.rmtree(keys_of(site).folder, ignore_errors=True)

        up = any(event.tag == site.tag for event in journal.events(GuestsUp))
        if up and keys_of(site).folder.exists():  # else they are gone already
            _save_logs(site, journal)
        build = _on_hosts(site, journal)
        do_all(
            lambda: stop_all(tagged(site.tag), GRACE_S),
            lambda: build.destroy() if build else None,
            remove_guests,
        )

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        build, keys = _on_hosts(site, journal), keys_of(site).folder
        return (
            *removal.find_all(site, journal),
            *([str(keys)] if keys.exists() else []),
            *map(str, tagged(site.tag)),
            *(build.leftovers() if build else ()),
        )


def stacks_in_guests(store: Store) -> tuple[str, ...]:
    """Every guest has the stacks of all: clones of one image."""
    return (*store.stacks, *store.client_stacks)


def _stacks_of(topology: Topology) -> tuple[str, ...]:
    stacks = (*stacks_in_guests(topology.store), *topology.worker_stacks)
    return topology.variant.versions.with_brought(tuple(dict.fromkeys(stacks)))


def _image(topology: Topology) -> Path:
    return ensure_image(ensure_all(_stacks_of(topology), topology.variant.versions))


def _cpus(topology: Topology) -> dict[str, Cpus]:
    """For each host whose guests are pinned, as its libvirt knows them. All are queried at once."""
    uris = {
        host.name: host.vms.uri
        for host in topology.occupied
        if host.vms is not None and host.vms.vcpus == "pinned"
    }
    return on_all(uris, lambda _, uri: _cpus_at(uri))


@cache
def _cpus_at(uri: str) -> Cpus:
    """Asked once: a machine keeps its CPUs. Over SSH an answer takes a second."""
    return parse_cpus(Virsh(uri).run("capabilities"))


def _journal_targets(site: Site, journal: Journal, keys: Keys, topology: Topology) -> None:
    scale = round(timeout_scale(site.tag, journal))
    known, identity = str(keys.known_hosts), str(keys.identity)
    for node in topology.nodes:
        target = Target(node.name, node.address, 22, USER, known, identity, scale)
        journal.record(NodeReach(tag=site.tag, node=node.name, target=target))


def _in_guests(site: Site, journal: Journal) -> SshBuild:
    """The guests as hosts reached over SSH."""
    return SshBuild.known(site, journal, WORK)


def _set_networks(guests: SshBuild, topology: Topology) -> None:
    """InputError for what they cannot have, as no preflight could ask them. Nothing is put back: they go with
    the build."""
    settings = topology.variant.network.declared()

    def change(_: str, target: Target) -> None:
        ask = channel(target).act
        ask("check-network", target.address, settings)
        ask("set-network", ask("network-device", target.address), settings)
        channel(target).close()  # it has agreed on the former length of packets

    if settings:
        on_all(guests.hosts, change)


def _on_hosts(site: Site, journal: Journal) -> SshBuild | None:
    """What the build has on the guests' hosts, where monitors run too; None if SSH reaches none of them."""
    return SshBuild.of(site, journal, HostReach)


def _save_logs(site: Site, journal: Journal) -> None:
    """Fetch logs before the guests go. A failure is journalled: it must not prevent their removal."""
    try:
        _in_guests(site, journal).stop_and_fetch_logs()
    except (StudyError, OSError) as error:
        journal.write("logs-lost", tag=site.tag, message=str(error))
