"""Files are recognised by content; a part of a known format that cannot be read whole is refused by name."""

from __future__ import annotations

import gzip
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.piece import Recognised
from density_study.workloads.imports.recognise import files_of, recognise, recognise_all
from tests.support.records.ycsb_0_12 import SUMMARY, YCSB_0_12

SAMPLES = Path(__file__).parents[3] / "samples"


def of_text(folder: Path, text: str | bytes, time_zone: str = "") -> Recognised:
    (folder / "f").write_bytes(text.encode() if isinstance(text, str) else text)
    return recognise(folder, "f", time_zone)


def refusals(found: Recognised) -> list[str]:
    return [str(part) for part in found.refused]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("TestDFSIO-3.4.2_results.log", ["dfsio-results"] * 6),
        ("TestDFSIO-3.4.2_write.jhist", ["dfsio-history"]),
        ("TestDFSIO-3.4.2_write_part-00000", ["dfsio-io"]),
        ("dool-1.3.4.csv", ["dool"]),
        ("dool-1.3.8.csv", ["dool"]),
        ("dstat-0.7.3.csv", ["dool"]),
        ("pcp-dstat.csv", ["dool"]),
        ("nodecpu-1.csv", ["nodecpu"]),
        ("sar-12.6.1.csv", ["sar"]),
        ("ycsb-0.17.0_JSON.out", ["ycsb-run"]),
        ("ycsb-0.17.0_JSONArray.out", ["ycsb-run"]),
        ("ycsb-0.17.0_both.out", ["ycsb-run"]),
        ("ycsb-0.17.0_hdr.err", ["ycsb-status"]),
        ("ycsb-0.17.0_hdr.out", ["ycsb-run"]),
        ("ycsb-0.17.0_hdrhistogram+histogram.out", ["ycsb-run"]),
        ("ycsb-0.17.0_hdrhistogram+raw.out", ["ycsb-run"]),
        ("ycsb-0.17.0_hdrhistogram-2.2.2_Intended-READ.hdr", ["ycsb-hdr"]),
        ("ycsb-0.17.0_hdrhistogram-2.2.2_READ.hdr", ["ycsb-hdr"]),
        ("ycsb-0.17.0_histogram.out", ["ycsb-run"]),
        ("ycsb-0.17.0_raw.out", ["ycsb-run"]),
        ("ycsb-0.17.0_scan.out", ["ycsb-run"]),
        ("ycsb-0.17.0_target_both.out", ["ycsb-run"]),
        ("ycsb-0.17.0_timeseries.out", ["ycsb-run"]),
    ],
)
def test_a_sample_is_read_under_any_name(name: str, kinds: list[str], tmp_path: Path) -> None:
    found = of_text(tmp_path, (SAMPLES / name).read_bytes())
    assert [piece.kind for piece in found.pieces] == kinds
    assert found.refused == ()


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("TestDFSIO-3.4.2_locale_de.log", 1, "decimal comma"),
        ("TestDFSIO-3.4.2_zero_time.log", 1, "zero time"),
        ("dool-1.3.4_append_twice.csv", 0, "fewer than two samples"),
        ("dool-1.3.4_narrow_tty.csv", 0, "fewer than two samples"),
        ("dool-1.3.4_percpu.csv", 0, "fewer than two samples"),
        ("dstat-0.7.2_memory.csv", 0, "fewer than two samples"),
        ("dstat-0.7.4-6.1_header_only_crash.csv", 0, "fewer than two samples"),
    ],
)
def test_a_sample_that_cannot_be_trusted_is_refused(name: str, line: int, reason: str) -> None:
    found = recognise(SAMPLES, name)
    assert found.pieces == ()
    assert found.refused[0].line == line
    assert reason in found.refused[0].reason


def test_a_run_of_ycsb_0_12_shows_its_request_and_its_time(tmp_path: Path) -> None:
    (piece,) = of_text(tmp_path, YCSB_0_12).pieces
    facts = piece.ycsb
    assert facts.version == "0.12.0"
    assert facts.number("recordcount") == 1000
    assert facts.number("threadcount") == 16
    assert (facts.at, facts.at_elapsed_s) == (datetime(2017, 3, 1, 12, 0, 10, 100_000), 10)
    assert (facts.run_s, facts.counts) == (10.0, {"READ": 990, "UPDATE": 1010})
    assert facts.problem == ""


