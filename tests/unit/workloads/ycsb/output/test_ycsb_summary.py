"""YCSB's summary: every real sample of every exporter, and text that must not be read as
numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.ycsb.output.measurement import Measurement, measurement
from density_study.workloads.ycsb.output.summary import (
    Overall,
    SummaryRow,
    operation_counts,
    overall,
    parse_summary,
)

SAMPLES = Path(__file__).parents[4] / "samples"


def read(name: str) -> bytes:
    return (SAMPLES / f"ycsb-0.17.0_{name}.out").read_bytes()


def row(text: str) -> SummaryRow:
    (only,) = parse_summary(text, "ycsb.out").rows
    return only


@pytest.mark.parametrize(
    "name, rows, runtime_ms, rate, ok",
    [
        ("both", 49, 2009, 995.5201592832254, {"READ": 933, "INSERT": 1067}),
        ("hdr", 31, 588, 3401.360544217687, {"READ": 933, "INSERT": 1067}),
        ("histogram", 34, 72, 2777.777777777778, {"READ": 94, "INSERT": 106}),
        ("hdrhistogram+histogram", 52, 81, 2469.135802469136, {"READ": 90, "INSERT": 110}),
        ("scan", 31, 20, 15000.0, {"INSERT": 22, "SCAN": 278}),
        ("target_both", 73, 4003, 4996.252810392206, {"READ": 9997, "UPDATE": 10003}),
        ("timeseries", 28, 85, 2352.9411764705883, {"READ": 97, "INSERT": 103}),
        ("raw", 49, 77, 2597.4025974025976, {"READ": 91, "INSERT": 109}),
        ("hdrhistogram+raw", 67, 99, 2020.20202020202, {"READ": 93, "INSERT": 107}),
        ("JSON", 31, 597, 3350.0837520938026, {"READ": 874, "INSERT": 1126}),
        ("JSONArray", 31, 547, 3656.307129798903, {"READ": 927, "INSERT": 1073}),
    ],
)
def test_real_summaries(
    name: str, rows: int, runtime_ms: int, rate: float, ok: dict[str, int]
) -> None:
    parsed = parse_summary(read(name), "ycsb.out")
    assert (len(parsed.rows), parsed.quarantined) == (rows, ())
    assert parsed.parsed == rows * (3 if name.startswith("JSON") else 1)
    assert overall(parsed.rows) == Overall(runtime_ms, rate)
    counts = operation_counts(parsed.rows)
    assert {operation: count.ok for operation, count in counts.items()} == ok
    assert all(count.failed == 0 for count in counts.values())


def test_units_are_read_from_the_line() -> None:
    assert row("[READ], 99.9PercentileLatency(us), 7515\n").unit == "us"
    assert row("[READ], 95thPercentileLatency(ms), 3\n").unit == "ms"
    assert row("[OVERALL], Throughput(ops/sec), 3.5\n").unit == "ops/sec"
    assert row("[READ], Return=NOT_FOUND, 4\n").unit == "count"
    assert row("[READ], p99.9, 4\n").unit == "us"
    assert row("[MAX_MEM_USED], MBs, 4\n").unit == "MBs"
    assert row("[TOTAL_GC_TIME_%], Time(%), 0.07\n") == SummaryRow(
        1, "TOTAL_GC_TIME_%", "Time", 0.07, "%"
    )


def test_printed_series_have_no_unit() -> None:
    for text in ("[READ], 0, 1130.16\n", "[READ], 999, 12\n", "[READ], >1000, 3\n"):
        assert row(text).unit is None


@pytest.mark.parametrize(("text", "count"), [("990.0", 990), ("1.9995388E7", 19_995_388)])
def test_counts_of_older_releases_are_printed_as_doubles(text: str, count: int) -> None:
    (found,) = parse_summary(f"[READ], Operations, {text}\n", "ycsb.out").rows
    assert (found.value, found.unit) == (count, "count")


@pytest.mark.parametrize("line", ["Operations, 1.2345E2", "Return=OK, 990.0"])
def test_a_double_that_is_no_count_is_quarantined(line: str) -> None:
    parsed = parse_summary(f"[OVERALL], RunTime(ms), 588\n[READ], {line}\n", "ycsb.out")
    assert [bad.line for bad in parsed.quarantined] == [2]


def test_failures_are_read_from_return_counts() -> None:
    """An OVERALL rate counts failures, and a failing client may exit with 0 (method 9)."""
    text = """\
