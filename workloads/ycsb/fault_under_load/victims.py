"""Which nodes a fault takes, and whether the cluster can go on without them. Pure."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology, ExistingTopology, Placed, Topology
from density_study.workloads.base.fault import Fault, Killed


def victims_nodes(topology: Placed, kill: Killed) -> frozenset[str] | None:
    """Names of the nodes that a fault of a node or host takes; empty if none can be; None: it kills a daemon.
    Nodes and hosts with a master or a client stay: without them there is no cluster, and no trial."""
    if kill not in ("node", "host"):
        return None
    needed = {node.name for node in topology.nodes if {"master", "client"} & set(node.roles)}
    if kill == "node":
        able = [node.name for node in topology.workers if node.name not in needed]
        return frozenset(able[-1:])
    kept = {node.host for node in topology.nodes if node.name in needed}
    hosts = [node.host for node in topology.workers if node.host not in kept]
    return frozenset(node.name for node in topology.nodes if hosts and node.host == hosts[-1])


def cannot_recover(test_case_id: str, fault: Fault, topology: AnyTopology) -> InputError | None:
    """Why the cluster could not work without what is killed; None if it can."""
    if isinstance(topology, ExistingTopology):
        return InputError(
            f"{test_case_id}: nothing is done to an existing cluster.",
            "fault",
            "remove `fault`, or let the study build a cluster.",
            ("workloads",),
        )
    found = _impossible(fault, topology) or _weakness(fault, topology)
    if found is None:
        return None
    why, remedy = found
    return InputError(
        f"{test_case_id}: {why}.",
        "fault",
        f"{remedy}; or remove `fault`.",
        ("factors", "vms_per_host"),
    )


def _impossible(fault: Fault, topology: Topology) -> tuple[str, str] | None:
    """(why this provider cannot do it, remedy)."""
    provider = topology.provider
    if fault.cut is not None and not provider.cuts_hosts:
        why = (
            "its nodes share this machine's loopback, and nothing between them can be cut"
            if topology.isolation.facts.on_loopback
            else f"the provider {topology.provider} cuts off no guests"
        )
        return why, "use provider physical"
    if fault.slow_disk is not None and not provider.slows_disks:
        return (
            "only processes of this machine have a group whose disk can be slowed down",
            "use provider local",
        )
    return None


def _weakness(fault: Fault, topology: Topology) -> tuple[str, str] | None:
    """(why the cluster cannot go on, remedy)."""
    nodes = victims_nodes(topology, fault.where)
    left = [worker for worker in topology.workers if not nodes or worker.name not in nodes]
    if nodes is not None and not nodes:
        return (
            f"no topology has a {fault.where} with only workers",
            "add a host with the role worker only"
            if fault.where == "host"
            else "give the roles master and client to other nodes",
        )
    if fault.slow_disk is not None:
        return None
    servers = sum(len(worker.regionserver_names) for worker in left)
    one_less = fault.kill == "regionserver"
    if (nodes is not None or one_less) and servers - one_less < 1:
        return (
            "no topology has a second RegionServer, which would take the regions over",
            "add a density of 2 or more, or regionservers_per_node: [2]",
        )
    stores = fault.kill == "datanode" or nodes is not None
    if stores and (topology.replication < 2 or len(topology.workers) < 3):
        return (
            "no topology has two replicas of each block on three or more workers, so that writes "
            "go on without one",
            "set stack.replication: 2, and add a density with three or more workers",
        )
    return None
