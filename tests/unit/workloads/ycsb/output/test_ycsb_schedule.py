"""The log of a client with a schedule."""

from __future__ import annotations

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.ycsb.output.schedule import HEADER, ScheduleRow, parse_schedule


def test_each_second_has_its_piece_and_its_operations() -> None:
    found = parse_schedule(f"{HEADER}\n1795200000500,0,10.000\n1795200001500,1,12.500\n", "f")
    assert found.rows == (
        ScheduleRow(2, 1795200000.5, 0, 10.0),
        ScheduleRow(3, 1795200001.5, 1, 12.5),
    )
    assert (found.parsed, found.skipped, found.quarantined) == (2, 1, ())


@pytest.mark.parametrize("line", ["1,2", "1,2,3,4", "x,0,1", "1,-1,1", "1,0,NaN", "1,0,1,5"])
def test_a_line_that_cannot_be_trusted_is_quarantined(line: str) -> None:
    found = parse_schedule(f"{HEADER}\n{line}\n5,0,1.0\n", "f")
    assert len(found.rows) == 1 and found.quarantined[0].line == 2


def test_a_line_that_was_cut_off_is_no_number() -> None:
    assert parse_schedule(f"{HEADER}\n5,0,1", "f").rows == ()


@pytest.mark.parametrize("text", ["", "epoch,piece\n1,2\n"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="no log of a schedule"):
        parse_schedule(text, "f")
