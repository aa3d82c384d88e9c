"""Provider `libvirt`: VMs on each host, linked clones of the project's golden image."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import PurePath, PurePosixPath
from typing import Any

from cluster.model.cluster import Site
from cluster.model.errors import StudyError
from cluster.model.memory import GUEST_OS_MIB
from cluster.model.topology import Node, Topology
from cluster.providers.libvirt import removal
from cluster.providers.libvirt.accel import find_acceleration
from cluster.providers.libvirt.guest import DATA, JAVA_HOME, USER
from cluster.providers.libvirt.guests import Guest, guests, networks
from cluster.providers.libvirt.hosts import (
    clear_hosts,
    host_transport,
    leftovers_on_hosts,
    make_ready,
)
from cluster.providers.libvirt.image import STACKS as STACKS_IN_GUEST
from cluster.providers.libvirt.image import Image, ensure_image, home_in_guest, jars_in_guest
from cluster.providers.libvirt.keys import Keys, keys_of, make_keys, remove_keys
from cluster.providers.libvirt.making import Maker
from cluster.providers.libvirt.proving import prove_disks
from cluster.providers.libvirt.store import store
from cluster.providers.libvirt.usage import guest_times
from cluster.providers.libvirt.virsh import Virsh
from cluster.providers.libvirt.waiting import await_guests
from cluster.providers.provider import (
    Guests,
    Leftovers,
    Machine,
    Paths,
    Preflight,
    Provider,
    VcpuTime,
)
from cluster.providers.ssh.build import SshBuild
from cluster.providers.ssh.channel import close_channels
from cluster.providers.ssh.target import Target, target_from_json, target_to_json
from cluster.providers.ssh.transport import SshTransport
from cluster.providers.stacks import Stacks
from cluster.render.blueprint import InstallDirs, NodePaths
from cluster.stack import ensure_all, stack_home
from cluster.state.events import Acceleration, GuestsUp, NodeReach
from cluster.state.journal import Journal
from cluster.state.timeout_scale import timeout_scale

BOOT_LIMIT_S = {"kvm": 120.0, "tcg": 600.0}
STACKS = ("hadoop", "hbase", "ycsb")
WORK = PurePosixPath(DATA)
"""The program's folder in each guest: its data disk."""