@pytest.mark.parametrize(
    ("more", "threads", "target"),
    [
        ("-threads 64", 64, None),
        ("-p threadcount=64", 64, None),
        ("-p threadcount=64 -threads 8 -target 500", 8, 500),
    ],
)
def test_the_last_of_a_clients_options_counts(
    more: str, threads: int, target: int | None, tmp_path: Path
) -> None:
    """A wrapper appends its own to those of its user."""
    text = YCSB_0_12.replace("operationcount=2000 -s", f"operationcount=2000 {more} -s")
    (piece,) = of_text(tmp_path, text).pieces
    assert (piece.ycsb.number("threadcount"), piece.ycsb.number("target")) == (threads, target)


def test_numbers_without_end_are_no_numbers(tmp_path: Path) -> None:
    """Python refuses to read them."""
    many = "9" * 5000
    text = YCSB_0_12.replace("recordcount=1000", f"recordcount={many}")
    (piece,) = of_text(tmp_path, text.replace(" 10 sec: 2000", f" {many} sec: {many}")).pieces
    assert piece.ycsb.number("recordcount") is None
    assert piece.ycsb.at_elapsed_s == 0


def test_two_logs_one_behind_the_other_are_no_log(tmp_path: Path) -> None:
    data = (SAMPLES / "ycsb-0.17.0_hdrhistogram-2.2.2_READ.hdr").read_bytes()
    found = of_text(tmp_path, data + data)
    assert found.pieces == ()
    assert "2 logs, one behind the other" in refusals(found)[0]


def test_several_runs_in_one_file_are_told_apart_from_text_in_between(tmp_path: Path) -> None:
    second = YCSB_0_12.replace("990", "900").replace("1010", "1100")
    text = f"Load\n=====\n{YCSB_0_12}\n*** restarting HBase ***\nok\n{second}bye\n"
    first, later = of_text(tmp_path, text).pieces
    assert (first.number, later.number) == (1, 2)
    assert first.ycsb.counts == {"READ": 990, "UPDATE": 1010}
    assert later.ycsb.counts == {"READ": 900, "UPDATE": 1100}
    for piece in (first, later):
        assert piece.lines.data.count(b"[OVERALL]") == 2
        assert b"HBase" not in piece.lines.data.replace(b"HBaseClient10", b"")


def test_two_summaries_without_anything_between_are_two_runs(tmp_path: Path) -> None:
    found = of_text(tmp_path, SUMMARY + SUMMARY)
    assert [piece.lines.data.decode() for piece in found.pieces] == [SUMMARY, SUMMARY]


def test_a_run_that_was_cut_off_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    whole = YCSB_0_12[YCSB_0_12.index("YCSB Client") :]
    cut = whole.removesuffix(SUMMARY)
    found = of_text(tmp_path, cut.replace("10 sec: 2000", "90 sec: 1800") + whole)
    (piece,) = found.pieces
    assert piece.number == 2
    assert piece.lines.data.decode() == SUMMARY
    assert piece.status is not None and piece.status.data.decode() == cut
    assert refusals(found)[0].startswith("f:1: YCSB started here and printed no summary")


def test_a_damaged_number_refuses_its_run_by_line(tmp_path: Path) -> None:
    text = SUMMARY.replace("[READ], Return=OK, 990", "[READ], Return=OK, 9x0")
    found = of_text(tmp_path, text)
    assert found.pieces == ()
    bad = next(n for n, line in enumerate(text.splitlines(), 1) if "9x0" in line)
    assert refusals(found)[0].startswith(f"f:{bad}: ")


def test_a_failed_run_that_still_prints_a_summary_has_a_problem(tmp_path: Path) -> None:
    text = (
        "[OVERALL], RunTime(ms), 31.0\n[OVERALL], Throughput(ops/sec), 0.0\n"
        "[CLEANUP], Operations, 8.0\n"
    )
    (piece,) = of_text(tmp_path, text).pieces
    assert "counts no operation" in piece.ycsb.problem


def test_a_part_of_a_summary_is_refused_and_is_no_failed_run(tmp_path: Path) -> None:
    text = SUMMARY.replace("[OVERALL], RunTime(ms), 10000.0\n", "")
    found = of_text(tmp_path, text)
    assert not found.pieces and "its beginning" in refusals(found)[0]


