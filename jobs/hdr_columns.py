"""Histograms of interval logs, a file's at once: their numbers of variable length by whole arrays.

Lines are read by the pure `parse_hdr`; only what takes its time, a histogram's counts, is decoded here.
A payload that is not plain is decoded by the pure `decode`, which names its fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from jobs.byte_lines import Array
from workloads.parsing import RejectedError
from workloads.ycsb.histogram import Buckets, decode, inner

BYTES_A_BATCH = 2**16
"""Few, so that a batch's arrays stay in the processor's cache and need no new memory."""
_MOST_BYTES_BEFORE = 3  # a number's last: no bucket of a real interval holds 2**27 operations
_TOO_LARGE = 2**28
_VALUES_KEPT = 2**16
"""Indices whose values are computed once a process: all that three significant digits need."""


class Counted(NamedTuple):
    """What `parse_hdr` asks of a histogram, and where in the lists its counts are."""

    total: int
    max_us: int
    place: int


@dataclass
class _Batch:
    """Payloads that count in buckets of the same widths."""

    payloads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, payload: str, body: bytes, length: int) -> None:
        self.payloads.append(payload)
        self.bodies.append(body)
        self.lengths.append(length)
        self.size += len(body)

    def only(self, wanted: Array) -> _Batch:
        chosen = _Batch()
        for at in np.flatnonzero(wanted).tolist():
            chosen.add(self.payloads[at], self.bodies[at], self.lengths[at])
        return chosen


class Decoder:
    """Payloads decoded beforehand; `decode` gives them, and decodes those that were not plain."""

    def __init__(self, payloads: Iterable[str]) -> None:
        self._known: dict[str, Counted] = {}
        self._values: list[pa.ListArray] = []
        self._counts: list[pa.ListArray] = []
        self._places = 0
        batches: dict[tuple[int, int], _Batch] = {}
        for payload in dict.fromkeys(payloads):
            try:
                body, buckets = inner(payload)
            except RejectedError:
                continue
            if not _is_plain(body, buckets):
                continue
            widths = (buckets.unit_magnitude, buckets.half_magnitude)
            batch = batches.setdefault(widths, _Batch())
            batch.add(payload, body, buckets.length)
            if batch.size > BYTES_A_BATCH:
                self._decode(batches.pop(widths), *widths)
        for widths, batch in batches.items():
            self._decode(batch, *widths)

    def decode(self, payload: str) -> Counted:
        """RejectedError as `workloads.ycsb.histogram.decode`."""
        known = self._known.get(payload)
        return known if known is not None else self._decode_alone(payload)

    def lists(self, payloads: Sequence[str]) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        """Values in us and their counts, a list of each for every payload; all were decoded."""
        places = [self._known[payload].place for payload in payloads]
        longs = pa.list_(pa.int64())
        columns = pa.chunked_array(self._values, longs), pa.chunked_array(self._counts, longs)
        if places == list(range(self._places)):
            return columns
        wanted = pa.array(places, pa.int64())
        return columns[0].take(wanted), columns[1].take(wanted)

    def _decode_alone(self, payload: str) -> Counted:
        histogram = decode(payload)
        values = [value_us for value_us, _ in histogram.counts]
        counts = [count for _, count in histogram.counts]
        offsets = np.array([0, len(counts)])
        self._add([payload], np.array(values, np.int64), np.array(counts, np.int64), offsets)
        return self._known[payload]

    def _decode(self, batch: _Batch, unit_magnitude: int, half_magnitude: int) -> None:
        if not batch.payloads:
            return
        raw = np.frombuffer(b"".join(batch.bodies), np.uint8)
        last = raw < 0x80
        numbers = _numbers(raw, last)
        # a body ends where a number ends: each has its own numbers
        bodies = _offsets([len(body) for body in batch.bodies])
        limits = bodies - np.searchsorted(np.flatnonzero(~last), bodies)
        reached, held = _walk(numbers)
        within = np.diff(reached[limits]) <= np.array(batch.lengths)
        within[np.searchsorted(limits, np.flatnonzero(numbers >= _TOO_LARGE), "right") - 1] = False
        if not within.all():
            self._decode(batch.only(within), unit_magnitude, half_magnitude)
            return
        offsets = np.searchsorted(held, limits)
        index = reached[held] - np.repeat(reached[limits[:-1]], np.diff(offsets))
        values = _highest_values(index, unit_magnitude, half_magnitude)
        self._add(batch.payloads, values, (numbers[held] >> 1).astype(np.int64), offsets)

    def _add(self, payloads: list[str], values: Array, counts: Array, offsets: Array) -> None:
        """A list of each for every payload: between its two offsets."""
        places = pa.array(offsets, pa.int32())
        self._values.append(pa.ListArray.from_arrays(places, pa.array(values)))
        self._counts.append(pa.ListArray.from_arrays(places, pa.array(counts)))
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        totals = np.diff(sums[offsets])
        highest = np.where(totals > 0, np.append(values, 0)[offsets[1:] - 1], 0)
        found = zip(payloads, totals.tolist(), highest.tolist(), strict=True)
        for place, (payload, total, max_us) in enumerate(found, start=self._places):
            self._known[payload] = Counted(total, max_us, place)
        self._places += len(payloads)


def _is_plain(body: bytes, buckets: Buckets) -> bool:
    """No number is cut off at the end, and no value comes near the end of 64 bits."""
    bits = buckets.unit_magnitude + buckets.half_magnitude
    return body[-1:] < b"\x80" and bits + (buckets.length >> buckets.half_magnitude) < 63


def _offsets(lengths: list[int]) -> Array:
    return np.cumsum([0, *lengths])


def _numbers(raw: Array, last: Array) -> Array:
    """Numbers as written, seven bits a byte and low first; `last`: the bytes that end one. Nearly all
    have one byte. One of more bytes than plain ones have is `_TOO_LARGE`."""
    numbers = raw[last].astype(np.int32)
    others = np.flatnonzero(~last)
    if len(others):
        owner = others - np.arange(len(others))
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        lengths = np.diff(begins, append=len(others))
        place = np.arange(len(others)) - np.repeat(begins, lengths)
        shift = (7 * np.minimum(place, _MOST_BYTES_BEFORE)).astype(np.int32)
        low = np.add.reduceat((raw[others] & 0x7F).astype(np.int32) << shift, begins)
        longer = owner[begins]
        high = numbers[longer] << 7 * np.minimum(lengths, _MOST_BYTES_BEFORE)
        numbers[longer] = np.where(lengths > _MOST_BYTES_BEFORE, _TOO_LARGE, high + low)
    return numbers


def _walk(numbers: Array) -> tuple[Array, Array]:
    """At which index each number begins, and the last ends; where counts above zero are. An even
    number is twice a count, an odd one a run of empty buckets: twice how many follow the first."""
    half = numbers >> 1
    more = half * (numbers & 1)
    reached = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(more + np.int32(1), out=reached[1:])
    return reached, np.flatnonzero(half > more)


def _highest_values(index: Array, unit_magnitude: int, half_magnitude: int) -> Array:
    """`Buckets.highest_value` of many indices."""
    if len(index) and index.max() < _VALUES_KEPT:
        values: Array = _first_values(unit_magnitude, half_magnitude)[index]
        return values
    return _values(index, unit_magnitude, half_magnitude)


@lru_cache(maxsize=4)
def _first_values(unit_magnitude: int, half_magnitude: int) -> Array:
    return _values(np.arange(_VALUES_KEPT), unit_magnitude, half_magnitude)


def _values(index: Array, unit_magnitude: int, half_magnitude: int) -> Array:
    half = 1 << half_magnitude
    bucket = np.maximum((index >> half_magnitude) - 1, 0)
    sub_bucket = np.where(index < half, index, (index & (half - 1)) + half)
    values: Array = ((sub_bucket + 1) << (bucket + unit_magnitude)) - 1
    return values
