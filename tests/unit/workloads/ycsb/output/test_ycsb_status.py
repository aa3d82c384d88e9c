"""YCSB's status lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.ycsb.output.status import IntervalLatency, parse_status

SAMPLES = Path(__file__).parents[4] / "samples"
LINE = (
    "2026-11-20 17:20:28:521 3 sec: 2000 operations; 3369.68 current ops/sec; "
    "est completion in 2 minutes [READ: Count=923, Max=5395, Min=0, Avg=1081.62, 90=2081, "
    "99=2233, 99.9=4049, 99.99=5395] [INSERT-FAILED: Count=4, Max=4, Min=1, Avg=1.75, 50=1, "
    "90=4, 99=4, 99.9=4, 99.99=4] "
)


def test_a_real_file() -> None:
    parsed = parse_status((SAMPLES / "ycsb-0.17.0_hdr.err").read_bytes(), "ycsb.err")
    first, last = parsed.rows
    assert first.current_ops_s is None  # ∞: the first interval has no length
    assert (first.operations, last.operations) == (22, 2000)
    assert (last.time_text, last.elapsed_s) == ("2026-11-20 17:20:28:521", 0)
    assert last.current_ops_s == 3369.68
    assert last.latencies[0] == IntervalLatency("READ", 1081.62, 923, 5395, 0, 2233)
    assert [latency.name for latency in last.latencies] == ["READ", "CLEANUP", "INSERT"]
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (2, 9, ())


def test_a_client_of_a_locale_with_decimal_commas_is_read() -> None:
    file = SAMPLES / "wild" / "ycsb" / "y40-de-locale-status.log"
    parsed = parse_status(file.read_bytes(), file.name)
    assert parsed.quarantined == ()
    assert [row.current_ops_s for row in parsed.rows] == [None, 5123.4, 5133.26]
    read, update = parsed.rows[1].latencies
    assert (read.average_us, read.p99_us, update.average_us) == (1204.2, 4011, 1704.9)


def test_time_series_print_only_averages() -> None:
    parsed = parse_status((SAMPLES / "ycsb-0.17.0_timeseries.out").read_bytes(), "ycsb.out")
    assert parsed.rows[1].latencies == (
        IntervalLatency("READ", 1346.61),
        IntervalLatency("CLEANUP", 1.0),
        IntervalLatency("INSERT", 1032.76),
    )
    assert (parsed.skipped, parsed.quarantined) == (28, ())


@pytest.mark.parametrize(
    "suffix, rate",
    [
        ("", None),
        ("est completion in 106751991167300 days 15 hours ", None),
        ("12 current ops/sec; ", 12.0),
        ("0 current ops/sec; est completion in 1 hour 2 minutes ", 0.0),
        ("NaN current ops/sec; ", None),
        ("5 current ops/sec; READ count: 5, average latency(us): 3.25", 5.0),
    ],
)
def test_optional_parts_may_be_missing(suffix: str, rate: float | None) -> None:
    head = "label 2026-11-20 17:20:28:521 3 sec: 20 operations; "
    (row,) = parse_status(head + suffix + "\n", "ycsb.err").rows
    assert (row.label, row.current_ops_s) == ("label ", rate)


def test_combined_measurements_continue_in_the_next_line() -> None:
    second = "[BucketREAD AverageLatency(us)=12.5]"
    parsed = parse_status(f"{LINE}\n{second}\n", "ycsb.err")
    assert (len(parsed.rows), parsed.skipped) == (1, 1)


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("3369.68", "3.369,68"), "locale"),
        (("3369.68", "3,369"), "locale"),  # not 3.369: the client prints two decimals at most
        (("3369.68", "-5"), "negative"),
        (("2000 op", "2,000 op"), "locale"),
        (("2000 op", "2e3 op"), "not a number"),
        (("Count=923", "Count=-1"), "negative"),
        (("Avg=1081.62", "Avg=NaN"), "not finite"),
        (("[READ", "[RE[AD"), "not a measurement"),
        (("99.99=4] ", "99.99=4"), "not a measurement"),
        ((" current ops/sec", " ops/sec"), "not a measurement"),
    ],
)
def test_a_damaged_line_is_quarantined(damage: tuple[str, str], reason: str) -> None:
    parsed = parse_status(LINE.replace(*damage) + "\n" + LINE + "\n", "ycsb.err")
    assert len(parsed.rows) == 1
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, reason in quarantined.reason) == (1, True)


def test_a_truncated_line_is_quarantined_even_between_measurements() -> None:
    whole, _, _ = LINE.partition(" [INSERT-FAILED")
    parsed = parse_status(f"{LINE}\n{whole}", "ycsb.err")
    assert [row.line for row in parsed.rows] == [1]
    assert [q.line for q in parsed.quarantined] == [2]


def test_two_runs_in_one_file_are_not_mixed() -> None:
    earlier = LINE.replace("3 sec: 2000", "1 sec: 500")
    parsed = parse_status(f"{LINE}\n{earlier}\n", "ycsb.err")
    assert len(parsed.rows) == 1
    assert "two runs" in parsed.quarantined[0].reason


def test_a_clients_log_lines_are_skipped_and_unknown_lines_are_not() -> None:
    text = f"""\
Loading workload...
2026-11-20 17:20:27,971 WARN  [main] client.ConnectionImplementation - retrying
java.io.IOException: gone
{LINE}
"""
    parsed = parse_status(text, "ycsb.err")
    assert (parsed.parsed, parsed.skipped) == (1, 2)
    assert [q.text for q in parsed.quarantined] == ["java.io.IOException: gone"]


@pytest.mark.parametrize("data", [b"", b"Starting test.\n", b"\xff\n"])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match="no YCSB status"):
        parse_status(data, "ycsb.err")
