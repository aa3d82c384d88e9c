"""What hosts used while a trial was measured, and for how much of its work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from density_study.workloads.base.rows import Facts, Row, Rows, exact_sum, metric, over, window_s
from density_study.workloads.monitors.facts import is_member

DEVICE, POWER = "energy", "power"
_POWERS: Mapping[str, tuple[str, str]] = {
    POWER: ("energy", "power of packages and memory"),
    "host_power": ("host_energy", "power of the whole machine"),
}
"""Series of the device -> start of the names of what it costs, and its words. The second contains the first:
they are never added."""
_PER_WORK: Mapping[str, tuple[str, str]] = {
    "throughput": ("per_operation", "J"),
    "throughput_job": ("per_mib", "J/MiB"),
    "throughput_sort": ("per_mib", "J/MiB"),
}
"""Metric of a rate over the whole window -> name and unit of its energy cost."""
_LEAST_COVERED = 0.95
"""Share of the seconds of which the power must be known (method 20)."""


def energy_facts(rows: Rows, rates: Sequence[Row]) -> Facts:
    """metrics: power and host_power of each host that is queried for them, and the energy for each operation
    or MiB: the power of all of them over the rate, after the ramp-up. None if one of them did not report it.
    Nothing without the device, and of a power that no host reports, if they report the other.

    checks: energy_unknown, how many of these powers have no sum over the hosts, and energy_of, which.
    """
    # a guest has no power of its own: what it uses is its host's
    asked = {one["host"] for one in rows.of("monitors") if one["kind"] == DEVICE}
    hosts = sorted(host for host in asked if "." not in host)
    if not hosts:
        return Facts()
    unwatched = _unwatched(rows)
    metrics, unknown = [], []
    for power, watts in _watts(rows, hosts).items():
        start, words = _POWERS[power]
        metrics += [metric(power, "W", watts.get(host), scope=f"host:{host}") for host in hosts]
        if without := [*(host for host in hosts if host not in watts), *unwatched]:
            unknown.append(f"{words} of {', '.join(without)}")
        whole = None if without else exact_sum(watts.values())
        for rate in rates:
            is_whole = rate.get("scope") is None and rate.get("operation") is None
            if is_whole and rate["name"] in _PER_WORK:
                name, unit = _PER_WORK[rate["name"]]
                metrics.append(metric(f"{start}_{name}", unit, over(whole, rate["value"])))
    return Facts(metrics, {"energy_unknown": len(unknown), "energy_of": "; ".join(unknown)})


def _unwatched(rows: Rows) -> list[str]:
    """An existing cluster has hosts of its own, which nobody may watch."""
    watched = any(map(is_member, rows.of("nodes")))
    return ["the cluster's hosts"] if rows.trial["existing"] and not watched else []


def _watts(rows: Rows, hosts: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
    """By power and host: the sum of its domains' means over the seconds after the ramp-up, if nearly all of
    them are known. Only powers that a host reports at any time; if there is none, that of packages without a
    host."""
    begin_s = rows.trial["warm_up_s"] or 0.0
    least = _LEAST_COVERED * ((window_s(rows.trial) or 0.0) - begin_s)
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    found: dict[str, dict[str, float]] = {}
    for row in rows.of("device_series", "host", "source", "name", "second", "value"):
        if row["name"] in _POWERS and row["host"] in hosts:
            found.setdefault(row["name"], {})
            if row["second"] >= begin_s:
                values[row["name"], row["host"]][row["source"]].append(row["value"])
    for (power, host), sources in values.items():
        if min(map(len, sources.values())) >= least:
            watts = sum(sum(seconds) / len(seconds) for seconds in sources.values())
            found[power][host] = watts
    return {power: found[power] for power in _POWERS if power in found} or {POWER: {}}
