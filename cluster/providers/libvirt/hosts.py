"""The hosts of guests: monitors run on them, too, over SSH or, if the host is this machine, directly."""

from __future__ import annotations

from pathlib import PurePath

from cluster.machine.processes import stop_all
from cluster.model.cluster import Site
from cluster.model.host import Host
from cluster.model.topology import Topology
from cluster.model.transport import Transport
from cluster.providers.local.transport import LocalTransport
from cluster.providers.provider import Leftovers
from cluster.providers.ssh.build import SshBuild
from cluster.providers.ssh.stack_copies import work_folder
from cluster.providers.ssh.target import Target, target_from_json, target_to_json
from cluster.providers.ssh.transport import SshTransport
from cluster.render.blueprint import NodePaths
from cluster.state.events import HostReach
from cluster.state.journal import Journal
from cluster.state.tags import tagged

GRACE_S = 2.0


def make_ready(site: Site, topology: Topology, journal: Journal) -> None:
    """Create the build's folder and the toolkit on every host with an SSH login. Journalled first."""
    used = {node.host for node in topology.nodes}
    for host in topology.hosts:
        if host.login is not None and host.name in used:
            login = host.login
            target = Target(host.name, host.address, login.port, login.user, login.known_hosts)
            work = str(work_folder(login.user))
            journal.record(HostReach(tag=site.tag, target=target_to_json(target), work=work))
    build = _build(site, journal)
    if build is not None:
        nothing = PurePath(build.folder)
        build.make_folders((), NodePaths(nothing, nothing, {}))


def host_transport(host: Host, site: Site, journal: Journal) -> Transport:
    if host.login is None:
        return LocalTransport(site.tag, journal)
    build = _build(site, journal)
    assert build is not None  # made ready when the guests were
    return SshTransport(site, journal, lambda: build.place)


def clear_hosts(site: Site, journal: Journal) -> None:
    """Remove what the build has on the hosts themselves."""
    stop_all(tagged(site.tag), GRACE_S)
    build = _build(site, journal)
    if build is not None:
        build.destroy()


def leftovers_on_hosts(site: Site, journal: Journal) -> Leftovers:
    """What `clear_hosts` would remove: processes here, and everything on hosts reached over SSH."""
    here = tuple(f"process {p.pid} ({p.name} on {p.node or '-'})" for p in tagged(site.tag))
    build = _build(site, journal)
    on_hosts = Leftovers() if build is None else build.leftovers()
    return Leftovers.joined(Leftovers(processes=here), on_hosts)


def _build(site: Site, journal: Journal) -> SshBuild | None:
    """The build's hosts according to its journal; None if none is reached over SSH."""
    reaches = [event for event in journal.events(HostReach) if event.tag == site.tag]
    if not reaches:
        return None
    reach = {event.target["host"]: target_from_json(event.target) for event in reaches}
    return SshBuild(site, journal, reach, PurePath(reaches[-1].work))
