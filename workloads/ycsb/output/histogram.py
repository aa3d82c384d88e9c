"""`Histogram`: latencies as sparse counts, decoded from HdrHistogram's V2 wire format.

Standard library only, so that a Spark executor can decode. Source: `AbstractHistogram`,
`ZigZagEncoding` of HdrHistogram 2.2.2; the `hdrhistogram` package of PyPI is the tests' oracle.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from density_study.workloads.base.parsing import LONG_MAX, RejectedError

_COMPRESSED_COOKIES = {0x1C849304: 2, 0x1C849302: 1, 0x1C849309: 0}
_COOKIES = {0x1C849303: 2, 0x1C849301: 1, 0x1C849308: 0}
_WORD_SIZE_BITS = 0xF0
_OUTER = struct.Struct(">II")  # cookie, length of the compressed part
_INNER = struct.Struct(">IIIIQQd")
_MAX_OPERATIONS = 2**53  # exact in a double, and a thousand of them still add up in a long
_MAX_BYTES = 2**24  # inflated; three significant digits up to 2**63 need 0.5 MB


@dataclass(frozen=True)
class Histogram:
    """counts: (value_us, operations) in ascending order of value, without zero counts.

    value_us is the highest value of its bucket, as HdrHistogram reports percentiles.
    """

    counts: tuple[tuple[int, int], ...]

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)

    @property
    def max_us(self) -> int:
        """The highest recorded value, as the upper end of its bucket; 0 for an empty histogram."""
        return self.counts[-1][0] if self.counts else 0


def decode(payload: str) -> Histogram:
    """A histogram from its base64 text in an interval log.

    RejectedError with the reason, unless it is complete, unscaled and in the V2 encoding.
    """
    body, buckets = inner(payload)
    histogram = Histogram(tuple(_counts(body, buckets)))
    if histogram.total > _MAX_OPERATIONS:
        raise RejectedError(
            f"histogram counts {histogram.total} operations: more than any client can run"
        )
    return histogram


def inner(payload: str) -> tuple[bytes, Buckets]:
    """The payload's counts, still as numbers of variable length, and what they count. RejectedError
    as `decode`; this does not check whether the counts are complete."""
    body = _inflated(payload)
    if len(body) < _INNER.size:
        raise RejectedError("histogram has no whole header")
    cookie, length, offset, digits, lowest, highest, ratio = _INNER.unpack_from(body)
    _require_v2(cookie, _COOKIES)
    if length != len(body) - _INNER.size:
        raise RejectedError(f"histogram has {len(body) - _INNER.size} of {length} bytes of counts")
    if offset != 0 or ratio != 1.0:
        raise RejectedError("histogram is shifted or scaled")
    if digits > 5 or not 1 <= lowest <= highest // 2 or highest > LONG_MAX:
        raise RejectedError("histogram has an impossible range")
    return body[_INNER.size :], Buckets.of(digits, lowest, highest)


def _inflated(payload: str) -> bytes:
    try:
        wire = base64.b64decode(payload.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise RejectedError("histogram is not base64") from None
    if len(wire) < _OUTER.size:
        raise RejectedError("histogram is cut off")
    cookie, length = _OUTER.unpack_from(wire)
    _require_v2(cookie, _COMPRESSED_COOKIES)
    if length != len(wire) - _OUTER.size:
        raise RejectedError(f"histogram is cut off: {len(wire) - _OUTER.size} of {length} bytes")
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(wire[_OUTER.size :], _MAX_BYTES)
    except zlib.error:
        raise RejectedError("histogram does not inflate") from None
    if not inflater.eof or inflater.unused_data:
        raise RejectedError("histogram does not inflate to its end")
    return body


def _require_v2(cookie: int, cookies: dict[int, int]) -> None:
    version = cookies.get(cookie & ~_WORD_SIZE_BITS)
    if version in (0, 1):
        raise RejectedError(
            f"old histogram encoding V{version} (HdrHistogram 2.1.x before V2, as old YCSB cores"
            " bring along); write logs with HdrHistogram 2.2.2"
        )
    if version is None or cookie & _WORD_SIZE_BITS != 0x10:
        raise RejectedError(f"unknown histogram cookie {cookie:#x}")


@dataclass(frozen=True)
class Buckets:
    """Maps an index of the counts to a range of values."""

    unit_magnitude: int
    half_magnitude: int
    length: int

    @staticmethod
    @lru_cache(maxsize=64)  # all histograms of a log have one of few ranges
    def of(digits: int, lowest: int, highest: int) -> Buckets:
        unit_magnitude = lowest.bit_length() - 1
        # Buckets of one unit up to 2 * 10^digits, then of twice the width for each doubling: no value is off
        # by more than 1 in 10^digits. (x - 1).bit_length() is the logarithm to base 2, rounded up.
        half_magnitude = max((2 * 10**digits - 1).bit_length(), 1) - 1
        buckets, top = 1, 2 ** (half_magnitude + 1) << unit_magnitude
        while top <= highest:
            top <<= 1
            buckets += 1
        return Buckets(unit_magnitude, half_magnitude, (buckets + 1) << half_magnitude)

    def highest_value(self, index: int) -> int:
        half = 1 << self.half_magnitude
        bucket = max((index >> self.half_magnitude) - 1, 0)
        sub_bucket = index if index < half else (index & (half - 1)) + half
        return ((sub_bucket + 1) << (bucket + self.unit_magnitude)) - 1


def _counts(body: bytes, buckets: Buckets) -> Iterator[tuple[int, int]]:
    """(value, count) of non-empty buckets. A negative number encodes a run of empty buckets."""
    index = 0
    for number in _zigzag_leb128(body):
        if number < 0:
            index -= number
        else:
            if index >= buckets.length:
                raise RejectedError("histogram has counts beyond its range")
            if number:
                yield min(buckets.highest_value(index), LONG_MAX), number
            index += 1


def _zigzag_leb128(body: bytes) -> Iterator[int]:
    """Signed numbers of 1 to 9 bytes: seven bits per byte, low bits first; the ninth byte has eight."""
    value = shift = 0
    for byte in body:
        last = shift == 56
        value |= (byte if last else byte & 0x7F) << shift
        shift += 7
        if last or byte < 0x80:
            yield (value >> 1) ^ -(value & 1)  # zigzag: 0, -1, 1, -2, ... keep few bits
            value = shift = 0
    if shift:
        raise RejectedError("histogram ends within a number")