class LibvirtProvider(Provider, Paths, Preflight, Guests):
    """Without `Leases`: guests carry their build's tag, so several studies may use one host. Without
    `Capacity`: a build's guests have ports, memory and disks of their own, once they exist."""

    def node_paths(self, site: Site, topology: Topology) -> NodePaths:
        data = {node.name: WORK / node.name for node in topology.nodes}
        folder = WORK / "builds" / site.tag
        return NodePaths(conf=folder / "conf", logs=folder / "logs", data=data)

    def remote_path(self, topology: Topology, path: PurePath | str) -> str:
        """A stack of the controller is in the golden image, by the name of its folder."""
        given = PurePath(path)
        for name in STACKS:
            home = stack_home(name)
            if given.is_relative_to(home):
                return str(STACKS_IN_GUEST / home.name / given.relative_to(home))
        return str(path)

    def install_dirs(self, topology: Topology, stacks: Stacks) -> InstallDirs:
        return InstallDirs(
            java=PurePosixPath(JAVA_HOME),
            hadoop=home_in_guest(stacks.hadoop),
            hbase=home_in_guest(stacks.hbase),
            hadoop_classpath=(*jars_in_guest(stacks.hadoop), str(home_in_guest(stacks.hadoop))),
            hbase_classpath=(*jars_in_guest(stacks.hbase), str(home_in_guest(stacks.hbase))),
        )

    def preflight(self, topology: Topology, tag: str) -> None:
        """Every libvirt answers. StudyError otherwise."""
        for host in topology.hosts:
            if host.vms is not None:
                Virsh(host.vms.uri).run("version")

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        image = ensure_image(ensure_all(STACKS))
        everyone = guests(site, topology)
        keys = make_keys(site, topology, journal)
        names = {node.address: node.name for node in topology.nodes}
        by_uri: dict[str, list[Guest]] = defaultdict(list)
        for guest in everyone:
            by_uri[guest.vms.uri].append(guest)
        found: dict[str, Acceleration] = {}
        for uri, theirs in by_uri.items():
            network = networks(site, topology)[uri]
            found[uri] = _make(site, journal, image, keys, uri, theirs, network, names)
        _journal_targets(site, journal, keys, topology)
        limits_s = {uri: BOOT_LIMIT_S[acceleration.accel] for uri, acceleration in found.items()}
        transport = self.transport(site, journal)
        seconds = await_guests(transport, everyone, limits_s)
        journal.record(GuestsUp(tag=site.tag, seconds=seconds))
        places = self.node_paths(site, topology)
        _in_guests(site, journal).make_folders(topology.nodes, places)
        prove_disks(transport, topology, places, journal)
        make_ready(site, topology, journal)

    def transport(self, site: Site, journal: Journal) -> SshTransport:
        return SshTransport(site, journal, lambda: _in_guests(site, journal).place)

    def machines(self, site: Site, topology: Topology, journal: Journal) -> tuple[Machine, ...]:
        """Guests and their hosts; a host without an SSH login is this machine."""
        guests_ssh = self.transport(site, journal)
        found = [Machine(f"{n.name}.{n.host}", n, guests_ssh) for n in topology.nodes]
        used = {node.host for node in topology.nodes}
        for host in (one for one in topology.hosts if one.name in used):
            itself = Node(host.name, host.name, host.address, (), host.memory_mib, host.cores)
            found.append(Machine(host.name, itself, host_transport(host, site, journal)))
        return tuple(found)

    def guest_times(self, site: Site, topology: Topology) -> Mapping[str, VcpuTime]:
        return guest_times(guests(site, topology))

    def disclose(self, topology: Topology) -> dict[str, Any]:
        """The hosts as the study knows them; what the guests are follows from the topology."""
        return {"machines": {host.name: {"cores": host.cores} for host in topology.hosts}}

    def memory_mib(self, topology: Topology) -> int:
        return sum(node.memory_mib + GUEST_OS_MIB for node in topology.nodes)

    def destroy(self, site: Site, journal: Journal) -> Leftovers:
        up = any(event.tag == site.tag for event in journal.events(GuestsUp))
        if up and keys_of(site).folder.exists():  # else they are gone already
            _save_logs(site, journal)
        clear_hosts(site, journal)
        close_channels()
        for uri in removal.uris_of(site, journal):
            removal.remove(Virsh(uri), site.tag, journal)
        remove_keys(site)
        return self.leftovers(site, journal)

    def leftovers(self, site: Site, journal: Journal) -> Leftovers:
        found = [removal.find(Virsh(uri), site.tag) for uri in removal.uris_of(site, journal)]
        keys = keys_of(site).folder
        ours = Leftovers(
            machines=tuple(one for ours in found for one in ours.named),
            directories=(str(keys),) if keys.exists() else (),
        )
        return Leftovers.joined(ours, leftovers_on_hosts(site, journal))


def provider() -> LibvirtProvider:
    return LibvirtProvider()


def _make(
    site: Site,
    journal: Journal,
    image: Image,
    keys: Keys,
    uri: str,
    theirs: list[Guest],
    network: tuple[str, str, str | None],
    names: dict[str, str],
) -> Acceleration:
    """All of one libvirt's guests, defined and started."""
    virsh = Virsh(uri)
    stored = store(virsh, theirs[0].vms.images, image, journal, site.tag)
    found = find_acceleration(virsh, site, journal, stored.kernel)
    maker = Maker(virsh, site, journal)
    maker.network(*network)
    maker.pools(theirs)
    for guest in theirs:
        maker.volumes(guest, stored, keys, names)
        maker.domain(guest, found.accel, stored)
    for guest in theirs:
        maker.start(guest)
    return found


def _journal_targets(site: Site, journal: Journal, keys: Keys, topology: Topology) -> None:
    limits = round(timeout_scale(site.tag, journal))
    known, identity = str(keys.known_hosts), str(keys.identity)
    for node in topology.nodes:
        target = Target(node.name, node.address, 22, USER, known, identity, limits)
        journal.record(NodeReach(tag=site.tag, node=node.name, target=target_to_json(target)))


def _in_guests(site: Site, journal: Journal) -> SshBuild:
    """The guests as hosts reached over SSH."""
    return SshBuild(site, journal, _targets(site, journal), WORK)


def _save_logs(site: Site, journal: Journal) -> None:
    """Fetch logs before the guests go. A failure is journalled: it must not prevent their removal."""
    try:
        _in_guests(site, journal).stop_and_fetch_logs()
    except (StudyError, OSError) as error:
        journal.write("logs-lost", tag=site.tag, message=str(error))


def _targets(site: Site, journal: Journal) -> dict[str, Target]:
    reaches = (event for event in journal.events(NodeReach) if event.tag == site.tag)
    return {reach.node: target_from_json(reach.target) for reach in reaches}
