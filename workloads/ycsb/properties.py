"""The properties of one YCSB client, rendered from its test case. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from density_study.cluster.model.cluster import Cluster
from density_study.workloads.base.values import FIRST_TURN_AFTER_S, Turns
from density_study.workloads.ycsb.test_case import INT_MAX, YcsbTestCase

FAMILY = "f"
# YCSB's client, which warms up its JVM before its schedule starts.
MAIN = "org.densitystudy.ycsb.WarmClient"
DB = "org.densitystudy.ycsb.HBaseClient"
# Wraps DB in closed loops, including loads: measures the client's own time between two operations.
THINK_TIMED = "org.densitystudy.ycsb.ThinkTimed"
# CoreWorkload, whose keys depend only on the loaded rows.
CORE = "org.densitystudy.ycsb.StudyWorkload"
# Wraps another workload, and does its operations at a rate that changes with time.
SCHEDULED = "org.densitystudy.ycsb.ScheduledWorkload"
# Wraps another workload, and works only in its turns.
TURNS = "org.densitystudy.ycsb.TurnsWorkload"
KEY_DIGITS = len(str(INT_MAX))
"""For keys in order: with leading zeros, their order as text is that of the records."""
INSERTS = "inserts.txt"
"""End of the name of a client's log of acknowledged inserts, in a trial with a fault."""
CLIENT = "ycsb"
"""Start of the names of a trial's clients."""
WARM_ROWS = 100_000
"""Rows that each thread of a warm-up inserts, at most: at 5,000 a second for 20 s, as C1 needs by itself, and
at 1,000 for longer than both compilers."""
PERCENTILES = "50,90,95,99,99.9"


def table_of(test_case: YcsbTestCase) -> str:
    """One table per number of records, shared by all mixes. Noisy-neighbour trials confine their regions to
    one node and have a table of their own; so does each variant store."""
    return test_case.table


def table_on(cluster: Cluster, test_case: YcsbTestCase) -> str:
    """`table_of`, in the namespace that an existing cluster has for the study."""
    existing = cluster.topology.existing
    if existing is None or existing.endpoint is not None:
        return table_of(test_case)
    return f"{existing.namespace}:{table_of(test_case)}"


def operations_at_most(test_case: YcsbTestCase) -> int:
    """Operations of one client: all records of a load. A timed run ends by its time, so it gets as many as
    YCSB can count; no key depends on them."""
    return test_case.records if test_case.duration_s is None else INT_MAX


def rows_to_insert(test_case: YcsbTestCase) -> int:
    """The records. For a load that ends by its time, which warms up servers: more, or a small table would be
    full before compilers rest."""
    warms_up = test_case.is_load and test_case.duration_s is not None
    if not warms_up or test_case.variants is not None:
        return test_case.records
    return min(INT_MAX, max(test_case.records, WARM_ROWS * test_case.threads))


def client_name(number: int, stem: str = CLIENT) -> str:
    """`number` counts the clients of a trial, or of what `stem` names, from 1."""
    return f"{stem}-{number}"


def loaded_rows(test_case: YcsbTestCase, number: int = 1) -> tuple[int, int]:
    """(first record, number of records) that client `number` loads: adjacent, disjoint ranges."""
    return _part(rows_to_insert(test_case), test_case.clients, number)


def threads_share(test_case: YcsbTestCase, number: int = 1) -> int:
    """Threads of client `number`; the shares of all clients add up to the test case's threads."""
    return _part(test_case.threads, test_case.clients, number)[1]


def target_share(test_case: YcsbTestCase, number: int = 1) -> int | None:
    """Whole operations per second for client `number`; the shares of all clients add up to the target."""
    if test_case.target_ops_s is None:
        return None
    return _part(round(test_case.target_ops_s), test_case.clients, number)[1]


