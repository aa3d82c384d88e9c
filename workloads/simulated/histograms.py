"""Interval logs of latencies, in the wire format of HdrHistogram 2.2.2 (V2), for arrays of counts.

The reader is `workloads.ycsb.output.histogram`, whose ranges of values this uses.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from density_study.workloads.ycsb.output.histogram import Buckets

DIGITS, HIGHEST_US = 3, 3_600_000_000
POINTS = 400
"""Values that stand for a distribution: its quantiles at equal distances, the last one beyond p99.8."""
_BUCKETS = Buckets.of(DIGITS, 1, HIGHEST_US)
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """`begin_s` after the start of the log. `mean_s`: mean latency of its operations, log-normal."""

    begin_s: float
    length_s: float
    operations: int
    mean_s: float


@lru_cache(maxsize=8)
def shape(sigma: float) -> NDArray[np.float64]:
    """POINTS values of mean 1, ascending, with the quantiles of a log-normal of this sigma."""
    normal = NormalDist()
    found = np.exp(sigma * np.array([normal.inv_cdf((n + 0.5) / POINTS) for n in range(POINTS)]))
    return np.asarray(found / found.mean())


def interval_log(
    name: str, start_epoch_s: float, intervals: Sequence[Interval], sigma: float
) -> str:
    """The log of the measurement `name`: READ, Intended-SCAN, THINK."""
    lines = [
        f"#[Logging for: {name}]",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_epoch_s:.3f} (seconds since epoch), Thu Jan 01 00:00:00 UTC 1970]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    for one in intervals:
        values_us = np.maximum(np.rint(1e6 * one.mean_s * shape(sigma)), 1).astype(np.int64)
        # as many operations at each point as keep the running total
        ends = (one.operations * np.arange(1, POINTS + 1)) // POINTS
        counts = np.diff(ends, prepend=0)
        slots, sums = _slots(values_us, counts)
        most_s = _BUCKETS.highest_value(int(slots[-1])) / 1e6 if len(slots) else 0.0
        payload = _encoded(slots, sums)
        lines.append(f"{one.begin_s:.3f},{one.length_s:.3f},{most_s:.3f},{payload}")
    return "\n".join(lines) + "\n"


def _slots(values_us: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """The slots of a histogram that are not empty, and their counts."""
    there = counts > 0
    slots, places = np.unique(
        _indices(np.minimum(values_us[there], HIGHEST_US)), return_inverse=True
    )
    return slots, np.bincount(places, counts[there], len(slots)).astype(np.int64)


def _encoded(slots: Counts, counts: Counts) -> str:
    """The histogram as the base64 text of an interval log."""
    body, at = bytearray(), 0
    for slot, count in zip(slots.tolist(), counts.tolist(), strict=True):
        if slot > at:
            _append(body, at - slot)  # a run of empty slots
        _append(body, count)
        at = slot + 1
    inner = struct.pack(">IIIIQQd", 0x1C849313, len(body), 0, DIGITS, 1, HIGHEST_US, 1.0)
    packed = zlib.compress(inner + bytes(body), 1)
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()


def _indices(values: Counts) -> Counts:
    half = _BUCKETS.half_magnitude
    _, exponents = np.frexp(values)
    buckets = np.maximum(exponents - half - 1, 0)
    return np.asarray((buckets << half) + (values >> buckets))


def _append(body: bytearray, number: int) -> None:
    """ZigZag LEB128; no number here needs the ninth byte."""
    rest = (number << 1) ^ (number >> 63)
    while rest > 0x7F:
        body.append(rest & 0x7F | 0x80)
        rest >>= 7
    body.append(rest)
