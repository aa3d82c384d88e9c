"""Rates in each second of a trial (operations, transferred bytes, disk traffic), and their variation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from density_study.cluster.model.host import MIB
from density_study.workloads.base.rows import MIB_S, OPS_S, Array, Row, Rows, known, window_s
from density_study.workloads.rows.arrays.exact_sums import FINE
from density_study.workloads.rows.arrays.spans import by_second

FINE_S = 1.5
"""Tools that write once a second are often late."""
DISKS = {"disk_read": "disk_read_bytes_s", "disk_write": "disk_write_bytes_s"}


@dataclass(frozen=True)
class Series:
    """One rate. second: after the window's start, ascending. rate: mean of the second, in `unit`.
    interval_s: in which it was measured, and over which it is spread evenly."""

    name: str
    unit: str
    second: Array
    rate: Array
    interval_s: float = 1.0


def rate_series(rows: Rows) -> Iterator[Series]:
    """operations (ops/s, of all clients: those that succeeded), requested (ops/s, by the clients' schedules),
    transferred (MiB/s of TestDFSIO: the job's bytes split evenly over successful maps, and spread over each
    map), disk_read and disk_write (MiB/s of the hosts)."""
    trial = rows.trial
    done = rows.arrays("operation_seconds", "second", "operations", "interval_s")
    for one in _summed(trial, "operations", OPS_S, done["second"], done["operations"]):
        yield replace(one, interval_s=float(done["interval_s"][0]))
    if window_s(trial) is not None:
        yield from _requested(rows)
        yield from _transferred(rows)
    yield from _disks(rows)


def _requested(rows: Rows) -> Iterator[Series]:
    trial = rows.trial
    asked = rows.arrays("ycsb_schedule", "begun_s", "operations")
    until_s = np.minimum(asked["begun_s"] + 1.0, trial["window_end_epoch_s"])
    yield from _spread(trial, "requested", OPS_S, asked["begun_s"], until_s, asked["operations"])


def _transferred(rows: Rows) -> Iterator[Series]:
    moved = known(part["bytes"] for part in rows.of("dfsio_io"))
    maps = [
        (one["start_epoch_s"], one["finish_epoch_s"])
        for one in rows.of("map_attempts")
        if one["status"] == "SUCCEEDED"
        and None not in (one["start_epoch_s"], one["finish_epoch_s"])
        if one["finish_epoch_s"] > one["start_epoch_s"]
    ]
    if moved and maps:
        since_s, until_s = np.array(maps).T
        # evenly: TestDFSIO reports the bytes of all maps together only
        each = np.full(len(maps), sum(moved) / len(maps) / MIB)
        yield from _spread(rows.trial, "transferred", MIB_S, since_s, until_s, each)


def _spread(
    trial: Row, name: str, unit: str, since_s: Array, until_s: Array, amounts: Array
) -> Iterator[Series]:
    """Spread each amount evenly over its span."""
    window = trial["window_start_epoch_s"], trial["window_end_epoch_s"]
    span, second, inside_s = by_second(since_s, until_s, window)
    shares = inside_s / (until_s - since_s)[span]
    yield from _summed(trial, name, unit, second, amounts[span] * shares)


def _summed(trial: Row, name: str, unit: str, second: Array, amounts: Array) -> Iterator[Series]:
    """Rate of each second; 0 for idle seconds of the window. Nothing without an amount."""
    if not len(second):
        return
    idle = np.arange(math.ceil(window_s(trial) or 0.0))
    places, index = np.unique(np.concatenate([second, idle]).astype(np.int64), return_inverse=True)
    steps = np.zeros(len(places), np.int64)
    np.add.at(steps, index[: len(second)], np.rint(amounts * FINE).astype(np.int64))
    yield Series(name, unit, places, steps / FINE)


def _disks(rows: Rows) -> Iterator[Series]:
    """Sum over the hosts' disks, which include the VMs' disks. A second without a sample of some monitored
    host has no row."""
    hosts = [m for m in rows.of("monitors") if m["kind"] == "dool" and "." not in m["host"]]
    samples = rows.arrays("host_disk_series", "host", "second", *DISKS.values())
    machine = np.array(["." not in host for host in samples["host"]], bool)
    for name, column in DISKS.items():
        seen = machine & ~np.isnan(samples[column])
        second, index = np.unique(samples["second"][seen].astype(np.int64), return_inverse=True)
        steps, counts = np.zeros(len(second), np.int64), np.bincount(index, minlength=len(second))
        np.add.at(steps, index, np.rint(samples[column][seen] / MIB * FINE).astype(np.int64))
        whole = counts == len(hosts)
        if whole.any():
            yield Series(name, MIB_S, second[whole], steps[whole] / FINE)


def steadiness(trial: Row, series: Series) -> Row | None:
    """A row of `steadiness`: mean, sample standard deviation (n - 1) and coefficient of variation of whole
    seconds of the window after the ramp-up (method 7). None without such seconds, and where intervals are
    longer: means of ten seconds vary less."""
    length_s = window_s(trial)
    busy = series.second[series.rate > 0]
    if length_s is None or not len(busy) or series.interval_s > FINE_S:
        return None
    # the first and last busy second are partial, and around them a JVM starts or ends
    second = series.second
    whole = (second > busy[0]) & (second < busy[-1])
    rates = series.rate[whole & (second >= trial["warm_up_s"]) & (second + 1 <= length_s)]
    if not len(rates):
        return None
    mean = math.fsum(rates) / len(rates)
    # two passes: the mean of squares less the square of the mean would cancel for a steady rate
    squares = math.fsum((rates - mean) * (rates - mean))
    deviation = math.sqrt(squares / (len(rates) - 1)) if len(rates) > 1 else None
    return {
        "name": series.name,
        "unit": series.unit,
        "seconds": len(rates),
        "mean": mean,
        "standard_deviation": deviation,
        "coefficient_of_variation": deviation / mean
        if deviation is not None and mean > 0
        else None,
    }
