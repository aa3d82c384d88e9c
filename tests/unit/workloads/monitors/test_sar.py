"""sar's CSV (`sadf -d`): real files of sysstat 12.6.1, and rows that cannot be trusted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors.dool_cells import HostSample
from density_study.workloads.monitors.sar import parse_sar

SAMPLES = Path(__file__).parents[3] / "samples"
UTC = (SAMPLES / "sar-12.6.1.csv").read_text()
LOCAL = (SAMPLES / "sar-12.6.1_restart_local.csv").read_text()
CPU = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n"
DISK = "# hostname;interval;timestamp;tps;rtps;wtps;bread/s;bwrtn/s\n"


def rows(text: str, time_zone: str = "") -> tuple[HostSample, ...]:
    return parse_sar(text, "s.csv", time_zone).rows


def reasons(text: str) -> list[str]:
    return [bad.reason for bad in parse_sar(text, "s.csv").quarantined]


def test_sections_of_one_time_are_one_sample() -> None:
    parsed = parse_sar(UTC, "s.csv")
    assert (len(parsed.rows), parsed.parsed, parsed.skipped) == (7, 21, 3)
    row = parsed.rows[1]
    assert (row.line, row.epoch_s, row.since_boot) == (3, 1795425405.0, False)
    assert (row.cpu_user, row.cpu_system, row.cpu_steal, row.cpu_idle) == (91.04, 8.46, 0.5, 0.0)
    assert row.cpu_used == pytest.approx(99.5)
    assert (row.disk_read_bytes_s, row.disk_write_bytes_s) == (14832.0 * 512, 24120.0 * 512)
    assert (row.disk_read_ops_s, row.disk_write_ops_s) == (282.0, 742.0)
    assert row.memory_free_bytes == 15802196 * 1024
    assert row.net_receive_bytes_s is None


def test_cores_devices_and_restarts_are_no_samples() -> None:
    found = rows(LOCAL, "Europe/Berlin")
    assert [row.time_text for row in found] == [
        f"2026-11-23 10:17:{second}" for second in (38, 40, 45, 46, 47)
    ]
    assert found[0].epoch_s == 1795425458.0
    assert (found[1].cpu_irq, found[0].disk_write_bytes_s) == (0.81, 22281.25 * 512)


def test_local_times_without_a_zone_have_no_epoch() -> None:
    assert [row.epoch_s for row in rows(LOCAL)] == [None] * 5


def test_epoch_seconds() -> None:
    text = CPU + "vm;1;1795425404;-1;90.00;0.00;8.00;1.00;0.00;1.00\n"
    assert rows(text)[0].epoch_s == 1795425404.0


def test_a_time_without_a_row_in_every_section_is_quarantined() -> None:
    cut = UTC[: UTC.index("kbmemfree")] + UTC[UTC.index("kbmemfree") :].partition("\n")[0] + "\n"
    cut += "".join(line + "\n" for line in UTC.splitlines()[-7:-2])
    parsed = parse_sar(cut, "s.csv")
    assert len(parsed.rows) == 5
    assert {bad.reason for bad in parsed.quarantined} == {"no memory row at this time"}


@pytest.mark.parametrize(
    ("row", "reason"),
    (
        ("vm;1;2026-11-23 09:16:44 UTC;-1;90.00;0.00;8.00;1.00;0.00;9.00", "add up to 108.000"),
        ("vm;0;2026-11-23 09:16:44 UTC;-1;90.00;0.00;8.00;1.00;0.00;1.00", "less than a second"),
        ("vm;1;2026-11-23 09:16:44 UTC;-1;90,00;0.00;8.00;1.00;0.00;1.00", "decimal comma"),
        ("vm;1;2026-11-23 09:16:44 UTC;-1;90.00;0.00;8.00;1.00;0.00", "9 cells under 10 columns"),
        ("vm;1;2026-13-23 09:16:44 UTC;-1;90.00;0.00;8.00;1.00;0.00;1.00", "no such time"),
        ("vm;1;09:16:44;-1;90.00;0.00;8.00;1.00;0.00;1.00", "not a number"),
    ),
)
def test_a_row_that_cannot_be_trusted(row: str, reason: str) -> None:
    assert rows(CPU + row + "\n") == ()
    assert reason in reasons(CPU + row + "\n")[0]


def test_time_must_grow_within_a_section() -> None:
    row = "vm;1;2026-11-23 09:16:44 UTC;-1;90.00;0.00;8.00;1.00;0.00;1.00\n"
    assert reasons(CPU + row + row) == ["time goes back, or occurs twice"]
    assert len(rows(CPU + row + row)) == 1


def test_a_row_above_any_header_is_quarantined() -> None:
    assert reasons("vm;1;2026-11-23 09:16:44 UTC;1\n" + DISK) == ["no header above this row"]


def test_the_text_tables_of_sar_are_refused() -> None:
    text = "Linux 6.1.0 (vm)\n\n09:16:43  CPU  %user\n09:16:44  all  91.96\n"
    with pytest.raises(ParseError, match="no sar file in CSV"):
        parse_sar(text, "s.txt")


def test_a_truncated_file_has_no_other_number() -> None:
    """Sections are joined by time, so a cut may leave out a value or a row; it never changes one."""
    whole = {row.line: row for row in rows(UTC)}
    for cut in random.Random(0).sample(range(len(UTC.encode())), 200):
        try:
            found = parse_sar(UTC.encode()[:cut], "s.csv").rows
        except ParseError:
            continue
        for row in found:
            known = {name: value for name, value in vars(row).items() if value is not None}
            assert known.items() <= vars(whole[row.line]).items()
