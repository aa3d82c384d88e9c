"""HdrHistogram payloads: decoded as in the library, merged exactly, percentiles as YCSB prints."""

from __future__ import annotations

import base64
import random
import re
import struct
import zlib
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from density_study.workloads.base.parsing import RejectedError
from density_study.workloads.ycsb.output.histogram import decode
from density_study.workloads.ycsb.output.summary import parse_summary
from tests.support.histograms import merge, percentile_us

SAMPLES = Path(__file__).parents[4] / "samples"


def payloads(name: str) -> list[str]:
    text = (SAMPLES / f"ycsb-0.17.0_hdrhistogram-2.2.2_{name}.hdr").read_text()
    return re.findall(r"HIST\S+", text)


def encoded(values: list[int], digits: int = 3, highest: int = 2**40) -> str:
    histogram = HdrHistogram(1, highest, digits)
    for value in values:
        assert histogram.record_value(value)
    text: str = histogram.encode().decode()
    return text


def library_counts(payload: str) -> list[tuple[int, int]]:
    recorded = HdrHistogram.decode(payload).get_recorded_iterator()
    return [(item.value_iterated_to, item.count_at_value_iterated_to) for item in recorded]


@pytest.mark.parametrize("name", ["READ", "Intended-READ"])
def test_real_payloads_decode_as_in_the_library(name: str) -> None:
    assert len(payloads(name)) == 7
    for payload in payloads(name):
        assert list(decode(payload).counts) == library_counts(payload)


@pytest.mark.parametrize("digits, highest", [(1, 2**40), (2, 2**40), (3, 2**40), (4, 2**20)])
def test_any_precision_decodes_as_in_the_library(digits: int, highest: int) -> None:
    rng = random.Random(digits)
    some = (int(rng.lognormvariate(8, 3)) % highest for _ in range(2000))
    values = [0, 1, highest // 2, *some]
    payload = encoded(values, digits, highest)
    histogram = decode(payload)
    assert list(histogram.counts) == library_counts(payload)
    assert histogram.total == len(values)


def test_merging_is_exact() -> None:
    """k merged logs equal the histogram of all their latencies together."""
    rng = random.Random(7)
    parts = [[int(rng.lognormvariate(7, 2)) for _ in range(500)] for _ in range(5)]
    together = [value for part in parts for value in part]
    assert merge(decode(encoded(part)) for part in parts) == decode(encoded(together))


def test_merged_intervals_give_ycsbs_printed_percentiles() -> None:
    """Of the same run: YCSB computed them with HdrHistogram 2.2.2 from all intervals."""
    summary = parse_summary((SAMPLES / "ycsb-0.17.0_target_both.out").read_bytes(), "s").rows
    for name in ("READ", "Intended-READ"):
        merged = merge(decode(payload) for payload in payloads(name))
        printed = {row.measure: row.value for row in summary if row.name == name}
        assert merged.total == printed["Operations"]
        assert merged.max_us == printed["MaxLatency"]
        percentiles = {"50th": 50, "90th": 90, "95th": 95, "99th": 99, "99.9": 99.9, "99.99": 99.99}
        for label, percentile in percentiles.items():
            value = percentile_us(merged, percentile)
            assert value == printed[f"{label}PercentileLatency"], label


def test_an_empty_histogram() -> None:
    empty = decode(payloads("READ")[-1])
    assert (empty.counts, empty.total, empty.max_us) == ((), 0, 0)


def wire(
    inner: bytes, cookie: int = 0x1C849314, length: int | None = None, tail: bytes = b""
) -> str:
    packed = zlib.compress(inner) + tail
    head = struct.pack(">II", cookie, len(packed) if length is None else length)
    return base64.b64encode(head + packed).decode()


def inner(
    counts: bytes = b"\x02",
    cookie: int = 0x1C849313,
    length: int | None = None,
    offset: int = 0,
    digits: int = 3,
    lowest: int = 1,
    highest: int = 3_600_000_000,
    ratio: float = 1.0,
) -> bytes:
    size = len(counts) if length is None else length
    head = struct.pack(">IIIIQQd", cookie, size, offset, digits, lowest, highest, ratio)
    return head + counts


def test_a_synthetic_payload_decodes() -> None:
    assert decode(wire(inner(b"\x02"))).counts == ((0, 1),)
    assert decode(wire(inner(b"\x03\x04"))).counts == ((2, 2),)  # two empty buckets, then a two


@pytest.mark.parametrize(
    "payload, reason",
    [
        ("", "cut off"),
        ("HIST", "cut off"),
        ("HISTÄ", "not base64"),
        ("HISTFAA=A", "not base64"),
        (payloads("READ")[0][:-4], "cut off"),
        (wire(inner(), cookie=0x1C849302 | 0x80), "old histogram encoding V1"),
        (wire(inner(), cookie=0x1C849309 | 0x80), "old histogram encoding V0"),
        (wire(inner(cookie=0x1C849301 | 0x80)), "old histogram encoding V1"),
        (wire(inner(), cookie=0x1C849324), "unknown histogram cookie"),
        (wire(inner(), cookie=0), "unknown histogram cookie"),
        (wire(inner(), tail=b"x"), "does not inflate to its end"),
        (wire(b"short"), "no whole header"),
        (wire(inner(length=7)), "1 of 7 bytes"),
        (wire(inner(offset=1)), "shifted or scaled"),
        (wire(inner(ratio=2.0)), "shifted or scaled"),
        (wire(inner(ratio=float("nan"))), "shifted or scaled"),
        (wire(inner(digits=6)), "impossible range"),
        (wire(inner(lowest=0)), "impossible range"),
        (wire(inner(highest=1)), "impossible range"),
        (wire(inner(highest=2**63)), "impossible range"),
        (wire(inner(b"\x80")), "within a number"),
        (wire(inner(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02")), "beyond its range"),
        (wire(inner(2 * (b"\xfe" + 8 * b"\xff"))), "18446744073709551614 operations"),
        (wire(bytes(2**25)), "does not inflate to its end"),
        (base64.b64encode(struct.pack(">II", 0x1C849314, 4) + b"abcd").decode(), "not inflate"),
    ],
)
def test_an_invalid_histogram_is_rejected(payload: str, reason: str) -> None:
    with pytest.raises(RejectedError, match=reason):
        decode(payload)


def test_an_old_encoding_is_rejected_with_the_remedy() -> None:
    with pytest.raises(RejectedError, match=r"HdrHistogram 2\.2\.2"):
        decode(wire(inner(), cookie=0x1C849302 | 0x80))
