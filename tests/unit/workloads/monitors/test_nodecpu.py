"""Our own sampler's CSV."""

from __future__ import annotations

import pytest

from density_study.workloads.base.parsing import ParseError
from density_study.workloads.monitors import MONITORS, last_epoch_s
from density_study.workloads.monitors.nodecpu import HEADER, nodecpu_command, parse_nodecpu, title

TEXT = f"""\
{title("h1", 100, 2)}
{HEADER}
1795196683.000,monitor,1,1,2
1795196683.000,w1,1000,200,4
1795196684.000,monitor,2,1,2
1795196684.000,w1,1090,210,4
1795196685.000,monitor,2,2,2
1795196685.000,w1,1090,210,0
"""


def test_a_whole_file() -> None:
    parsed = parse_nodecpu(TEXT, "h1.nodecpu.csv")
    row = parsed.rows[3]
    assert (row.line, row.host, row.node, row.epoch_s) == (6, "h1", "w1", 1795196684.0)
    assert (row.user_ticks, row.system_ticks, row.processes) == (1090, 210, 4)
    assert (row.ticks_per_s, row.cores) == (100, 2)
    assert (parsed.parsed, parsed.skipped, parsed.quarantined) == (6, 2, ())


@pytest.mark.parametrize(
    "damage, reason",
    [
        (("84.000,w1,1090", "84.000,w1,999"), "ticks go back"),
        (("84.000,w1,1090,210", "84.000,w1,1090,199"), "ticks go back"),
        (("84.000,w1,1090", "84.000,w1,10900"), "more CPU since line 4 than 2 cores have"),
        (("84.000,w1,1090", "84.000,w1,-1090"), "negative"),
        (("84.000,w1,1090", "84.000,w1,1090.5"), "not a number"),
        (("84.000,w1,1090", "84.000,w1,1090,0"), "6 cells under 5 columns"),
        (("84.000,w1,1090", "84.000,,1090"), "not a node's name"),
        (("1795196684.000,w1", "1795196682.000,w1"), "time goes back"),
        (("1795196684.000,w1", "17951966.000,w1"), "not of this century"),
        (("1795196684.000,w1", "NaN,w1"), "not finite"),
    ],
)
def test_a_damaged_row_is_quarantined_alone(damage: tuple[str, str], reason: str) -> None:
    parsed = parse_nodecpu(TEXT.replace(*damage), "f")
    (quarantined,) = parsed.quarantined
    assert (quarantined.line, reason in quarantined.reason) == (6, True), quarantined.reason
    assert [row.line for row in parsed.rows] == [3, 4, 5, 7, 8]


def test_a_truncated_last_row_is_quarantined() -> None:
    parsed = parse_nodecpu(TEXT[:-1], "f")
    assert [q.line for q in parsed.quarantined] == [8]


def test_rows_under_a_damaged_header_are_not_read() -> None:
    second = TEXT.replace("ticks_per_s=100", "ticks_per_s=x")
    parsed = parse_nodecpu(TEXT + second, "f")
    assert len(parsed.rows) == 6
    assert {q.line for q in parsed.quarantined} == {9, *range(11, 17)}


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ParseError, match="reads format 1"):
        parse_nodecpu(TEXT.replace("format 1", "format 2"), "f")


@pytest.mark.parametrize("data", [b"", HEADER.encode(), b"\xff"])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(ParseError, match="no nodecpu file"):
        parse_nodecpu(data, "f")


def test_the_command() -> None:
    command = nodecpu_command("h1", "/x/h1.nodecpu.csv", 0.5, "s/r/b", ("python3",))
    assert command.argv[:3] == ("python3", "-m", "density_study.workloads.monitors.nodecpu_sampler")
    assert command.argv[3:] == (
        *("--host", "h1", "--period", "0.5", "--output", "/x/h1.nodecpu.csv", "--tag", "s/r/b"),
    )
    assert command.env["STUDY_NODE"] == "monitor"
    assert MONITORS["nodecpu"] is nodecpu_command


def test_the_last_sample_of_a_growing_file() -> None:
    assert last_epoch_s("# x\n") is None
    assert last_epoch_s(TEXT + "1795196686.0") == 1795196685.0
