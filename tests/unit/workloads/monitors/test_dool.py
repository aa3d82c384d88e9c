"""The dstat family's CSV: every real sample, and the known defects of columns and units."""

from __future__ import annotations

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors import MONITORS, last_epoch_s
from density_study.workloads.monitors.dool import dool_command, parse_dool
from density_study.workloads.monitors.dool_cells import HostSample
from tests.support.dool_texts import HEAD, SECOND, THIRD, read


def samples(text: str) -> list[HostSample]:
    return [row for row in parse_dool(text, "d.csv").rows if not row.since_boot]


def test_a_real_file_with_our_own_arguments() -> None:
    parsed = parse_dool(read("dool-1.3.8"), "d.csv")
    assert [row.since_boot for row in parsed.rows] == [True, False, False]
    row = parsed.rows[1]
    assert (row.line, row.epoch_s, row.time_text) == (8, 1795196683.862, "Nov-20 17:44:43")
    assert (row.cpu_user, row.cpu_system, row.cpu_idle) == (0.0, 0.5, 99.5)
    assert (row.cpu_iowait, row.cpu_steal, row.cpu_irq) == (0.0, 0.0, None)
    assert (row.memory_used_bytes, row.memory_cached_bytes) == (136921088.0, 1246212096.0)
    assert (row.memory_available_bytes, row.memory_buffered_bytes) == (24846594048.0, None)
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (3, 6, ())


def test_equal_column_names_are_distinguished_by_section() -> None:
    """read and writ occur under dsk and io, used and free under memory and swap."""
    row = parse_dool(read("dstat-0.7.3"), "d.csv").rows[1]
    assert (row.disk_read_bytes_s, row.disk_write_bytes_s) == (73728.0, 4096.0)
    assert (row.disk_read_ops_s, row.disk_write_ops_s) == (16.0, 1.0)
    assert (row.memory_used_bytes, row.memory_free_bytes) == (1052381184.0, 21807345664.0)
    assert row.memory_buffered_bytes == 12509184.0


def test_dool_writes_bits_and_the_parser_returns_bytes() -> None:
    """Means since boot, taken 9 seconds apart on one machine by dstat (bytes) and dool (bits)."""
    by_dstat = parse_dool(read("dstat-0.7.3"), "d.csv").rows[0]
    by_dool = parse_dool(read("dool-1.3.4_narrow_tty"), "d.csv").rows[0]
    assert by_dool.disk_read_bytes_s == pytest.approx(by_dstat.disk_read_bytes_s, rel=0.02)
    assert by_dool.disk_write_bytes_s == pytest.approx(by_dstat.disk_write_bytes_s, rel=0.02)


@pytest.mark.parametrize(
    "tool, arguments, factor",
    [
        ("dool 1.3.8", "", 0.125),
        ("dool 1.3.0", "--bits", 0.125),
        ("dool 1.3.8", "--bytes", 1),
        ("dool 1.3.8", "--by", 1),
        ("dool 1.3.8", "--dstat", 1),
        ("dool 1.3.8", "--bytes --bits", 0.125),
        ("dool 1.2.0", "", 1),
        ("dool 1.10.0", "", 0.125),
        ("Dstat 0.7.3", "--bits", 1),
        ("Dstat 0.8.0", "", 1),
    ],
)
def test_bits_or_bytes(tool: str, arguments: str, factor: float) -> None:
    text = HEAD.replace("dool 1.3.8", tool).replace("--bytes", arguments) + SECOND
    (row,) = samples(text)
    assert (row.disk_read_bytes_s, row.disk_write_bytes_s) == (4096 * factor, 8192 * factor)
    assert (row.net_receive_bytes_s, row.net_send_bytes_s) == (100 * factor, 200 * factor)


def test_without_its_arguments_dools_units_are_unknown() -> None:
    text = "".join(line for line in HEAD.splitlines(True) if "Cmdline" not in line) + SECOND
    parsed = parse_dool(text, "d.csv")
    assert parsed.rows == ()
    assert all("bits or bytes unknown" in q.reason for q in parsed.quarantined)


def test_used_cpu_excludes_idle_waiting_and_stolen_time() -> None:
    (row,) = samples(HEAD + SECOND)
    assert row.cpu_used == 15.0
    assert HostSample(1, None, None, False).cpu_used is None


def test_a_narrow_terminal_adds_a_comma() -> None:
    parsed = parse_dool(read("dool-1.3.4_narrow_tty"), "d.csv")
    assert (len(parsed.rows), parsed.quarantined) == (2, ())
    assert parsed.rows[1].cpu_idle == 86.598


def test_several_cpus_repeat_the_section_in_the_name() -> None:
    (row,) = parse_dool(read("dool-1.3.4_percpu"), "d.csv").rows
    assert (row.cpu_user, row.cpu_idle, row.cpu_steal) == (16.801, 77.487, 0.031)
    assert row.epoch_s == 1795194816.2


