"""Interval logs of latency histograms."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.ycsb.output.interval_log import name_of, parse_hdr

SAMPLES = Path(__file__).parents[4] / "samples"
INTENDED = "ycsb-0.17.0_hdrhistogram-2.2.2_Intended-READ.hdr"
READ = "ycsb-0.17.0_hdrhistogram-2.2.2_READ.hdr"


def read(name: str = READ) -> str:
    return (SAMPLES / name).read_text()


def test_a_real_log() -> None:
    parsed = parse_hdr(read(INTENDED), f"raw/{INTENDED}")
    assert [row.operations for row in parsed.rows] == [178, 2299, 2569, 2453, 2498, 0, 0]
    first = parsed.rows[0]
    assert (first.line, first.name, first.intended) == (5, "Intended-READ", True)
    assert first.measurement.operation == "READ"
    assert (first.start_epoch_s, first.length_s, first.max_us) == (1795196832.557, 0.027, 51903)
    assert parsed.rows[2].start_epoch_s == 1795196833.513
    assert sum(row.histogram().total for row in parsed.rows) == 9997
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (7, 4, ())


def test_a_complete_payload_needs_no_newline() -> None:
    assert len(parse_hdr(read().rstrip("\n"), "READ.hdr").rows) == 7
    parsed = parse_hdr(read().rstrip("\n")[:-1], "READ.hdr")
    assert len(parsed.rows) == 6
    assert [q.line for q in parsed.quarantined] == [11]


def test_bases_and_tags() -> None:
    line = read().splitlines()[5]
    log = f"#[BaseTime: 1795196000.000 (seconds since epoch)]\nTag=a,{line}\n"
    (row,) = parse_hdr(log, "READ.hdr").rows
    assert (row.tag, row.name, row.start_epoch_s) == ("a", "READ", 1795196000.058)
    absolute = read().replace("0.058,", "1795196999.000,")
    assert parse_hdr(absolute, "READ.hdr").rows[1].start_epoch_s == 1795196999.0


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("0.058,0.936", "0,058,0.936"), "four fields"),
        (("0.058,0.936", "x,0.936"), "not a number"),
        (("0.058,0.936", "-0.058,0.936"), "negative"),
        (("0.058,0.936,0.000", "0.058,0.936,0.005"), "is not the histogram's"),
        (("0.058,0.936,0.000", "0.058,0.936,NaN"), "not finite"),
        (("0.058,0.936", "0.050,0.936"), "begins before the last one ended"),
        (("HISTFAAAACl4", "HISTFAAAACl5"), "not inflate"),
        (("HISTFAAAACl4", "HISTFAAAACp4"), "cut off"),
    ],
)
def test_a_damaged_interval_is_quarantined_alone(damage: tuple[str, str], reason: str) -> None:
    parsed = parse_hdr(read().replace(*damage), "READ.hdr")
    assert len(parsed.rows) == 6
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, reason in quarantined.reason) == (6, True), quarantined.reason


def test_a_repeated_interval_is_counted_once() -> None:
    lines = read().splitlines(keepends=True)
    parsed = parse_hdr("".join([*lines[:6], lines[5], *lines[6:]]), "READ.hdr")
    assert sum(row.operations for row in parsed.rows) == 9997
    assert [q.line for q in parsed.quarantined] == [7]
    assert sum(row.operations for row in parse_hdr(read() * 2, "READ.hdr").rows) == 9997


@pytest.mark.parametrize("broken", ["#[StartTime: x", "#[StartTime: 1795196832,517"])
def test_without_a_start_the_time_is_unknown(broken: str) -> None:
    text = read().replace("#[StartTime: 1795196832.517", broken)
    parsed = parse_hdr(text, "READ.hdr")
    assert parsed.rows == ()
    assert all("time" in q.reason for q in parsed.quarantined)
    assert len(parsed.quarantined) == 8


def test_a_log_that_contradicts_its_file_name_is_rejected() -> None:
    parsed = parse_hdr(read(), "raw/ycsb-1-SCAN.hdr")
    assert parsed.rows == ()
    assert "header READ, file SCAN" in parsed.quarantined[0].reason


@pytest.mark.parametrize(
    "file, name",
    [
        ("raw/ycsb-1-READ.hdr", "READ"),
        ("raw/ycsb-12-Intended-READ.hdr", "Intended-READ"),
        ("ycsb-1-READ-MODIFY-WRITE.hdr", "READ-MODIFY-WRITE"),
        ("ycsb-1-Intended-INSERT-FAILED.hdr", "Intended-INSERT-FAILED"),
        (INTENDED, "Intended-READ"),
        ("READ.hdr", "READ"),
        ("SPREAD.hdr", None),
        ("READ.txt", None),
    ],
)
def test_names_are_derived_from_file_names(file: str, name: str | None) -> None:
    assert name_of(file) == name


@pytest.mark.parametrize("data", [b"", b"hello\n", b"0.1,0.2,0.3,HIST\n", b"\xff"])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match="no HdrHistogram interval log"):
        parse_hdr(data, "READ.hdr")


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(ParseError, match="unknown version"):
        parse_hdr(read().replace("version 1.3", "version 2.0"), "READ.hdr")
