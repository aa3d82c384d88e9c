"""CSV, Markdown and JSON of a summary: the same numbers, and names cannot inject markup."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest

from density_study.analysis.report.formats import CSV_COLUMNS, FORMATS, as_csv, as_json, as_markdown
from density_study.analysis.summary.summary import Summary, SummaryWarning
from density_study.dags.airflow_home.home import project_root
from tests.support.made_runs.nightly_runs import write_run
from tests.support.pages.blocks import blocks
from tests.support.summary_factory import eight_repetitions, one_block

FORMULAE = ("=1+1", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")')
NUMBER = r"(-?[\d.e+-]+)"
LINE = re.compile(rf"density_study,([\w=,.:/%+-]+) value={NUMBER},low={NUMBER},high={NUMBER} (\d+)")
ALERT = "<script>alert(1)</script>"


def rows(summary: Summary) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(summary), newline="")))


def labelled(label: str) -> Summary:
    summary = one_block(study=label)
    test_cases = tuple(
        test_case.model_copy(update={"label": label}) for test_case in summary.test_cases
    )
    warning = SummaryWarning(code="missing-records", message=label)
    return summary.model_copy(
        update={"test_cases": test_cases, "headline": label, "warnings": (warning,)}
    )


def test_csv_contains_every_number_of_every_test_case() -> None:
    summary = eight_repetitions()
    table = rows(summary)
    wanted = [(s, m) for s in summary.test_cases for m in s.metrics]
    assert len(table) == len(wanted)
    for row, (test_case, metric) in zip(table, wanted, strict=True):
        assert tuple(row) == CSV_COLUMNS
        assert (row["test_case"], row["metric"]) == (test_case.test_case, metric.name)
        assert row["value"] == ("" if metric.value is None else repr(metric.value))
        assert row["low"] == ("" if metric.low is None else repr(metric.low))
        assert tuple(map(float, filter(None, row["points"].split(";")))) == metric.points


@pytest.mark.parametrize("label", FORMULAE)
def test_no_csv_cell_is_a_formula(label: str) -> None:
    table = rows(labelled(label))
    assert table
    for row in table:
        assert row["label"] == row["study"] == f"'{label}"
        for cell in row.values():
            assert not cell.startswith(("=", "+", "@", "\t", "\r"))
            assert not cell.startswith("-") or float(cell) < 0


def test_no_part_of_a_csv_cell_is_a_formula_where_semicolons_part_cells() -> None:
    for row in rows(labelled("a;=1+1;\uff1d1; @x;b")):
        assert row["label"] == "a;'=1+1;'\uff1d1;' @x;b"


def test_a_negative_number_stays_a_number() -> None:
    summary = one_block()
    metric = (
        summary.test_cases[0].metrics[0].model_copy(update={"value": -2.5, "points": (-2.5, -1.0)})
    )
    test_case = summary.test_cases[0].model_copy(update={"metrics": (metric,)})
    (row,) = rows(summary.model_copy(update={"test_cases": (test_case,)}))
    assert (row["value"], row["points"]) == ("-2.5", "-2.5;-1.0")


def test_markdown_escapes_names() -> None:
    harm = f"{ALERT} | `x` [a](javascript:1)\n# no"
    text = as_markdown(labelled(harm))
    assert "<script" not in text.replace("\\<", "")
    assert "](" not in text
    assert not any(line.startswith("# no") for line in text.splitlines())
    columns = {line.replace("\\|", "").count("|") for line in text.splitlines() if line[:1] == "|"}
    assert columns == {8, 5}  # test cases and findings, reasons: no cell broke its row


def test_markdown_and_page_agree() -> None:
    summary = one_block()
    text = as_markdown(summary)
    assert "with 2 workers per host instead of 1" in text
    assert "Not decided: all 6 comparisons of the study's questions." in text
    assert "Nodes are process groups" in text
    for finding in summary.findings:
        if finding.effect is not None:
            assert f"×{finding.effect:.2f}" in text
    for trial in summary.trials:
        for reason in trial.reasons:
            assert reason.replace("_", "\\_") in text


def test_json_equals_the_summary() -> None:
    assert Summary.model_validate_json(as_json(one_block())) == one_block()


@pytest.mark.parametrize("name", FORMATS)
def test_a_run_without_trials_has_every_format(name: str) -> None:
    empty: dict[str, Any] = {"test_cases": (), "findings": (), "trials": (), "series": ()}
    assert FORMATS[name](one_block().model_copy(update=empty)).strip()


def test_the_documented_lines_for_a_time_series_store_have_each_number_with_its_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = eight_repetitions()
    write_run(tmp_path / "runs", summary)
    write_run(tmp_path / "runs", one_block())  # has no interval, and so no line
    page = (project_root() / "docs/how-to/results-in-a-notebook.md").read_text("utf-8")
    (code,) = (b.text for b in blocks(page) if b.language == "python" and "curl" in b.text)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    lines = capsys.readouterr().out.splitlines()
    every = [one for case in summary.test_cases for one in case.metrics if one.low is not None]
    parts = [LINE.fullmatch(line) for line in lines]
    assert None not in parts and len(lines) == len(every) > 700
    assert len({part[1] for part in parts if part}) == len(every), "no series is another one's"
    shown = [tuple(map(float, part.groups()[1:4])) for part in parts if part]
    assert shown == [(one.value, one.low, one.high) for one in every]
    assert {part[5] for part in parts if part} == {"1795205730"}
