"""points.csv: units, and every kind of invalid line."""

from __future__ import annotations

import pytest

from density_study.analysis.capacity.inputs.points import parse_points
from density_study.cluster.model.errors import InputError

HEAD = "group,hosts,vms_per_host,disk_type,value,unit,repetition\n"


def test_units_are_converted_to_seconds_and_operations_per_second() -> None:
    lines = "a,2,1,flash,2,min,1\nb,2,1,flash,4.194304,MB/s,1\nc,2,0,hdd,86400,genomes/day,1\n"
    a, b, c = parse_points(HEAD + lines, "points.csv")
    assert (a.quantity, a.value, a.unit, a.work_time_s) == ("time", 120.0, "s", 120.0)
    assert (b.quantity, b.value, b.unit) == ("rate", 4.0, "MiB/s")
    assert (c.value, c.unit, c.work_time_s, c.vms_per_host) == (1.0, "genomes/s", 1.0, 0)


def test_a_percentile_gives_a_latency_and_a_load_a_utilization() -> None:
    head = "group,hosts,vms_per_host,disk_type,value,unit,repetition,load,percentile\n"
    a, b, c = parse_points(
        head + "q,1,1,flash,12,ms,1,500,95\nq,1,1,flash,40,%,1,500,\nq,1,1,flash,900,ops/s,1,,\n",
        "p",
    )
    assert (a.quantity, a.value, a.percentile, a.load) == ("latency", 0.012, 95.0, 500.0)
    assert (b.quantity, b.value, c.quantity) == ("utilization", 40.0, "rate")


def test_missing_repetitions_are_numbered_and_columns_may_have_any_order() -> None:
    text = "Unit, value, hosts, group, disk_type, vms_per_host\ns, 3, 2, a, , 1\ns, 4, 2, a, , 1\n"
    points = parse_points(text, "p")
    assert [(p.repetition, p.disk_type) for p in points] == [(1, "unknown"), (2, "unknown")]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("a,2,1,flash,-3,s,1", "value"),
        ("a,2,1,flash,0,s,1", "value"),
        ("a,2,1,flash,nan,s,1", "value"),
        ("a,2,1,flash,inf,s,1", "value"),
        ("a,2,1,flash,many,s,1", "value"),
        ("a,2,1,flash,,s,1", "value"),
        ("a,0,1,flash,3,s,1", "hosts"),
        ("a,2.5,1,flash,3,s,1", "hosts"),
        ("a,2,-1,flash,3,s,1", "vms_per_host"),
        ("a,2,1,flash,3,furlongs,1", "furlongs"),
        ("a,2,1,flash,3,,1", "unit"),
        ("a,2,1,flash,50,percent,1", "load"),
        (",2,1,flash,3,s,1", "group"),
    ],
)
def test_an_invalid_line_is_refused_and_named(line: str, named: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_points(HEAD + "a,1,1,flash,3,s,1\n" + line + "\n", "points.csv")
    assert named in caught.value.what
    assert caught.value.where == "points.csv, line 3"


@pytest.mark.parametrize("other", ["a,4,1,flash,30,ops/s,1", "a,4,1,hdd,30,MiB/s,1"])
def test_mixed_units_of_a_group_are_refused(other: str) -> None:
    with pytest.raises(InputError, match="mixes units"):
        parse_points(HEAD + "a,2,1,flash,3,s,1\n" + other + "\n", "p")


def test_a_last_line_that_may_be_cut_off_is_refused() -> None:
    """By a tool that stopped within 1877.5 or within a unit: what is left may parse."""
    lines = f"{HEAD}a,2,1,flash,1877.5,MiB/s,1\n"
    with pytest.raises(InputError, match="cut off") as caught:
        parse_points(f"{lines}a,4,1,flash,3755.0,MiB/s", "points.csv")
    assert caught.value.where == "points.csv, line 3"
    for whole in ("a,4,1,flash,3755.0,MiB/s,1", "a,4,1,flash,3755.0,MiB/s\n"):
        assert len(parse_points(lines + whole, "points.csv")) == 2


@pytest.mark.parametrize(
    ("column", "cell"),
    [("load", "99.5"), ("percentile", "99"), ("operation", "RE"), ("operation", ""), ("unit", "s"),
     ("value", "1877")],
)  # fmt: skip
def test_a_last_cell_that_may_be_cut_off_is_read_with_a_warning(
    caplog: pytest.LogCaptureFixture, column: str, cell: str
) -> None:
    """999.5, 99.9, READ, s/min and 1877.5 were whole cells as well. A repetition is only counted."""
    cells = {"group": "a", "hosts": "2", "vms_per_host": "1", "disk_type": "flash", "value": "3",
             "unit": "s", "repetition": "1", "load": "9", "percentile": "9", "operation": "READ"}  # fmt: skip
    cells = {name: text for name, text in cells.items() if name != column} | {column: cell}
    text = "\n".join(map(",".join, (cells, cells.values())))
    assert len(parse_points(text, "points.csv")) == 1
    (warned,) = (record.getMessage() for record in caplog.records)
    assert warned.startswith("points.csv, line 2: no line end") and repr(cell) in warned
    caplog.clear()
    for end in ("\n", "\r\n"):
        assert len(parse_points(text + end, "points.csv")) == 1
    quoted = text.removesuffix(cell) + f'"{cell}"'
    assert len(parse_points(quoted, "points.csv")) == 1
    assert len(parse_points(text.replace("\n", ",of us\n") + ",Ann", "points.csv")) == 1
    assert not caplog.records


def test_a_file_without_points_or_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="no points"):
        parse_points(HEAD, "p")
    with pytest.raises(InputError, match="'hosts' is missing"):
        parse_points("group,value\na,1\n", "p")
    with pytest.raises(InputError, match="is missing"):
        parse_points("", "p")
