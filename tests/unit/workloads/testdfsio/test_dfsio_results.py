"""TestDFSIO's result file: real ones, and text that must not be read as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.testdfsio.output.results import DfsioResult, parse_results

SAMPLES = Path(__file__).parents[3] / "samples"
BLOCK = """\
----- TestDFSIO ----- : write
            Date & time: Fri Nov 20 17:17:34 UTC 2026
        Number of files: 3
 Total MBytes processed: 30
      Throughput mb/sec: 1363.64
 Average IO rate mb/sec: 1369.05
  IO rate std deviation: 84.18
     Test exec time sec: 1.46

"""
ROW = DfsioResult(
    line=1,
    type="write",
    mode="write",
    date_text="Fri Nov 20 17:17:34 UTC 2026",
    files=3,
    total_mib=30.0,
    throughput_mib_s=1363.64,
    average_io_rate_mib_s=1369.05,
    io_rate_stddev=84.18,
    exec_time_s=1.46,
)


def read(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def test_every_block_of_a_real_file() -> None:
    parsed = parse_results(read("TestDFSIO-3.4.2_results.log"), "r.log")
    assert parsed.rows[0] == ROW
    assert [row.mode for row in parsed.rows] == [
        *("write", "read", "random", "backward", "skip", "random")
    ]
    assert [row.line for row in parsed.rows] == [1, 10, 19, 28, 37, 46]
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (48, 6, ())


def test_append_and_truncate_are_recognised() -> None:
    for name in ("append", "truncate"):
        (row,) = parse_results(BLOCK.replace(": write", f": {name}"), "r.log").rows
        assert (row.type, row.mode) == (name, name)


def test_a_decimal_comma_is_never_a_number() -> None:
    parsed = parse_results(read("TestDFSIO-3.4.2_locale_de.log"), "r.log")
    assert parsed.rows == ()
    (guilty,) = [q for q in parsed.quarantined if q.reason.startswith("locale")]
    assert (guilty.line, guilty.file) == (4, "r.log")
    assert "-Duser.language=en" in guilty.reason
    assert len(parsed.quarantined) == 8


def test_zero_time_is_quarantined_with_its_reason() -> None:
    parsed = parse_results(read("TestDFSIO-3.4.2_zero_time.log"), "r.log")
    assert parsed.rows == ()
    guilty = {q.line for q in parsed.quarantined if q.reason.startswith("zero time")}
    assert guilty == {5, 15}  # throughput; in the second block the average rate


def test_older_releases() -> None:
    old = """\
----- TestDFSIO ----- : read
           Date & time: Thu Feb 28 10:00:00 CET 2013
       Number of files: 72
Total MBytes processed: 73728.0
     Throughput mb/sec: 12.345678901234567
Total Throughput mb/sec: 1.2
Average IO rate mb/sec: 13.37
 IO rate std deviation: 2.5
    Test exec time sec: 99.5

"""
    parsed = parse_results(old, "r.log")
    (row,) = parsed.rows
    assert row.throughput_mib_s == 12.345678901234567  # not the wrong line
    assert (parsed.parsed, parsed.skipped) == (8, 2)


@pytest.mark.parametrize(
    "damage",
    [
        ("30\n", "-30\n"),
        ("1363.64", "1,363.64"),
        ("1363.64", "1.36"),  # of other units, or of another job
        ("1363.64", "1363.64 "),
        ("Number of files: 3", "Number of files: 3.5"),
        ("Number of files", "Number of fi1es"),
        ("1.46", "1e400"),
        (": write", ": wri"),
        ("Fri Nov 20 17:17:34 UTC 2026", "3"),
        ("     Test exec time sec: 1.46\n", "  IO rate std deviation: 84.18\n"),
    ],
)
def test_a_damaged_block_gives_no_row_and_spares_the_next(damage: tuple[str, str]) -> None:
    parsed = parse_results(BLOCK.replace(*damage) + BLOCK, "r.log")
    assert [row.line for row in parsed.rows] == [10]
    assert {q.line for q in parsed.quarantined} == set(range(1, 9))
    assert parsed.lines == 18


def test_a_truncated_last_line_invalidates_its_block() -> None:
    parsed = parse_results(BLOCK.rstrip("\n"), "r.log")
    assert parsed.rows == ()
    assert parsed.quarantined[-1].reason.startswith("last line is cut off")


def test_unrelated_lines_do_not_disturb_a_block() -> None:
    parsed = parse_results("hello\n" + BLOCK.replace("sec: 1.46\n", "sec: 1.46\nhello\n"), "r.log")
    assert len(parsed.rows) == 1
    assert [q.line for q in parsed.quarantined] == [1, 10]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"hello", b"\x00\xff", "----- TestDFSIO -----"])
def test_another_file_is_refused(data: bytes | str) -> None:
    with pytest.raises(ParseError, match="no TestDFSIO block"):
        parse_results(data, "r.log")
