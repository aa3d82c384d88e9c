"""What a setting may ask of a store other than HBase. Pure."""

from __future__ import annotations

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.render.store_daemons import redis_data_mib
from density_study.workloads.ycsb.parameters import YcsbParameters

# Measured with 10 fields of 100 bytes: 2.05 KiB a row, with its key in the index.
REDIS_ROW_BYTES = 250
REDIS_FIELD_BYTES = 95


def check_store(setting: YcsbParameters, topology: Topology) -> None:
    """InputError if the store cannot do the setting honestly."""
    store = topology.store
    if store.is_hbase:
        return
    title = store.facts.title
    if setting.client.connections != 1:
        raise _refused(setting, f"only HBase's client shares connections, not {title}'s", "client")
    if setting.variants is not None:
        raise _refused(setting, f"the variant store is of HBase alone, not of {title}", "genomics")
    if store.facts.embedded and setting.clients > 1:
        raise _refused(setting, f"{title} is open in one client process at a time", "clients")
    if store.name in ("redis", "redis-cluster") and topology.given is None:
        _check_redis_memory(setting, topology)


def store_obstacle(setting: YcsbParameters, topology: Topology) -> InputError | None:
    """Why the setting is left out on this topology: it moves regions, or kills daemons of Hadoop, or scans a
    store that has no order."""
    facts = topology.store.facts
    if setting.mix_facts.shares["scan"] and not facts.ordered:
        return InputError(
            f"{setting.id}: {facts.title} places rows by a hash of their keys: it has no scan from a key on.",
            "mixes",
            f"remove mix {setting.mix}, or let the study have a store that scans, too.",
            ("workloads",),
        )
    if topology.store.is_hbase or not (setting.has_neighbour or setting.fault):
        return None
    key = "noisy_neighbour" if setting.has_neighbour else "fault"
    return _refused(setting, f"{facts.title} has no RegionServers for it", key)


def redis_need_mib(setting: YcsbParameters) -> float:
    """Memory of the loaded rows."""
    row = setting.row
    return (
        setting.records
        * (REDIS_ROW_BYTES + row.fields * (row.field_length + REDIS_FIELD_BYTES))
        / 2**20
    )


def _check_redis_memory(setting: YcsbParameters, topology: Topology) -> None:
    """Each shard has an equal part of the rows."""
    need_mib = redis_need_mib(setting) / len(topology.workers)
    for worker in topology.workers:
        if need_mib > redis_data_mib(worker):
            raise InputError(
                f"{setting.id}: Redis keeps all rows in memory; those of a server take {need_mib:.0f} MiB, "
                f"and {worker.name} has {redis_data_mib(worker)} MiB for them.",
                "records",
                "load fewer or smaller rows, or give the host more memory.",
                ("workloads",),
            )


def _refused(setting: YcsbParameters, why: str, key: str) -> InputError:
    return InputError(
        f"{setting.id}: {why}.",
        key,
        f"remove `{key}`, or the store.",
        ("workloads",),
    )
