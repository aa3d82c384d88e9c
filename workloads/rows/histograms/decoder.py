"""Decode the histograms of an interval log with the `hdrhistogram` library, into values and counts.

The pure `workloads.ycsb.output.histogram` is the reference. It checks the frame of each payload, and the C
decoder of the library reads the counts. If the library rejects a payload, or could read past its end, the
pure decoder reads it again and reports the fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyhdrh  # type: ignore[import-not-found]

from density_study.workloads.rows.arrays.arrow_tables import Array
from density_study.workloads.ycsb.output.histogram import Buckets, decode, inner

_WORD_BYTES = 8
_MAX_OPERATIONS = 2**53  # exact as a float
_EIGHT_CONTINUED = re.compile(rb"[\x80-\xff]{8}")


class Counted(NamedTuple):
    """Summary of a histogram for `parse_hdr`, and its index in the lists."""

    total: int
    max_us: int
    place: int


class Decoder:
    """Decodes each distinct payload once; `lists` returns the contents."""

    def __init__(self) -> None:
        self._known: dict[str, Counted] = {}
        self._values: list[Array] = []
        self._counts: list[Array] = []

    def decode(self, payload: str) -> Counted:
        """RejectedError as `workloads.ycsb.output.histogram.decode`."""
        if payload not in self._known:
            values, counts = _decoded(payload)
            highest = int(values[-1]) if len(values) else 0
            self._known[payload] = Counted(int(counts.sum()), highest, len(self._values))
            self._values.append(values)
            self._counts.append(counts)
        return self._known[payload]

    def lists(self, payloads: Iterable[str]) -> tuple[pa.ListArray, pa.ListArray]:
        """Values in us and their counts: one list of each per payload. All payloads must be decoded."""
        places = [self._known[payload].place for payload in payloads]
        return _lists([self._values[at] for at in places]), _lists(
            [self._counts[at] for at in places]
        )


def _lists(arrays: Sequence[Array]) -> pa.ListArray:
    offsets = [0, *accumulate(map(len, arrays))]
    flat = np.concatenate(arrays) if arrays else np.zeros(0, np.int64)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat, pa.int64()))


def _decoded(payload: str) -> tuple[Array, Array]:
    """Values and counts, ascending by value, without zero counts."""
    body, buckets = inner(payload)
    if not body:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if not _fits_the_library(body, buckets):
        return _by_the_pure_decoder(payload)
    counts = np.zeros(buckets.length, np.int64)
    try:
        found = pyhdrh.decode(body, 0, counts.ctypes.data, buckets.length, _WORD_BYTES)
    except (IndexError, OverflowError):
        return _by_the_pure_decoder(payload)
    index = np.flatnonzero(counts[: found["max_nonzero_index"] + 1])
    counts = counts[index]
    if counts.sum(dtype=float) > _MAX_OPERATIONS:
        return _by_the_pure_decoder(payload)
    return _highest_values(index, buckets), counts


def _fits_the_library(body: bytes, buckets: Buckets) -> bool:
    """Whether the library decodes the payload correctly: it accepts a truncated last number, loses bits
    of a nine-byte number, and needs values below 64 bits."""
    bits = buckets.unit_magnitude + buckets.half_magnitude
    within = bits + (buckets.length >> buckets.half_magnitude) < 63
    return within and body[-1] < 0x80 and not _EIGHT_CONTINUED.search(body)


def _by_the_pure_decoder(payload: str) -> tuple[Array, Array]:
    pairs = np.array(decode(payload).counts, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


def _highest_values(index: Array, buckets: Buckets) -> Array:
    """`Buckets.highest_value` for an array of indices."""
    half = 1 << buckets.half_magnitude
    bucket = np.maximum((index >> buckets.half_magnitude) - 1, 0)
    sub_bucket = np.where(index < half, index, (index & (half - 1)) + half)
    values: Array = ((sub_bucket + 1) << (bucket + buckets.unit_magnitude)) - 1
    return values
