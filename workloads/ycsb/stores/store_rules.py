"""What a test case may ask of a store. Pure."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.stores.store import Rows, store_of
from density_study.workloads.ycsb.parameters import YcsbParameters


def check_store(test_case: YcsbParameters, topology: AnyTopology) -> None:
    """InputError if the store cannot do the test case honestly."""
    store = store_of(topology)
    title = store.title
    if test_case.client.connections != 1 and "client" not in store.offers:
        raise _refused(
            test_case, f"only HBase's client shares connections, not {title}'s", "client"
        )
    if test_case.variants is not None and "genomics" not in store.offers:
        raise _refused(
            test_case, f"the variant store exists only for HBase, not for {title}", "genomics"
        )
    if test_case.row.shortest_field is not None and store.write_once:
        raise _refused(test_case, f"rows of {title} have one length", "row.shortest_field")
    if store.embedded and test_case.clients > 1:
        raise _refused(test_case, f"{title} is open in one client process at a time", "clients")
    if topology.existing is None:
        row = test_case.row
        store.check_rows(
            Rows(test_case.id, test_case.records, row.fields, row.field_length), topology
        )


def check_copies(test_case: YcsbParameters, topology: AnyTopology) -> None:
    """InputError if a table cannot be copied for later builds, or if that would change what is measured."""
    if not test_case.load_once:
        return
    provider, store = topology.provider, store_of(topology)
    why = ""
    if not (provider.keeps_folders or provider.simulates):
        outlive = "do not outlive a build; those of local and physical do"
        why = f"folders of provider {topology.provider} {outlive}"
    elif not store.restores:
        why = f"only HBase's tables are copied, not those of {store.title}"
    elif not test_case.until_steady:
        why = "servers that loaded a table are warmer than others, unless warm_up_daemons is steady"
    if why:
        raise InputError(
            f"{test_case.id}: {why}.", "load_once", "remove `load_once`.", ("workloads",)
        )


def store_obstacle(test_case: YcsbParameters, topology: AnyTopology) -> InputError | None:
    """Why the test case is left out on this topology: it moves regions, or kills daemons of Hadoop, or scans
    a store that has no order, or writes to one that is only read."""
    store, shares = topology.store, test_case.mix_facts.shares
    if store.write_once and shares["read"] + shares["scan"] < 1:
        return InputError(
            f"{test_case.id}: {store.title} are only read.",
            "mixes",
            f"replace mix {test_case.mix} by c, or by one of your own with reads and scans.",
            ("workloads",),
        )
    if shares["scan"] and not store.ordered:
        return InputError(
            f"{test_case.id}: {store.title} places rows by a hash of keys: it has no scan from a key on.",
            "mixes",
            f"remove mix {test_case.mix}, or let the study also have a store that scans.",
            ("workloads",),
        )
    key = "noisy_neighbour" if test_case.has_neighbour else "fault"
    is_act = test_case.fault is not None and test_case.fault.act is not None  # it has its own rule
    if key in store.offers or is_act or not (test_case.has_neighbour or test_case.fault):
        return None
    return _refused(test_case, f"{store.title} has no RegionServers for it", key)


def _refused(test_case: YcsbParameters, why: str, key: str) -> InputError:
    return InputError(
        f"{test_case.id}: {why}.", key, f"remove `{key}`, or the store.", ("workloads",)
    )
