"""Times of the dstat family's samples: epochs, times without a year, and impossible times."""

from __future__ import annotations

import pytest

from density_study.workloads.monitors.dool import parse_dool
from tests.support.dool_texts import HEAD, read


def with_times(date: str, *times: str) -> str:
    rows = "".join(f"{time},16,4,80,0,0,1,2,3,4\n" for time in times)
    head = HEAD.replace('"epoch"', '"system"', 1).replace('"epoch"', '"time"', 1)
    return head.partition("1795196682")[0].replace("20 Nov 2026 17:44:42 UTC", date) + rows


def test_times_without_a_year_take_the_banners_year() -> None:
    text = with_times("31 Dec 2026 23:59:58 UTC", "Dec-31 23:59:58", "Dec-31 23:59:59")
    assert [row.epoch_s for row in parse_dool(text, "d.csv").rows] == [1798761598, 1798761599]


def test_the_year_may_change_during_the_file() -> None:
    text = with_times("31 Dec 2026 23:59:58 UTC", "31-12 23:59:59", "01-01 00:00:00")
    assert [row.epoch_s for row in parse_dool(text, "d.csv").rows] == [1798761599, 1798761600]


def test_in_another_time_zone_only_the_text_is_kept() -> None:
    text = with_times("20 Nov 2026 18:44:42 CET", "Nov-20 18:44:42")
    (row,) = parse_dool(text, "d.csv").rows
    assert (row.epoch_s, row.time_text) == (None, "Nov-20 18:44:42")


def test_a_damaged_year_gives_no_time() -> None:
    """Found by fuzzing: the year 1013 gave times before the epoch."""
    text = with_times("20 Nov 1013 17:44:42 UTC", "Nov-20 17:44:42")
    (row,) = parse_dool(text, "d.csv").rows
    assert (row.epoch_s, row.time_text) == (None, "Nov-20 17:44:42")


@pytest.mark.parametrize("time", ["Nov-31 17:44:43", "Nov-20 25:44:43", "Foo-20 17:44:43", "5"])
def test_impossible_times_are_rejected(time: str) -> None:
    text = with_times("20 Nov 2026 17:44:42 UTC", "Nov-20 17:44:42", time)
    assert len(parse_dool(text, "d.csv").rows) == 1


def test_epoch_and_time_of_a_row_must_agree() -> None:
    text = read("dool-1.3.8").decode().replace("Nov-20 17:44:43", "Nov-20 17:44:41")
    parsed = parse_dool(text, "d.csv")
    assert [row.line for row in parsed.rows] == [7, 9]
    assert "differ" in parsed.quarantined[0].reason
