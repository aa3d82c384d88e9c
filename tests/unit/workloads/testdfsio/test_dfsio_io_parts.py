"""The reduce output of a TestDFSIO job."""

from __future__ import annotations

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.testdfsio.output.io_parts import parse_io_part

PART = "f:rate\t4107150.0\nf:sqrate\t5.6442E9\nl:size\t31457280\nl:tasks\t3\nl:time\t22\n"


def test_sums_and_the_rates_derived_from_them() -> None:
    """The first block of TestDFSIO-3.4.2_results.log: 1363.64 MiB/s per stream, 1369.05 on
    average."""
    parsed = parse_io_part(PART, "part-00000")
    (row,) = parsed.rows
    assert (row.size_bytes, row.tasks, row.time_ms) == (31457280, 3, 22)
    assert (row.rate, row.sqrate) == (4107150.0, 5.6442e9)
    assert round(row.throughput_per_stream_mib_s, 2) == 1363.64
    assert round(row.rate / 1000 / row.tasks, 2) == 1369.05
    assert (parsed.parsed, parsed.lines) == (5, 5)


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("l:time\t22\n", "l:time\t22"), "cut off"),
        (("l:time\t22\n", ""), "l:time is missing"),
        (("l:tasks\t3\n", "l:tasks\t3\nl:tasks\t3\n"), "occurs twice"),
        (("l:tasks\t3", "l:tasks\t0"), "no tasks"),
        (("l:time\t22", "l:time\t0"), "zero time"),
        (("4107150.0", "Infinity"), "zero time"),
        (("l:size\t31457280", "l:size\t-1"), "negative"),
        (("l:size\t31457280", "l:size\t99999999999999999999"), "too large"),
        (("5.6442E9", "5,6442E9"), "not a number"),
    ],
)
def test_one_bad_sum_gives_no_row(damage: tuple[str, str], reason: str) -> None:
    parsed = parse_io_part(PART.replace(*damage), "part-00000")
    assert parsed.rows == ()
    assert all(reason in q.reason for q in parsed.quarantined)
    assert len(parsed.quarantined) == parsed.lines > 0


def test_unknown_sums_are_quarantined_alone() -> None:
    parsed = parse_io_part(PART + "s:hosts\ta;b;\n", "part-00000")
    assert len(parsed.rows) == 1
    assert [q.line for q in parsed.quarantined] == [6]


def test_another_file_is_refused() -> None:
    with pytest.raises(ParseError, match="no reduce output"):
        parse_io_part(b"SEQ\x06", "part-00000")