def test_a_reused_file_has_a_first_sample_in_the_middle() -> None:
    parsed = parse_dool(read("dool-1.3.4_append_twice"), "d.csv")
    assert [row.since_boot for row in parsed.rows] == [True, False, True]
    assert parsed.rows[2].cpu_idle is None  # the second start had other columns
    assert parsed.rows[1].disk_read_bytes_s == 0.0
    assert (parsed.skipped, parsed.quarantined) == (12, ())


def test_headers_alone_give_no_samples() -> None:
    parsed = parse_dool(read("dstat-0.7.4-6.1_header_only_crash"), "d.csv")
    assert (parsed.rows, parsed.skipped, parsed.quarantined) == ((), 6, ())


def test_seven_values_under_four_names_leave_memory_unknown() -> None:
    """dstat 0.7.2: the values after memory are shifted, and CPU would read 116830208 percent."""
    first, later = parse_dool(read("dstat-0.7.2_memory"), "d.csv").rows
    assert (first.cpu_user, first.cpu_system, first.cpu_idle) == (0.173, 0.123, 99.670)
    assert (first.cpu_irq, later.cpu_idle) == (0.026, 100.0)
    assert first.memory_used_bytes is None and first.memory_cached_bytes is None


def test_seven_values_under_four_names_are_rejected_where_nothing_proves_the_places() -> None:
    text = read("dstat-0.7.2_memory").decode().replace("total cpu usage", "cpu0 usage")
    parsed = parse_dool(text, "d.csv")
    assert parsed.rows == ()
    assert all("14 cells under 11 columns" in q.reason for q in parsed.quarantined)


def test_local_times_need_a_time_zone() -> None:
    text = read("dstat-0.7.3").decode().replace(" UTC", " CET")
    utc, local, given = (
        parse_dool(*arguments).rows
        for arguments in ((read("dstat-0.7.3"), "d"), (text, "d"), (text, "d", "Europe/Berlin"))
    )
    assert [row.epoch_s for row in local] == [None] * len(utc)
    assert [row.epoch_s for row in given] == [(row.epoch_s or 0) - 3600 for row in utc]
    assert [row.cpu_used for row in given] == [row.cpu_used for row in utc]


def test_a_given_zone_does_not_replace_utc() -> None:
    found = parse_dool(read("dstat-0.7.3"), "d", "Asia/Tokyo").rows
    assert found == parse_dool(read("dstat-0.7.3"), "d").rows


def test_a_local_time_that_occurs_twice_is_rejected() -> None:
    text = read("dstat-0.7.3").decode().replace("20 Nov 2026 17", "25 Oct 2026 02")
    text = text.replace("20-11 17:", "25-10 02:").replace(" UTC", " CEST")
    parsed = parse_dool(text, "d", "Europe/Berlin")
    assert parsed.rows == ()
    assert all("occurs twice or never" in q.reason for q in parsed.quarantined)


def test_separate_interrupt_columns_count_as_used() -> None:
    text = """\
"Dstat 0.7.2 CSV output"
"Host:","w1",,,,"User:","root"
"Cmdline:","dstat -c",,,,"Date:","28 Feb 2018 17:39:48 UTC"

"total cpu usage",,,,,
"usr","sys","idl","wai","hiq","siq"
0.173,0.123,99.670,0.009,0.0,0.026
50.0,10.0,30.0,5.0,2.0,3.0
"""
    (row,) = samples(text)
    assert (row.cpu_irq, row.cpu_used, row.cpu_steal) == (5.0, 65.0, None)
    assert (row.epoch_s, row.time_text) == (None, None)


def test_pcp_dstat() -> None:
    parsed = parse_dool(read("pcp-dstat"), "d.csv")
    assert [row.since_boot for row in parsed.rows] == [True, False, False]
    first, second, late = parsed.rows
    assert (first.cpu_idle, first.disk_read_bytes_s) == (None, None)  # empty cells, not zeros
    assert first.memory_used_bytes == 3675376 * 1024
    assert (second.cpu_user, second.disk_write_bytes_s) == (12.85, 235 * 1024)
    assert second.disk_write_ops_s == 8.0
    assert late.cpu_idle == 87.25
    (quarantined,) = parsed.quarantined
    assert quarantined.line == 9
    assert "CPU shares add up to 97.200" in quarantined.reason


@pytest.mark.parametrize("cell", [",12.850", ",3676368", ",235", ",8\n"])
def test_a_shifted_row_of_pcp_dstat_is_detected(cell: str) -> None:
    """Its empty cells could hide an extra or a missing cell."""
    text = read("pcp-dstat").decode()
    end = "\n" if cell.endswith("\n") else ""
    for damage in (f",1{cell}", end):
        assert text.count(cell) >= 1
        assert len(parse_dool(text.replace(cell, damage), "d.csv").rows) < 3


