"""Looks at the counters of the servers that a warm-up works on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from density_study.cluster.clients.daemon_pages import NO_ANSWER, fetch_page, of_each
from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.existing.web import url_of
from density_study.cluster.stores.answers import REQUEST_TIMEOUT_S
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.ycsb.output.status import parse_status
from density_study.workloads.ycsb.warming.warmth import Blocks, Look

_COMPILER = "java.lang:type=Compilation"
_COMPILERS = ("C1 Compiler", "C2 Compiler")
"""The kernel keeps 15 characters of a thread's name."""
_TICKS_S = 1 / os.sysconf("SC_CLK_TCK")
SERVER = "Hadoop:service=HBase,name=RegionServer,sub=Server"


def look_at(context: TrialContext, logs: Sequence[str]) -> Look | None:
    """The servers' counters now; None if one does not answer in time, as on an overloaded machine. `logs`:
    those of the clients that warm them up, relative to the record."""
    cluster = context.cluster
    if cluster.endpoints.all("regionserver.http"):
        return _of_hbase(cluster.endpoints)
    compiled_s = _compiled_s(cluster)
    if not compiled_s:
        return None
    # these stores do not tell: what the clients did, on average
    done = sum(_operations(context, log) for log in logs)
    return Look(compiled_s, dict.fromkeys(compiled_s, done / len(compiled_s)))


def _of_hbase(endpoints: Endpoints) -> Look | None:
    """From HBase's /jmx: the compilers' time, and what RegionServers count."""

    def bean(address: str, name: str) -> Mapping[str, Any]:
        page = fetch_page(endpoints, f"{url_of(address)}/jmx?qry={name}", REQUEST_TIMEOUT_S)
        found: Mapping[str, Any] = page["beans"][0]
        return found

    def counted(_: str, address: str) -> tuple[float, int, int, int, int]:
        server = bean(address, SERVER)
        return (
            bean(address, _COMPILER)["TotalCompilationTime"] / 1000,
            server["totalRequestCount"],
            server["blockCacheHitCount"],
            server["blockCacheMissCount"],
            server["blockCacheCount"],
        )

    try:
        told = of_each(endpoints.all("regionserver.http"), counted)
    except NO_ANSWER:
        return None
    compiled_s = {name: one[0] for name, one in told.items()}
    _, _, found, missed, held = (sum(column) for column in zip(*told.values(), strict=True))
    return Look(
        compiled_s,
        {name: one[1] for name, one in told.items()},
        Blocks(found, found + missed, held),
    )


def _compiled_s(cluster: Cluster) -> Mapping[str, float]:
    """Servers of other stores run on this machine (provider local), whose kernel counts the CPU time of their
    compilers, or are of others."""
    try:
        names = {one.pid: f"{one.node}/{one.name}" for one in cluster.processes}
        servers = cluster.endpoints.all("store")
        return {name: compilers_cpu_s(pid) for pid, name in names.items() if name in servers}
    except OSError:
        return {}


def _operations(context: TrialContext, log: str) -> int:
    """Operations that a client has done, by its last status line; 0 before the first."""
    try:
        data = (context.record.root / log).read_bytes()
        return parse_status(data, log).rows[-1].operations
    except (OSError, StudyError, LookupError):
        return 0


def compilers_cpu_s(pid: int, proc: Path = Path("/proc")) -> float:
    """CPU time of a JVM's JIT compilers, for the threads that live now: it ends idle ones.
    FileNotFoundError if the process has ended."""
    ticks = 0
    for thread in (proc / str(pid) / "task").iterdir():
        try:
            stat = (thread / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        name, _, fields = stat.partition("(")[2].rpartition(")")
        if name.startswith(_COMPILERS):
            user, system = fields.split()[11:13]
            ticks += int(user) + int(system)
    return ticks * _TICKS_S
