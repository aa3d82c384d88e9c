"""The processes that a fault takes, on a running cluster."""

from __future__ import annotations

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import ProcessId
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.fault_under_load.victims import victims_nodes


def victims_of(context: TrialContext, fault: Fault) -> tuple[ProcessId, ...]:
    """The processes to kill: the daemon of the last node that has one, or all daemons of the last node or
    host of workers. So every repetition kills the same."""
    processes = context.cluster.processes
    nodes = victims_nodes(context.cluster.topology, fault.where)
    if nodes is not None:
        found = [one for one in processes if one.node in nodes]
    else:
        alike = [one for one in processes if one.name.startswith(fault.where)]
        found = [max(alike, key=lambda one: (one.node, one.name))] if alike else []
    if not found:
        raise StudyError(
            f"the cluster has no process of a {fault.where}.",
            context.cluster.site.root.name,
            f"{context.cluster.site.root / 'cluster.json'} lists its processes.",
        )
    return tuple(sorted(found, key=lambda one: (one.node, one.name)))
