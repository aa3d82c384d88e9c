"""What the monitors of a trial tell: CPU and disk use, coverage of the window, and the hosts' clocks.

Host figures come from dool and cover the whole machine, counted once. Nodes that share a kernel would see the
same dool figures, so their own CPU use is that of their processes. Steal is not use (method 19). Throttled
time is to a container what steal is to a VM: its processes could run, but its quota is used up.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import (
    MIB_S,
    PERCENT,
    Row,
    Rows,
    exact_sum,
    if_all,
    known,
    largest,
    metric,
    window_s,
)

CLIENTS = "client:"
"""Scopes of single clients, where a cluster has several."""
_SHARES = ("user", "system", "iowait", "steal", "idle")


def used_percent(idle: float | None, iowait: float | None, steal: float | None) -> float | None:
    """CPU use. Stolen time was never ours, and waiting for a disk is not work: both would inflate the VM
    variants."""
    if idle is None or iowait is None or steal is None:
        return None
    return 100.0 - idle - iowait - steal


def host_used(row: Row) -> float | None:
    return used_percent(row["cpu_idle"], row["cpu_iowait"], row["cpu_steal"])


def measured_hosts(rows: Rows) -> Sequence[Row]:
    """Rows of `host_cpu_usage` with samples after the ramp-up, VMs included. That of an existing cluster's
    client says nothing of the cluster."""
    watched = {node["host"] for node in rows.of("nodes") if is_member(node)}
    given = rows.trial["existing"]
    return [
        row
        for row in rows.of("host_cpu_usage")
        if row["measured_s"] > 0 and (not given or row["host"] in watched)
    ]


def machines(hosts: Iterable[Row]) -> Sequence[Row]:
    """The rows of hosts, without those of VMs."""
    return [row for row in hosts if row["scope"].startswith("host:")]


def cluster_used_percent(rows: Rows) -> float | None:
    """Mean CPU use of the hosts with masters or workers, after the ramp-up, a client on them included. None
    if a host has no samples."""
    used = {row["host"]: host_used(row) for row in machines(measured_hosts(rows))}
    hosts = {node["host"] for node in rows.of("nodes") if is_member(node)}
    whole = if_all(used.get(host) for host in sorted(hosts))
    return None if whole is None else sum(whole) / len(whole)


def utilization_metrics(rows: Rows) -> Iterator[Row]:
    """cpu_* and disk_* by scope. docs/reference/tables.md has the scopes."""
    hosts, ticks = measured_hosts(rows), _node_ticks(rows)
    for row in hosts:
        scope = row["scope"]
        yield metric("cpu_used", PERCENT, host_used(row), scope=scope)
        for part in _SHARES:
            yield metric(f"cpu_{part}", PERCENT, row[f"cpu_{part}"], scope=scope)
        for name in ("disk_read", "disk_write"):
            bytes_s = row[f"{name}_bytes_s"]
            yield metric(name, MIB_S, None if bytes_s is None else bytes_s / MIB, scope=scope)
    for scope, (user, system, capacity) in _by_scope(ticks).items():
        shares = 100.0 * user / capacity, 100.0 * system / capacity
        yield metric("cpu_used", PERCENT, sum(shares), scope=scope)
        yield metric("cpu_user", PERCENT, shares[0], scope=scope)
        yield metric("cpu_system", PERCENT, shares[1], scope=scope)
    yield from _less_client(hosts, ticks)
    for node in rows.of("nodes"):
        if node["throttled_percent"] is not None:
            yield metric("cpu_throttled", PERCENT, node["throttled_percent"], scope=node["scope"])


def monitor_checks(rows: Rows, metrics: Sequence[Row]) -> Row:
    """Facts of `checks`. metrics: those of the trial.

    - monitor_coverage, monitor_worst: the monitor with the lowest coverage (method 20). Unknown if the
      window is shorter than a sampling period.
    - clock_periods: unknown if the clock of a monitored host was not measured (method 18).
    - cpu_sum_error: unknown if a share is missing in a sample.
    - client_cpu_share, cpu_excess, foreign_cpu: see `_processes`.
    """
    # the larger one: the mean of -2 s and +2 s would look like a perfect clock
    return {
        **_coverage(rows),
        "clock_periods": largest(map(_clock_periods, rows.of("monitors"))),
        "cpu_sum_error": largest(row["cpu_sum_error"] for row in rows.of("host_cpu_usage")),
        **_processes(rows, metrics),
    }


def is_member(node: Row) -> bool:
    """Whether the node is part of the cluster: a master or worker."""
    return bool({"master", "worker"} & set(node["roles"] or ()))


def _node_ticks(rows: Rows) -> Sequence[Row]:
    """Rows of `node_cpu_usage`, each with its scope and whether it is a member of the cluster."""
    nodes = {node["node"]: node for node in rows.of("nodes")}
    return [
        {
            **row,
            "scope": nodes[row["node"]]["scope"] if row["node"] in nodes else row["node"],
            "member": row["node"] in nodes and is_member(nodes[row["node"]]),
        }
        for row in rows.of("node_cpu_usage")
    ]


def _by_scope(ticks: Iterable[Row]) -> Mapping[str, tuple[float, float, float]]:
    """User ticks, system ticks and capacity of each scope, of `cluster`, the masters and workers together,
    and of `client`, all clients together. The capacity of a scope on several hosts is that of all these
    hosts, each counted once."""
    by_host: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in ticks:
        scopes = [row["scope"]]
        if row["member"]:
            scopes.append("cluster")
        elif row["scope"].startswith(CLIENTS):
            scopes.append("client")
        for scope in scopes:
            by_host[scope, row["host"]].append(row)
    sums: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for (scope, _), rows in by_host.items():
        user, system = (exact_sum(row[n] for row in rows) for n in ("user_ticks", "system_ticks"))
        sums[scope].append((user or 0.0, system or 0.0, max(row["capacity_ticks"] for row in rows)))
    return {
        scope: tuple(exact_sum(values) or 0.0 for values in zip(*found, strict=True))  # type: ignore[misc]
        for scope, found in sums.items()
    }


def _less_client(hosts: Iterable[Row], ticks: Iterable[Row]) -> Iterator[Row]:
    """The host's used CPU minus that of the client and the monitors on it."""
    shares: dict[str, list[float]] = defaultdict(list)
    for row in ticks:
        if row["scope"] in ("client", "monitor") or row["scope"].startswith(CLIENTS):
            spent = 100.0 * (row["user_ticks"] + row["system_ticks"]) / row["capacity_ticks"]
            shares[row["host"]].append(spent)
    for row in machines(hosts):
        if row["host"] in shares:
            used, others = host_used(row), exact_sum(shares[row["host"]])
            left = None if used is None or others is None else used - others
            yield metric("cpu_used", PERCENT, left, scope=f"host-less-client:{row['host']}")


