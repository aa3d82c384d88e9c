"""What clusters need before anything is built: programs, jars, configurations that they understand, and a
network that no other user enters. Starts nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from density_study.cluster.lifecycle.variant_checks import (
    check_jvm_flags,
    check_properties,
    check_versions,
)
from density_study.cluster.machine.other_users.people import other_people
from density_study.cluster.model.configuration import PLAIN
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Host
from density_study.cluster.model.topology import AnyTopology, ExistingTopology, Topology
from density_study.cluster.model.versions import Versions
from density_study.cluster.providers.existing.placing import existing_provider
from density_study.cluster.providers.provider import NamedCheck, provider_of, software_of
from density_study.cluster.providers.ssh.acting import act_on
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.render.names import check_path
from density_study.cluster.stack import ensure, ensure_all
from density_study.cluster.stack.java import find_java
from density_study.cluster.stack.recipes import further_recipes
from density_study.cluster.state.limits import check_temporary
from density_study.cluster.stores.store import store_of


def exposed(topologies: Iterable[AnyTopology]) -> str:
    """Who else on this machine could run programs as this user while clusters stand, by its daemons, which
    ask for no password; empty if nobody could."""
    made_by = {one.provider.name: provider_of(one) for one in topologies}
    why = [found for _, one in sorted(made_by.items()) if (found := one.reachable_because())]
    if not why or not (people := other_people()):
        return ""
    return (
        f"the cluster has no network of its own ({why[0]}): {people} could use its daemons, and run programs "
        "as this user by YARN. Run the study on a machine of your own"
    )


def software(topologies: Sequence[Topology], usual: Versions) -> Iterator[NamedCheck]:
    """Programs and jars of clusters that are built, and configurations that they understand. `usual`: the
    versions that need no name."""
    for topology in {topology.store: topology for topology in topologies}.values():
        if topology.store.own_software:
            yield topology.store.title, partial(_ensure_store, topology)
    here = any(one.provider.here for one in topologies)
    for versions in dict.fromkeys(topology.variant.versions for topology in topologies):
        name = "Java, Hadoop, HBase and YCSB" if versions == usual else str(versions)
        yield name, partial(ensure_software, versions, here=here)
    for stack in dict.fromkeys(one for topology in topologies for one in topology.worker_stacks):
        if stack in further_recipes():  # the others are already there
            yield stack, partial(ensure, stack)
    for topology in topologies:
        if topology.variant.configuration != PLAIN:
            yield f"configuration of {topology.name}", partial(check_configuration, topology)
    by_provider = {topology.provider: topology for topology in topologies}
    if len(by_provider) > 1:
        check = partial(check_one_java, tuple(by_provider.values()))
        yield "one release of Java, divided or not", check


def ensure_software(versions: Versions, here: bool = True) -> None:
    """The three stacks, assembled unless they are in the cache; and Java, where nodes are `here`. InputError
    if one is missing."""
    check_versions([versions])
    if here:
        check_path(find_java().home, "JAVA_HOME")
        check_temporary()
        ensure_stacks(versions)
    else:
        ensure_all(versions.with_brought(("hadoop", "hbase", "ycsb")), versions)


def check_configuration(topology: Topology) -> None:
    """InputError for a property or a JVM flag that the variant's software does not know."""
    check_properties(topology)
    check_jvm_flags(topology)


def check_one_java(topologies: Sequence[Topology]) -> None:
    """InputError if the bare host and its guests have different releases of Java: that would be a second
    factor."""
    found = {one.name: software_of(one).java() for one in topologies}
    if len({java.feature for java in found.values()}) > 1:
        raise InputError(
            "the bare host and its VMs have different releases of Java: "
            f"{', '.join(f'{java.version} ({name})' for name, java in found.items())}.",
            "factors, key vms_per_host",
            "let JAVA_HOME or `java` of the hosts be the VMs' release, or remove 0 from vms_per_host.",
            ("factors", "vms_per_host"),
        )


def _ensure_store(topology: Topology) -> None:
    ensure_all(topology.store.client_stacks)
    store_of(topology).software(software_of(topology))


COUNTED = {
    "pressure": ("pressure stall information", "boot it with psi=1"),
    "energy": (
        "energy",
        "use a bare host whose /sys/class/powercap or power meter this user may read",
    ),
}
"""Telemetry devices that some hosts do not have: what a host does not count, and what to do about it."""


def check_device(device: str, host: Host) -> None:
    """InputError if the host does not count what the device samples. A host that nobody can ask is not
    checked."""
    what, remedy = COUNTED[device]
    act = act_on(host)
    if fault := act and act(device):
        raise InputError(
            f"the host has no {what}: {fault}.",
            f"host {host.name!r}, monitor.also {device}",
            f"{remedy}, or remove the device.",
        )


def check_existing(topology: ExistingTopology, needed_mib: int, for_s: float) -> None:
    """InputError if the cluster does not answer, or has no room for `needed_mib` or no login for `for_s`."""
    provider = existing_provider(topology)
    provider.check_existing(topology, needed_mib, for_s)
    ensure_software(provider.versions(topology))
