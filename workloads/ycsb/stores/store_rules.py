"""What a setting may ask of a store. Pure."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.stores.store import Rows, store_of
from density_study.workloads.ycsb.parameters import YcsbParameters


def check_store(setting: YcsbParameters, topology: AnyTopology) -> None:
    """InputError if the store cannot do the setting honestly."""
    store = store_of(topology)
    title = store.title
    if setting.client.connections != 1 and "client" not in store.offers:
        raise _refused(setting, f"only HBase's client shares connections, not {title}'s", "client")
    if setting.variants is not None and "genomics" not in store.offers:
        raise _refused(setting, f"the variant store is of HBase alone, not of {title}", "genomics")
    if store.embedded and setting.clients > 1:
        raise _refused(setting, f"{title} is open in one client process at a time", "clients")
    if topology.given is None:
        row = setting.row
        store.check_rows(Rows(setting.id, setting.records, row.fields, row.field_length), topology)


def store_obstacle(setting: YcsbParameters, topology: AnyTopology) -> InputError | None:
    """Why the setting is left out on this topology: it moves regions, or kills daemons of Hadoop, or scans a
    store that has no order."""
    store = topology.store
    if setting.mix_facts.shares["scan"] and not store.ordered:
        return InputError(
            f"{setting.id}: {store.title} places rows by a hash of their keys: it has no scan from a key on.",
            "mixes",
            f"remove mix {setting.mix}, or let the study have a store that scans, too.",
            ("workloads",),
        )
    key = "noisy_neighbour" if setting.has_neighbour else "fault"
    if key in store.offers or not (setting.has_neighbour or setting.fault):
        return None
    return _refused(setting, f"{store.title} has no RegionServers for it", key)


def _refused(setting: YcsbParameters, why: str, key: str) -> InputError:
    return InputError(
        f"{setting.id}: {why}.",
        key,
        f"remove `{key}`, or the store.",
        ("workloads",),
    )
