"""The properties of one YCSB client, rendered from its setting. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.model.cluster import Cluster
from density_study.workloads.ycsb.setting import INT_MAX, YcsbSetting

FAMILY = "f"
# YCSB's client, which warms up its JVM before its schedule starts.
MAIN = "org.densitystudy.ycsb.WarmClient"
DB = "org.densitystudy.ycsb.HBaseClient"
# Wraps DB in closed loops, including loads: measures the client's own time between two operations.
THINK_TIMED = "org.densitystudy.ycsb.ThinkTimed"
# CoreWorkload, whose keys depend on the loaded rows alone.
CORE = "org.densitystudy.ycsb.StudyWorkload"
# Wraps another workload, and does its operations at a rate that changes with time.
SCHEDULED = "org.densitystudy.ycsb.ScheduledWorkload"
KEY_DIGITS = len(str(INT_MAX))
"""Of keys in order: with leading zeros, their order as text is that of the records."""
INSERTS = "inserts.txt"
"""End of the name of a client's log of acknowledged inserts, in a trial with a fault."""
CLIENT = "ycsb"
"""Start of the names of a trial's clients."""
PERCENTILES = "50,90,95,99,99.9"


def table_of(setting: YcsbSetting) -> str:
    """One table per number of records, shared by all mixes. Noisy-neighbour trials confine their regions to
    one node and have a table of their own; so does each variant store."""
    if setting.variants is not None:
        return setting.variants.table
    row = f"_{setting.row.name}" if setting.row.name else ""
    order = f"_{setting.insert_order}" if setting.insert_order != "hashed" else ""
    return f"usertable_{setting.records}{row}{order}{'_confined' if setting.has_neighbour else ''}"


def table_on(cluster: Cluster, setting: YcsbSetting) -> str:
    """`table_of`, in the namespace that a given cluster has for the study."""
    given = cluster.topology.given
    if given is None or given.endpoint is not None:
        return table_of(setting)
    return f"{given.namespace}:{table_of(setting)}"


def operations_at_most(setting: YcsbSetting) -> int:
    """Operations of one client: all records of a load. A timed run ends by its time, so it gets as many as
    YCSB can count; no key depends on them."""
    return setting.records if setting.duration_s is None else INT_MAX


def client_name(number: int, stem: str = CLIENT) -> str:
    """`number` counts the clients of a trial, or of what `stem` names, from 1."""
    return f"{stem}-{number}"


def loaded_rows(setting: YcsbSetting, number: int = 1) -> tuple[int, int]:
    """(first record, number of records) that client `number` loads: adjacent, disjoint ranges."""
    return _part(setting.records, setting.clients, number)


def threads_share(setting: YcsbSetting, number: int = 1) -> int:
    """Threads of client `number`; the shares of all clients add up to the setting's threads."""
    return _part(setting.threads, setting.clients, number)[1]


def target_share(setting: YcsbSetting, number: int = 1) -> int | None:
    """Whole operations per second for client `number`; the shares of all clients add up to the target."""
    if setting.target_ops_s is None:
        return None
    return _part(round(setting.target_ops_s), setting.clients, number)[1]


def _part(total: int, clients: int, number: int) -> tuple[int, int]:
    # of running totals: parts differ by at most 1, and add up without a remainder
    begin, end = (total * n // clients for n in (number - 1, number))
    return begin, end - begin


def client_arguments(
    setting: YcsbSetting,
    hdr_prefix: str,
    number: int = 1,
    shares: Mapping[str, float] | None = None,
    table: str | None = None,
    db: str = DB,
    of_store: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Arguments of MAIN, which are those of site.ycsb.Client. hbase-site.xml on the class path has HBase's
    address.

    `hdr_prefix` is the prefix of each interval log's path. `number` counts the trial's clients from 1.
    `shares` of operations override those of the setting's mix, and `table` the name of its table. `db` and
    `of_store` are the store's DB and properties.
    """
    timed = (setting.is_saturation or setting.is_load) and shares is None
    arguments = [
        "-db",
        THINK_TIMED if timed else db,
        "-s",
        "-threads",
        str(threads_share(setting, number)),
    ]
    arguments.append("-load" if setting.is_load else "-t")
    target = target_share(setting, number)
    if target is not None and setting.phase is None:
        arguments += ["-target", str(target)]
    mix = (shares or setting.mix_facts.shares).items()
    properties = {f"{operation}proportion": str(share) for operation, share in mix}
    properties |= {**_properties(setting, hdr_prefix), **_of_several(setting, number)}
    properties |= {"table": table or table_of(setting), **(of_store or {})}
    if setting.fault is not None and shares is None:
        properties["inserts.log"] = f"{hdr_prefix}{INSERTS}"
    if setting.phase is not None:
        properties |= _scheduled(setting, hdr_prefix, properties["workload"])
    if setting.clients > 1:
        properties["client.barrier"] = hdr_prefix
    if timed:
        properties["think.timed.db"] = db
    for key, value in sorted(properties.items()):
        arguments += ["-p", f"{key}={value}"]
    return tuple(arguments)


def _scheduled(setting: YcsbSetting, prefix: str, workload: str) -> dict[str, str]:
    """Rates that change with time. The clients have equal parts of each."""
    if setting.phase is None or setting.target_ops_s is None:
        raise ValueError(f"{setting.id}: its rates are not known yet")
    highest_ops_s = setting.target_ops_s / setting.clients
    return {
        "workload": SCHEDULED,
        "schedule.workload": workload,
        "schedule.pieces": setting.phase.schedule(highest_ops_s, setting.warm_up_s),
        "schedule.log": f"{prefix}schedule.csv",
    }


def _of_several(setting: YcsbSetting, number: int) -> dict[str, str]:
    """Properties that keep the clients of one trial from overwriting each other's rows (method 12).

    A load is divided into ranges. All runs would insert from `recordcount` on: instead each client inserts
    every n-th key, and never reads those of another client, which may not have been written yet.
    """
    if setting.clients == 1:
        return {}
    if setting.is_load:
        start, count = loaded_rows(setting, number)
        return {"insertstart": str(start), "insertcount": str(count)}
    return {"client.number": str(number - 1), "client.count": str(setting.clients)}


def _properties(setting: YcsbSetting, hdr_prefix: str) -> dict[str, str]:
    properties = {
        "workload": CORE,
        "recordcount": str(setting.records),
        "fieldcount": str(setting.row.fields),
        "fieldlength": str(setting.row.field_length),
        "operationcount": str(operations_at_most(setting)),
        **setting.distribution.properties(),
        "maxscanlength": str(setting.max_scan_length),
        "scanlengthdistribution": setting.scan_length_distribution,
        "columnfamily": FAMILY,
        "measurementtype": "hdrhistogram",
        "measurement.interval": "op" if setting.target_ops_s is None else "both",
        "hdrhistogram.percentiles": PERCENTILES,
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": hdr_prefix,
        "status.interval": "1",
        **(setting.variants.properties() if setting.variants is not None else {}),
    }
    if setting.client.connections != 1:
        properties["hbase.connections"] = str(setting.client.connections)
    if setting.min_scan_length != 1:
        properties["minscanlength"] = str(setting.min_scan_length)
    if setting.insert_order == "ordered":
        properties |= {"insertorder": "ordered", "zeropadding": str(KEY_DIGITS)}
    if setting.warm_up_client_s:
        properties["client.warmup.s"] = str(round(setting.warm_up_client_s))
    if setting.duration_s is not None:
        properties["maxexecutiontime"] = str(round(setting.duration_s))
    return properties
