"""`study capacity fit|check` on third-party files: good results, or one clear error."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.cluster.model.errors import InputError
from density_study.dags.cli import main

HEAD = "group,hosts,vms_per_host,disk_type,value,unit,repetition"
HOSTS, DENSITIES, REPETITIONS = (1, 2, 3, 4, 6, 8), (1, 2, 3, 4, 6), (1, 2, 3)


def seconds(hosts: int, density: int = 1, repetition: int = 1) -> float:
    """Work time with one or two per cent of noise, and an optimum at 3 VMs per host."""
    wobble = 1 + 0.01 * ((7 * hosts + 5 * density + 11 * repetition) % 5 - 2)
    return (40 + 900 / hosts) * (1 + 0.04 * (density - 3) ** 2) * wobble


def lines(
    hosts: Iterable[int] = HOSTS,
    densities: Iterable[int] = (1,),
    repetitions: Iterable[int] = REPETITIONS,
) -> list[str]:
    places = [(n, v, r) for n in hosts for v in densities for r in repetitions]
    return [HEAD, *(f"sort,{n},{v},flash,{seconds(n, v, r):.3f},s,{r}" for n, v, r in places)]


def check(folder: Path, text: str, hold_out: str = "hosts") -> tuple[int, str]:
    """Exit code and output. InputError is what the command prints as one error, with exit code 2."""
    path = folder / "points.csv"
    path.write_bytes(text.encode())
    command = ["capacity", "check", str(path), "--hold-out", hold_out]
    result = CliRunner().invoke(main.app, command)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def fit(folder: Path, text: str) -> str:
    path = folder / "points.csv"
    path.write_bytes(text.encode())
    command = ["capacity", "fit", "--points", str(path), "-o", str(folder / "model.json")]
    result = CliRunner().invoke(main.app, command)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize(
    "changed",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "\t"),
        lambda text: "\n".join(
            ",".join(f'"{c}"' for c in row.split(",")) for row in text.split("\n")
        ),
        lambda text: "\n".join(row + ",no matter" for row in text.split("\n")),
        lambda text: text.replace("group,hosts", " Group , HOSTS "),
        lambda text: "\n" + text + "\n\n,,,,,,\n",
    ],
    ids=["bom", "crlf", "semicolons", "tabs", "quoted", "extra column", "spaces", "empty lines"],
)
def test_equivalent_notations_give_the_same_result(tmp_path: Path, changed: object) -> None:
    plain = "\n".join(lines())
    assert check(tmp_path, changed(plain)) == check(tmp_path, plain)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("sort,4,1,flash,-3,s,1", "value is '-3'; it must be positive"),
        ("sort,4,1,flash,0,s,1", "value is '0'; it must be positive"),
        ("sort,4,1,flash,NaN,s,1", "value is 'NaN', not a finite number"),
        ("sort,4,1,flash,n/a,s,1", "value is 'n/a', not a number"),
        ('sort,4,1,flash,"1,234.5",s,1', "'1,234.5', not a number; write it with a point"),
        ('sort,4,1,flash,"12,5",s,1', "not a number; write it with a point"),
        ("sort,4,1,flash,1_000,s,1", "not a number"),
        ("sort,4,1,flash,1,234.5,s,1", "the line has 8 cells, but the header has 7"),
        ("sort,4,1,flash,1e308,d,1", "no such is measured"),
        ("sort,20000,1,flash,3,s,1", "hosts is '20000', not a whole number from 1 to 10000"),
        ("sort,4,1,flash,3,MiB/s,1", "mixes units: MiB/s, s"),
        ('sort,4,1,flash,"3,s,1', "unit is empty"),
    ],
)
def test_an_invalid_line_is_named_with_its_position(tmp_path: Path, bad: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        check(tmp_path, "\n".join([*lines(), bad, ""]))
    assert message in str(caught.value)
    assert "points.csv" in caught.value.where
    assert caught.value.remedy


def test_text_without_a_table_is_one_error(tmp_path: Path) -> None:
    columns = HEAD.replace("unit,", "")
    for text, message in (
        ("", "'group' is missing"),
        (columns + "\na,1,1,flash,3,1\n", "'unit' is missing; columns found: group, hosts"),
        (HEAD + ",value\n", "'value' occurs twice"),
        (HEAD + '\na,1,1,"' + 200_000 * "x", "is not valid CSV"),
        (HEAD + "\n", "contains no points"),
    ):
        with pytest.raises(InputError, match=message):
            check(tmp_path, text)


def test_one_repetition_is_enough_for_a_fit_and_a_check(tmp_path: Path) -> None:
    text = "\n".join(lines(repetitions=(1,)))
    code, output = check(tmp_path, text)
    assert code == 0, output
    for name in ("absolute error, median", "absolute error, p90", "coverage of 90 % intervals"):
        assert name in output
    assert "1 to 8 (6)" in fit(tmp_path, text)


def test_densities_at_one_host_count_are_checked_by_density_only(tmp_path: Path) -> None:
    text = "\n".join(lines(hosts=(2,), densities=DENSITIES))
    code, output = check(tmp_path, text, "density")
    assert code == 0 and "absolute error, median" in output, output
    assert "only one host count (2)" in fit(tmp_path, text)
    for mode in ("hosts", "largest"):
        with pytest.raises(InputError, match=r"only one host count \(2\)") as caught:
            check(tmp_path, text, mode)
        assert "measure 4 host counts" in caught.value.remedy


def test_one_density_gives_no_density_curve_and_one_cell_gives_no_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"only one density \(1\)") as caught:
        check(tmp_path, "\n".join(lines()), "density")
    assert "measure 3 densities" in caught.value.remedy
    assert "only one density (1)" in fit(tmp_path, "\n".join(lines()))
    with pytest.raises(InputError, match=r"only one host count \(4\)"):
        fit(tmp_path, "\n".join(lines(hosts=(4,))))


@pytest.mark.parametrize("mode", ["hosts", "density", "largest"])
def test_each_hold_out_fails_where_points_cannot_be_predicted(tmp_path: Path, mode: str) -> None:
    text = lines(densities=DENSITIES)
    code, output = check(tmp_path, "\n".join(text), mode)
    assert code == 0, output
    wild = [row if n % 2 else row.replace(",flash,", ",flash,4") for n, row in enumerate(text)]
    code, output = check(tmp_path, "\n".join([HEAD, *wild[1:]]), mode)
    assert code == 1 and "missed" in output


@pytest.mark.slow
def test_a_hundred_thousand_lines_are_read_and_checked(tmp_path: Path) -> None:
    text = "\n".join(lines(repetitions=range(1, 100_000 // len(HOSTS))))
    assert check(tmp_path, text)[0] == 0
