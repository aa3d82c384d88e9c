"""Which acts a topology allows. Pure."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology, ExistingTopology
from density_study.cluster.stores.act import Act
from density_study.cluster.stores.store import acts_named, store_of
from density_study.workloads.base.fault import Fault


def act_on(topology: AnyTopology, name: str) -> Act | None:
    """The act as the topology's store knows it; None if it does not."""
    return next((act for act in store_of(topology).acts if act.name == name), None)


def lasts(name: str) -> bool:
    """Whether an act of this name changes the cluster for good."""
    return any(act.lasting for act in acts_named(name))


def cannot_act(test_case_id: str, fault: Fault, topology: AnyTopology) -> InputError | None:
    """Why there is no such act on the topology; None if there is."""
    why, remedy = _refusal(str(fault.act), topology)
    if not why:
        return None
    return InputError(
        f"{test_case_id}: {why}.", "act", f"{remedy}; or remove the act.", ("workloads",)
    )


def _refusal(name: str, topology: AnyTopology) -> tuple[str, str]:
    """(why, remedy); empty if it can be done."""
    if isinstance(topology, ExistingTopology):
        return "nothing is done to an existing cluster", "let the study build a cluster"
    act, store = act_on(topology, name), topology.store
    if act is None:
        return f"{store.title} has no {name}", "add a store that has it"
    if store.durability in act.not_at:
        return f"{store.words}, has no {name}", "choose another durability"
    servers = sum(len(worker.regionserver_names) for worker in topology.workers)
    if servers < act.least_servers:
        return f"it needs {act.least_servers} RegionServers", "add a density of 2 or more"
    if act.empties and len(topology.workers) <= topology.replication:
        return (
            "no topology has a worker that could take the blocks of the one that leaves",
            "add a density with more workers than stack.replication",
        )
    return "", ""
