"""Histograms of interval logs, a file's at once: their numbers of variable length by whole arrays.

Lines are read by the pure `parse_hdr`; only what takes its time, a histogram's counts, is decoded here.
A payload that is not plain is decoded by the pure `decode`, which names its fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from jobs.byte_lines import Array
from workloads.parsing import LONG_MAX, RejectedError
from workloads.ycsb.histogram import Buckets, Histogram, decode, inner

BYTES_A_BATCH = 2**22
_MOST_BYTES_A_NUMBER = 8  # the ninth byte has eight bits of its own
_LONGEST_RUN = 2**31


@dataclass(frozen=True)
class SparseCounts:
    """A histogram's counts as arrays; what `parse_hdr` asks of a `Histogram`."""

    value_us: Array
    counts: Array

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def max_us(self) -> int:
        return int(self.value_us[-1]) if len(self.value_us) else 0


class Decoder:
    """Payloads decoded beforehand; `decode` gives them, and decodes those that were not plain."""

    def __init__(self, payloads: Iterable[str]) -> None:
        self._known: dict[str, SparseCounts] = {}
        batch: list[tuple[str, bytes, Buckets]] = []
        size = 0
        for payload in dict.fromkeys(payloads):
            try:
                body, buckets = inner(payload)
            except RejectedError:
                continue
            batch.append((payload, body, buckets))
            size += len(body)
            if size > BYTES_A_BATCH:
                self._decode(batch)
                batch, size = [], 0
        self._decode(batch)

    def decode(self, payload: str) -> SparseCounts:
        """RejectedError as `workloads.ycsb.histogram.decode`."""
        known = self._known.get(payload)
        return known if known is not None else _sparse(decode(payload))

    def _decode(self, batch: list[tuple[str, bytes, Buckets]]) -> None:
        plain = [(p, b, k) for p, b, k in batch if b and b[-1] < 0x80]
        if not plain:
            return
        raw = np.frombuffer(b"".join(body for _, body, _ in plain), np.uint8)
        ends = np.flatnonzero(raw < 0x80) + 1
        begins = np.concatenate(([0], ends[:-1]))
        numbers, sound = _numbers(raw, begins, ends)
        # a body ends where a number ends: each has its own numbers
        last = np.searchsorted(ends, np.cumsum([len(body) for _, body, _ in plain])) + 1
        first = np.concatenate(([0], last[:-1]))
        for (payload, _, buckets), since, until in zip(plain, first, last, strict=True):
            if sound[since:until].all():
                counts = _counts(numbers[since:until], buckets)
                if counts is not None:
                    self._known[payload] = counts


def _numbers(raw: Array, begins: Array, ends: Array) -> tuple[Array, Array]:
    """Signed numbers, seven bits a byte and low first, and which are short enough to be right."""
    lengths = ends - begins
    place = np.arange(len(raw)) - np.repeat(begins, lengths)
    shift = np.minimum(place, _MOST_BYTES_A_NUMBER - 1).astype(np.uint64) * np.uint64(7)
    parts = (raw & 0x7F).astype(np.uint64) << shift
    values = np.add.reduceat(parts, begins)
    signed = (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)
    return signed, (lengths <= _MOST_BYTES_A_NUMBER) & (np.abs(signed) < _LONGEST_RUN)


def _counts(numbers: Array, buckets: Buckets) -> SparseCounts | None:
    """Counts that hold something; None if they go beyond the histogram's range."""
    steps = np.where(numbers < 0, -numbers, 1)
    index = np.cumsum(steps) - steps
    kept = numbers >= 0
    if (index[kept] >= buckets.length).any():
        return None
    kept = numbers > 0
    return SparseCounts(_highest_values(index[kept], buckets), numbers[kept])


def _highest_values(index: Array, buckets: Buckets) -> Array:
    """`Buckets.highest_value` of many indices. No plain histogram reaches 2**63."""
    half = 1 << buckets.half_magnitude
    bucket = np.maximum((index >> buckets.half_magnitude) - 1, 0)
    sub_bucket = np.where(index < half, index, (index & (half - 1)) + half)
    shift = bucket + buckets.unit_magnitude
    values: Array = ((sub_bucket + 1) << shift) - 1
    return values


def _sparse(histogram: Histogram) -> SparseCounts:
    values = [value_us for value_us, _ in histogram.counts]
    counts = [count for _, count in histogram.counts]
    assert all(value <= LONG_MAX for value in values)
    return SparseCounts(np.array(values, np.int64), np.array(counts, np.int64))
