"""What hosts used while a trial was measured, and for how much of its work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from density_study.workloads.base.rows import (
    Row,
    Rows,
    exact_sum,
    if_all,
    metric,
    over,
)

DEVICE, POWER = "energy", "power"
_PER_WORK: Mapping[str, tuple[str, str]] = {
    "throughput": ("energy_per_operation", "J"),
    "throughput_job": ("energy_per_mib", "J/MiB"),
    "throughput_sort": ("energy_per_mib", "J/MiB"),
}
"""By the rate over the whole window: what its reciprocal costs."""


def energy_metrics(rows: Rows, rates: Sequence[Row]) -> Iterator[Row]:
    """power of each host that is queried for it, and energy for each operation or MiB: power of all of them
    over the rate, after the ramp-up. None if one of them did not report it. Nothing without the device."""
    hosts = sorted({one["host"] for one in rows.of("monitors") if one["kind"] == DEVICE})
    if not hosts:
        return
    powers = _powers(rows)
    for host in hosts:
        yield metric(POWER, "W", powers.get(host), scope=f"host:{host}")
    known = if_all(powers.get(host) for host in hosts)
    whole = None if known is None else exact_sum(known)
    for rate in rates:
        is_whole = rate.get("scope") is None and rate.get("operation") is None
        if is_whole and rate["name"] in _PER_WORK:
            name, unit = _PER_WORK[rate["name"]]
            yield metric(name, unit, over(whole, rate["value"]))


def _powers(rows: Rows) -> dict[str, float]:
    """Watts by host: the sum of its domains' means."""
    begin_s = rows.trial["warm_up_s"] or 0.0
    watts: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows.of("device_series", "host", "source", "name", "second", "value"):
        if row["name"] == POWER and row["second"] >= begin_s:
            watts[row["host"], row["source"]].append(row["value"])
    found: dict[str, float] = defaultdict(float)
    for (host, _), values in watts.items():
        found[host] += sum(values) / len(values)
    return found