[OVERALL], RunTime(ms), 1000
[OVERALL], Throughput(ops/sec), 100.0
[READ], Operations, 60
[READ], Return=OK, 60
[READ], Return=NOT_FOUND, 30
[READ], Return=ERROR, 10
[READ-FAILED], Operations, 40
[INSERT], Return=0, 5
[INSERT], Return=-1, 2
[CLEANUP], Operations, 1
"""
    counts = operation_counts(parse_summary(text, "ycsb.out").rows)
    assert set(counts) == {"READ", "INSERT"}
    assert (counts["READ"].ok, counts["READ"].failed) == (60, 40)
    assert (counts["INSERT"].ok, counts["INSERT"].failed) == (5, 2)


def test_intended_latencies_are_not_counted_twice() -> None:
    parsed = parse_summary(read("target_both"), "ycsb.out")
    intended = {r.measure: r.value for r in parsed.rows if r.name == "Intended-READ"}
    assert intended["99thPercentileLatency"] == 21583
    assert operation_counts(parsed.rows)["READ"].ok == 9997


def test_two_runs_in_one_file_are_not_mixed() -> None:
    parsed = parse_summary(read("hdr") + read("scan"), "ycsb.out")
    assert overall(parsed.rows) == Overall(588, 3401.360544217687)
    assert all("two runs" in q.reason for q in parsed.quarantined)
    assert parsed.lines == 62


@pytest.mark.parametrize(
    "line, reason",
    [
        ("[READ], AverageLatency(us), NaN", "not finite"),
        ("[READ], AverageLatency(us), ∞", "not finite"),
        ("[READ], AverageLatency(us), 1104,29", "locale"),
        ("[READ], MinLatency(us), -1", "negative"),
        ("[READ], Operations, 93.5", "not a number"),
        ("[READ], Return=OK, 1e3", "not a number"),
        ("[READ], MaxLatency(us), 9223372036854775807", "too large"),
        ("[READ], Operations, ", "missing"),
        ("[READ] Operations, 3", "not a line"),
        ("[READ], Operations", "not a line"),
        ("READ], Operations, 3", "not a line"),
        ("java.net.ConnectException: Connection refused", "not a line"),
    ],
)
def test_bad_lines_are_quarantined_alone(line: str, reason: str) -> None:
    parsed = parse_summary(f"[OVERALL], RunTime(ms), 588\n{line}\n", "ycsb.out")
    assert len(parsed.rows) == 1
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, quarantined.text) == (2, line)
    assert reason in quarantined.reason


def test_a_truncated_last_line_is_no_number() -> None:
    """`Return=OK, 1067` truncated to `Return=OK, 106` still looks complete."""
    for cut in range(1, 5):
        parsed = parse_summary(read("hdr")[:-cut], "ycsb.out")
        assert len(parsed.rows) == 30
        assert len(parsed.quarantined) == 1


def test_a_truncated_json_value_is_no_number() -> None:
    text = read("JSON").decode()
    cut = text[: text.index("3350.08") + 4]
    parsed = parse_summary(cut, "ycsb.out")
    assert [row.measure for row in parsed.rows] == ["RunTime"]
    assert [q.line for q in parsed.quarantined] == [6, 7, 8]


@pytest.mark.parametrize(
    "damage",
    [
        ('"OVERALL"', "OVERALL"),
        ('"RunTime(ms)"', '""'),
        (": 597", ": 5,97"),
        (": 597", ': "NaN"'),
        ('  "measurement" : "RunTime(ms)",\n', ""),
        ('  "metric" : "OVERALL",\n', ""),
        ('  "value" : 597\n', '  "value" : 597\n  "value" : 598\n'),
        ('  "measurement" : "RunTime(ms)",\n', "hello\n"),
    ],
)
def test_damaged_json_objects_give_no_row(damage: tuple[str, str]) -> None:
    parsed = parse_summary(read("JSON").decode().replace(*damage, 1), "ycsb.out")
    names = {(r.name, r.measure): r.value for r in parsed.rows}
    assert names.get(("OVERALL", "RunTime")) in (None, 597)
    assert names["OVERALL", "Throughput"] == 3350.0837520938026
    assert parsed.quarantined


def test_other_client_output_is_skipped() -> None:
    text = """\
YCSB Client 0.17.0
Command line: -t

2026-11-20 17:20:27,971 INFO  [main] zookeeper.ZooKeeper - Client environment
SLF4J: Failed to load class
\tat java.base/java.lang.Thread.run(Thread.java:833)
READ,1795195231762,195
[OVERALL], RunTime(ms), 588
"""
    parsed = parse_summary(text, "ycsb.out")
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (1, 7, ())


@pytest.mark.parametrize("data", [b"", b"hello\n", b"{\n}\n", b"[READ]\n", b"\x00\xff"])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match="no YCSB summary"):
        parse_summary(data, "ycsb.out")


@pytest.mark.parametrize(
    "name, expected",
    [
        ("READ", Measurement("READ", "READ")),
        ("Intended-SCAN", Measurement("Intended-SCAN", "SCAN", intended=True)),
        ("INSERT-FAILED", Measurement("INSERT-FAILED", "INSERT", outcome="FAILED")),
        ("READ-MODIFY-WRITE", Measurement("READ-MODIFY-WRITE", "READ-MODIFY-WRITE")),
        (
            "Intended-READ-MODIFY-WRITE-NOT_FOUND",
            Measurement(
                "Intended-READ-MODIFY-WRITE-NOT_FOUND", "READ-MODIFY-WRITE", True, "NOT_FOUND"
            ),
        ),
        ("HdrREAD", Measurement("HdrREAD", "READ", instrument="hdr")),
        ("OVERALL", Measurement("OVERALL", "OVERALL")),
    ],
)
def test_names_of_measurements(name: str, expected: Measurement) -> None:
    assert measurement(name) == expected
