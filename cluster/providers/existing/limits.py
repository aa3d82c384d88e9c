"""Limits that stop a trial on an existing cluster: what its own counters say while clients run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing.web import beans, understood

_REGION_SERVER = "Hadoop:service=HBase,name=RegionServer,sub="
_LATENCIES = ("TableRequests_*", "TableLatencies")
"""HBase 2.3 and later have a bean for each table; earlier versions have one for all tables."""
_TABLE = r"Namespace_(?P<namespace>.+?)_table_(?P<table>.+)"
_BEAN = re.compile(rf"{re.escape(_REGION_SERVER)}TableRequests_{_TABLE}")
_OF_TABLE = re.compile(r"(?P<what>[a-zA-Z]+)Time_(?P<of>\w+)")
_OF_ALL = re.compile(rf"{_TABLE}_metric_{_OF_TABLE.pattern}")
_P99 = "99th_percentile"
_CAPACITY = "Hadoop:service=NameNode,name=FSNamesystem"


def check_limits(cluster: Cluster) -> None:
    """StudyError if the cluster is beyond a limit of the study, or does not say whether it is. Nothing to
    check for other clusters."""
    existing = cluster.topology.existing
    if existing is None or existing.endpoint is not None:
        return
    limits = existing.limits
    if limits.others_p99_ms is not None:
        for name, address in cluster.endpoints.all("regionserver.http").items():
            with understood(address):
                seen = (beans(address, _REGION_SERVER + of, cluster.access) for of in _LATENCIES)
                found = next(filter(None, seen), [])
                _check_others(name, found, existing.namespace, limits.others_p99_ms)
    if limits.hdfs_free_percent is not None:
        namenode = cluster.endpoints.one("namenode.http")
        with understood(namenode):
            (capacity,) = beans(namenode, _CAPACITY, cluster.access)
            free_percent = 100 * capacity["CapacityRemaining"] / max(1, capacity["CapacityTotal"])
        if free_percent < limits.hdfs_free_percent:
            raise _stopped(
                f"HDFS has {free_percent:.1f} % of its capacity left, and the study stops below "
                f"{limits.hdfs_free_percent:g} %",
                "hdfs_free",
            )


def others_p99_ms(
    found: Iterable[Mapping[str, Any]], namespace: str
) -> dict[str, float | None] | None:
    """Table and operation -> 99th percentile in ms of a RegionServer, without the tables of `namespace`; None
    if it does not show it. None of all: it does not even show a latency of the study's table."""
    shows_any, others = False, dict[str, float | None]()
    for latency, value in _latencies(found):
        is_p99 = latency["of"] == _P99
        shows_any |= is_p99
        if latency["namespace"] not in (namespace, "hbase"):
            operation = latency["what"][0].lower() + latency["what"][1:]
            what = f"{latency['namespace']}:{latency['table']} {operation}"
            others.setdefault(what, None)
            if is_p99:
                others[what] = _known_ms(value)
    return others if shows_any or others else None


def _latencies(found: Iterable[Mapping[str, Any]]) -> Iterator[tuple[dict[str, str], object]]:
    """namespace, table, what and of (a percentile, mean, ...) of each latency, and its value."""
    for bean in found:
        of_table = _BEAN.fullmatch(str(bean.get("name")))
        table = of_table.groupdict() if of_table else {}
        form = _OF_TABLE if of_table else _OF_ALL
        for name, value in bean.items():
            if match := form.fullmatch(name):
                yield {**table, **match.groupdict()}, value


def _known_ms(value: object) -> float | None:
    try:
        ms = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return ms if isfinite(ms) else None


def _check_others(server: str, found: list[dict[str, Any]], namespace: str, most_ms: float) -> None:
    others = others_p99_ms(found, namespace)
    if others is None:
        raise _stopped(
            f"RegionServer {server} does not show the latencies of its tables "
            "(hbase.regionserver.enable.table.latencies)",
            "others_p99",
        )
    hidden = next((what for what, ms in others.items() if ms is None), None)
    if hidden is not None:
        raise _stopped(
            f"RegionServer {server} does not show the 99th percentile of {hidden}", "others_p99"
        )
    known = [(what, ms) for what, ms in others.items() if ms is not None]
    worst = max(known, key=lambda one: one[1], default=("", 0.0))
    if worst[1] > most_ms:
        raise _stopped(
            f"{worst[0]} on RegionServer {server} has a p99 of {worst[1]:g} ms, and the study stops above "
            f"{most_ms:g} ms",
            "others_p99",
        )


def _stopped(what: str, limit: str) -> StudyError:
    return StudyError(
        f"stopped, so that others are not disturbed: {what}.",
        f"existing.limits.{limit}",
        "lower existing.limits.rate, measure at another time, or change the limit.",
    )