def _coverage(rows: Rows) -> Row:
    length_s = window_s(rows.trial)
    rounds = {(row["kind"], row["host"]): row for row in rows.of("monitor_rounds")}
    shares = []
    for one in rows.of("monitors"):
        if length_s is None or length_s < one["period_s"]:
            continue  # no sample is expected
        row = rounds.get((one["kind"], one["host"]))
        # a monitor without any sample has lost all
        seen, lost = (
            (row["seen"], row["lost"]) if row else (0, math.floor(length_s / one["period_s"]))
        )
        shares.append((seen / max(1, seen + lost), f"{one['kind']} on {one['host']}"))
    coverage, worst = min(shares, default=(None, None))
    return {"monitor_coverage": coverage, "monitor_worst": worst}


def _clock_periods(monitor: Row) -> float | None:
    """The clock's offset in sampling periods."""
    offsets = if_all((monitor["clock_before_s"], monitor["clock_after_s"]))
    return None if offsets is None else max(map(abs, offsets)) / float(monitor["period_s"])


def _processes(rows: Rows, metrics: Iterable[Row]) -> Row:
    """CPU use of the nodes' processes compared with their host's (methods 4 and 19).

    - client_cpu_share: CPU use of the (busiest) client, as a share of its node's cores (method 4). Of a guest
      that is master and client it is the guest's, which is no less.
    - cpu_excess: CPU use of the nodes' processes minus that of their host, in percent of the host's cores
      (method 19).
    - foreign_cpu: CPU use of the host minus that of the nodes' processes. Unknown for hosts with VMs, because
      work for a VM is not foreign. Containers have none of that: they are on the host's own kernel.

    A VM or container counts with the CPU time that its host gave it over the whole window: an emulated VM
    counts waiting for a core as use.
    """
    used = {row["scope"]: row["value"] for row in metrics if row["name"] == "cpu_used"}
    whole = {row["host"]: row["cpu_used_whole"] for row in rows.of("host_cpu_usage")}
    by_host: dict[str, list[Row]] = defaultdict(list)
    for node in rows.of("nodes"):
        if node["scope"] in used:
            by_host[node["host"]].append(node)
    shares: list[float | None] = []
    excess, foreign = [], []
    for host, nodes in by_host.items():
        shares += [_share(n, used) for n in nodes if "client" in (n["roles"] or ())]
        guests = known(node["host_cpu_share_percent"] for node in nodes)
        containers = known(node["throttled_percent"] for node in nodes)
        processes = exact_sum(
            _spent(node, used) if node["host_cpu_share_percent"] is None
            else node["host_cpu_share_percent"] for node in nodes
        )  # fmt: skip
        of_host = whole.get(host) if guests else used.get(f"host:{host}")
        if of_host is None or processes is None:
            continue
        excess.append(-(of_host - processes))
        if len(guests) == len(containers):
            foreign.append(of_host - processes)
    return {
        "client_cpu_share": max(known(shares), default=None),
        "cpu_excess": max(excess, default=None),
        "foreign_cpu": max(foreign, default=None),
    }


def _share(node: Row, used: Mapping[str, float | None]) -> float | None:
    """The share that was used of the node's cores."""
    value = used[node["scope"]]
    if None in (value, node["host_cores"], node["cores"]):
        return None
    return value / 100.0 * float(node["host_cores"]) / float(node["cores"])  # type: ignore[operator]


def _spent(node: Row, used: Mapping[str, float | None]) -> float | None:
    """Percent of the host's cores: a VM with pinned cores counts percent of its own cores, not of its
    host's."""
    value = used[node["scope"]]
    if None in (value, node["host_cores"], node["cores"]):
        return None
    return value * float(node["cores"]) / float(node["host_cores"])  # type: ignore[operator]