def test_a_job_without_a_result_is_refused_where_it_began(tmp_path: Path) -> None:
    text = (
        "23/01/01 10:00:00 INFO fs.TestDFSIO: nrFiles = 4\n"
        "23/01/01 10:00:00 INFO fs.TestDFSIO: nrBytes (MB) = 64.0\n"
        "java.io.IOException: Job failed!\n"
    )
    found = of_text(tmp_path, text)
    assert found.pieces == ()
    assert refusals(found)[0].startswith("f:1: a TestDFSIO job began here and printed no result")


def test_local_times_need_a_zone_and_are_read_with_one(tmp_path: Path) -> None:
    data = (SAMPLES / "sar-12.6.1_restart_local.csv").read_bytes()
    (without,) = of_text(tmp_path, data).pieces
    (within,) = of_text(tmp_path, data, "Europe/Berlin").pieces
    assert (without.span.local, without.span.since_s) == (True, None)
    assert (within.span.local, within.span.since_s) == (False, 1795425458.0)


@pytest.mark.parametrize("sample", ["dstat-0.7.3.csv", "sar-12.6.1_restart_local.csv"])
@pytest.mark.parametrize(
    ("printed", "given", "own"),
    [
        *(("CET", "UTC", "UTC"), ("CET", "America/New_York", "EST"), ("CET", "Europe/Berlin", "")),
        *(("GMT", "Europe/Berlin", "+0100"), ("GMT", "Europe/London", ""), ("GMT", "UTC", "")),
        *(("+03", "Europe/Berlin", "+0100"), ("+0530", "Asia/Kolkata", ""), ("+03", "Europe/Moscow", "")),
        *(("MSK", "Europe/Istanbul", ""), ("UTC", "Asia/Tokyo", "")),
    ],
)  # fmt: skip
def test_a_given_zone_must_have_the_name_that_a_monitor_prints(
    sample: str, printed: str, given: str, own: str, tmp_path: Path
) -> None:
    text = (SAMPLES / sample).read_text().replace(" UTC", f" {printed}")
    if sample.startswith("sar"):
        text = re.sub(r"(:\d\d:\d\d);", rf"\1 {printed};", text)
    found = of_text(tmp_path, text, given)
    assert len(found.pieces) == (not own), refusals(found)
    why = f"is printed as {printed}, and time_zone has {own} then: give the file its own"
    assert [why in one for one in refusals(found)] == [True] * bool(own)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(SUMMARY.encode()), "compressed with gzip"),
        (SUMMARY.encode("utf-16"), "UTF-16"),
        (SUMMARY.replace(", ", ",").encode(), "a YCSB summary whose blanks were removed"),
        (b"# hostname,interval,timestamp,CPU\na,1,2026-11-23,-1\n", "CSV of sadf -d, written by"),
        (b"hostname;interval;timestamp;CPU\na;1;2026-11-23;-1\n", "CSV of sadf -d, written by"),
    ],
)
def test_an_encoded_file_is_refused(data: bytes, reason: str, tmp_path: Path) -> None:
    found = of_text(tmp_path, data)
    assert found.pieces == ()
    assert reason in refusals(found)[0]


@pytest.mark.parametrize("text", ["", "\n\n", "notes of the operator\n", "a,b\n1,2\n"])
def test_a_file_of_no_known_format_is_neither_read_nor_refused(text: str, tmp_path: Path) -> None:
    found = of_text(tmp_path, text)
    assert (found.pieces, found.refused) == ((), ())


def test_a_folder_is_read_without_its_map_and_names_links(tmp_path: Path) -> None:
    """Nothing is read through a link, and nothing is left out in silence."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "y.out").write_text(SUMMARY)
    (tmp_path / "map.yaml").write_text("study: x\n")
    (tmp_path / "link").symlink_to(SAMPLES / "dool-1.3.8.csv")
    (tmp_path / "disk2").symlink_to(SAMPLES, target_is_directory=True)
    assert files_of(tmp_path) == ("a/y.out", "disk2", "link", "map.yaml")
    found = recognise_all(tmp_path)
    assert list(found) == ["a/y.out", "disk2", "link"]
    for link in ("disk2", "link"):
        assert found[link].pieces == () and "put a copy" in refusals(found[link])[0]


def test_a_folder_that_cannot_be_read_is_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if Path(path).name == "locked":
            raise PermissionError(13, os.strerror(13), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError, match="locked"):
        files_of(tmp_path)


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder"):
        files_of(tmp_path / "none")