def _part(total: int, clients: int, number: int) -> tuple[int, int]:
    # differences of running totals: parts differ by at most 1, and add up without a remainder
    begin, end = (total * n // clients for n in (number - 1, number))
    return begin, end - begin


def client_arguments(
    test_case: YcsbTestCase,
    hdr_prefix: str,
    number: int = 1,
    shares: Mapping[str, float] | None = None,
    table: str | None = None,
    db: str = DB,
    of_store: Mapping[str, str] | None = None,
    turns: Turns | None = None,
) -> tuple[str, ...]:
    """Arguments of MAIN, which are those of site.ycsb.Client. hbase-site.xml on the class path has HBase's
    address.

    `hdr_prefix` is the prefix of each interval log's path. `number` counts the trial's clients from 1.
    `shares` of operations override those of the test case's mix, and `table` the name of its table. `db` and
    `of_store` are the store's DB and properties. `turns`: those in which it works, of a trial of a duet.
    """
    timed = (test_case.is_saturation or test_case.is_load) and shares is None
    arguments = [
        "-db",
        THINK_TIMED if timed else db,
        "-s",
        "-threads",
        str(threads_share(test_case, number)),
    ]
    arguments.append("-load" if test_case.is_load else "-t")
    target = target_share(test_case, number)
    if target is not None and test_case.phase is None:
        arguments += ["-target", str(target)]
    mix = (shares or test_case.mix_facts.shares).items()
    properties = {f"{operation}proportion": str(share) for operation, share in mix}
    properties |= {**_properties(test_case, hdr_prefix), **_of_several(test_case, number)}
    properties |= {"table": table or table_of(test_case), **(of_store or {})}
    if test_case.fault is not None and shares is None:
        properties["inserts.log"] = f"{hdr_prefix}{INSERTS}"
    if test_case.phase is not None:
        properties |= _scheduled(test_case, hdr_prefix, properties["workload"])
    if turns is not None:
        properties |= _in_turns(turns, properties["workload"])
    if test_case.clients > 1 or turns is not None:
        properties["client.barrier"] = hdr_prefix
    if timed:
        properties["think.timed.db"] = db
    for key, value in sorted(properties.items()):
        arguments += ["-p", f"{key}={value}"]
    return tuple(arguments)


def _scheduled(test_case: YcsbTestCase, prefix: str, workload: str) -> dict[str, str]:
    """Rates that change with time. The clients have equal parts of each."""
    if test_case.phase is None or test_case.target_ops_s is None:
        raise ValueError(f"{test_case.id}: its rates are not known yet")
    highest_ops_s = test_case.target_ops_s / test_case.clients
    return {
        "workload": SCHEDULED,
        "schedule.workload": workload,
        "schedule.pieces": test_case.phase.schedule(highest_ops_s, test_case.warm_up_s),
        "schedule.log": f"{prefix}schedule.csv",
    }


def _in_turns(turns: Turns, workload: str) -> dict[str, str]:
    ms = [
        tuple(round(1000 * (FIRST_TURN_AFTER_S + edge_s)) for edge_s in turn) for turn in turns.own
    ]
    return {
        "workload": TURNS,
        "turns.workload": workload,
        "turns": ";".join(f"{begin}:{end}" for begin, end in ms),
        "maxexecutiontime": str(ceil(FIRST_TURN_AFTER_S + 2 * turns.own_s)),
    }


def _of_several(test_case: YcsbTestCase, number: int) -> dict[str, str]:
    """Properties that keep the clients of one trial from overwriting each other's rows (method 12).

    A load is divided into ranges. All runs would insert from `recordcount` on: instead each client inserts
    every n-th key, and never reads those of another client, which may not have been written yet.
    """
    if test_case.clients == 1:
        return {}
    if test_case.is_load:
        start, count = loaded_rows(test_case, number)
        return {"insertstart": str(start), "insertcount": str(count)}
    return {"client.number": str(number - 1), "client.count": str(test_case.clients)}


def _properties(test_case: YcsbTestCase, hdr_prefix: str) -> dict[str, str]:
    properties = {
        "workload": CORE,
        "recordcount": str(rows_to_insert(test_case)),
        **test_case.row.properties(),
        "operationcount": str(operations_at_most(test_case)),
        **test_case.distribution.properties(),
        "maxscanlength": str(test_case.max_scan_length),
        "scanlengthdistribution": test_case.scan_length_distribution,
        "columnfamily": FAMILY,
        "measurementtype": "hdrhistogram",
        "measurement.interval": "op" if test_case.target_ops_s is None else "both",
        "hdrhistogram.percentiles": PERCENTILES,
        "hdrhistogram.fileoutput": "true",
        "hdrhistogram.output.path": hdr_prefix,
        "status.interval": "1",
        **(test_case.variants.properties() if test_case.variants is not None else {}),
    }
    if test_case.client.connections != 1:
        properties["hbase.connections"] = str(test_case.client.connections)
    if test_case.min_scan_length != 1:
        properties["minscanlength"] = str(test_case.min_scan_length)
    if test_case.insert_order == "ordered":
        properties |= {"insertorder": "ordered", "zeropadding": str(KEY_DIGITS)}
    if test_case.warm_up_client_s:
        properties["client.warmup.s"] = str(round(test_case.warm_up_client_s))
    if test_case.duration_s is not None:
        properties["maxexecutiontime"] = str(round(test_case.duration_s))
    return properties