def test_a_first_row_without_values_is_skipped() -> None:
    text = HEAD.replace("dool 1.3.8", "pcp-dstat 6.2.0").replace("total cpu usage", "total usage")
    text = text.replace(",16,4,80,0,0,1,2,3,4", ",,")
    parsed = parse_dool(text + SECOND, "d.csv")
    assert [row.since_boot for row in parsed.rows] == [False]


@pytest.mark.parametrize(
    "row, reason",
    [
        (SECOND.replace(",4096", ""), "9 cells under 10 columns"),
        (SECOND.replace(",4096", "").replace("\n", ",\n"), "empty cell"),
        (SECOND.replace(",4096", ",4096,1"), "11 cells under 10 columns"),
        (SECOND.replace("4096", "4,096"), "11 cells under 10 columns"),
        (SECOND.replace(",75,", ",57,"), "CPU shares add up to 82"),
        (SECOND.replace(",10,5,75,6,4,", ",0,0,0,0,0,"), "CPU shares add up to 0"),
        (SECOND.replace(",75,", ",,"), "empty cell"),
        (SECOND.replace("4096", "-4096"), "negative"),
        (SECOND.replace("4096", "NaN"), "not finite"),
        (SECOND.replace("4096", "1e400"), "too large"),
        (SECOND.replace("4096", "4096B"), "not a number"),
        (SECOND.replace("4096", '"4096'), "not a line of CSV"),
        (SECOND.replace("1795196683.862", "1795196681.862"), "time goes back"),
        (SECOND.replace("1795196683.862", "1795196682.861"), "time goes back"),
        (SECOND.replace("1795196683.862", "1895196683.862"), "jumps by more than a day"),
        (SECOND.replace("1795196683.862", "17951.862"), "not of this century"),
        ("hello\n", "1 cells under 10 columns"),
    ],
)
def test_a_damaged_row_is_quarantined_alone(row: str, reason: str) -> None:
    parsed = parse_dool(HEAD + row + THIRD, "d.csv")
    assert [r.epoch_s for r in parsed.rows] == [1795196682.861, 1795196684.862]
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, quarantined.file) == (8, "d.csv")
    assert reason in quarantined.reason


def test_a_damaged_first_row_makes_the_next_the_sample_since_boot() -> None:
    """The first sample is no longer certain: one sample less is safer."""
    parsed = parse_dool(HEAD.replace(",16,4,80", ",16,4,8") + SECOND + THIRD, "d.csv")
    assert [row.since_boot for row in parsed.rows] == [True, False]


@pytest.mark.parametrize(
    "damage",
    [
        ('"total cpu usage",,,,,', '"total cpu usage",,,,'),
        ('"epoch","usr"', '"epoch",""'),
        ('"usr"', '"total usage:usr"'),
        ('"usr","sys"', '"usr","usr"'),
        ('"usr"', '"usr'),
        ('"epoch","total cpu usage"', '"","total cpu usage"'),
        ('"epoch","total cpu usage",,,,,"dsk/total",,"net/total",\n', ""),
        ('"epoch","usr","sys","idl","wai","stl","read","writ","recv","send"\n', ""),
    ],
)
def test_rows_under_a_damaged_header_are_not_read(damage: tuple[str, str]) -> None:
    assert damage[0] in HEAD
    parsed = parse_dool(HEAD.replace(*damage) + SECOND, "d.csv")
    assert parsed.rows == ()
    assert parsed.lines == HEAD.replace(*damage).count("\n") + 1


def test_a_truncated_last_row_is_quarantined() -> None:
    parsed = parse_dool(HEAD + SECOND[:-1], "d.csv")
    assert len(parsed.rows) == 1
    assert parsed.quarantined[0].reason.startswith("last line is cut off")


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"\xff\xfe\x00", b'"dool"\n'])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match="no dstat, dool or pcp-dstat file"):
        parse_dool(data, "d.csv")


def test_the_command() -> None:
    command = dool_command("h1", "/x/h1.dool.csv", 1.0, "s/r/b", ("python3",))
    assert command.argv[:3] == ("python3", "-m", "dool")
    assert "--bytes" in command.argv
    assert command.argv[-3:] == ("--output", "/x/h1.dool.csv", "1")
    assert command.env["STUDY_NODE"] == "monitor"
    assert MONITORS["dool"] is dool_command


@pytest.mark.parametrize("period_s", [0.5, 1.5, 0.0])
def test_dool_accepts_only_whole_seconds(period_s: float) -> None:
    with pytest.raises(ValueError, match="whole seconds"):
        dool_command("h1", "/x", period_s, "s/r/b", ("python3",))


def test_the_last_sample_of_a_growing_file() -> None:
    assert last_epoch_s("") is None
    assert last_epoch_s(HEAD.partition("1795196682")[0]) is None
    assert last_epoch_s(HEAD + SECOND) == 1795196683.862
    assert last_epoch_s(HEAD + SECOND[:-1]) == 1795196682.861
