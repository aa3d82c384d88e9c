"""The summary as CSV, Markdown or JSON, as `study report --format` prints it.

Names and labels come from the study's author. In CSV, a cell that a spreadsheet would read as a formula
gets a leading apostrophe; in Markdown, every special character is escaped.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping

from density_study.analysis.report.charts.figure import DataTable
from density_study.analysis.report.charts.findings_table import findings_table, shared_why
from density_study.analysis.report.table import summary_table
from density_study.analysis.report.trials import counts, reasons
from density_study.analysis.summary.summary import MISSES, Summary
from density_study.cluster.model.plain import csv_cell, escaped

_OF_TEST_CASE = (
    "topology",
    "vms_per_host",
    "regionservers_per_node",
    "disk_type",
    "test_case",
    "workload",
    "label",
)
_OF_METRIC = (
    "operation",
    "latency_kind",
    "percentile",
    "scope",
    "unit",
    "value",
    "low",
    "high",
    "n",
)
CSV_COLUMNS = ("study", "run", *_OF_TEST_CASE, "metric", *_OF_METRIC, "points")


def as_csv(summary: Summary) -> str:
    """A row for each number of each test case; `points` are the builds' values, separated by semicolons.
    InputError for a rehearsal: rows do not say that they are simulated."""
    summary.check_measured(f"run {summary.run}, --format csv")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    writer.writerow(CSV_COLUMNS)
    for test_case in summary.test_cases:
        for metric in test_case.metrics:
            points = ";".join(map(repr, metric.points))
            values = test_case.model_dump(include=set(_OF_TEST_CASE))
            of_test_case = (values[name] for name in _OF_TEST_CASE)
            of_metric = (getattr(metric, name) for name in _OF_METRIC)
            row = (summary.study, summary.run, *of_test_case, metric.name, *of_metric)
            writer.writerow([*map(csv_cell, row), points])
    return out.getvalue()


def as_markdown(summary: Summary) -> str:
    """Headline, what is undecided, warnings, test cases, findings, and the trials that are not valid."""
    return "\n".join(_markdown(summary)) + "\n"


def _markdown(summary: Summary) -> Iterator[str]:
    yield f"# {escaped(summary.study)}, run {escaped(summary.run)}\n"
    yield f"**{escaped(summary.headline)}**\n"
    if summary.undecided:
        yield f"{escaped(summary.undecided)}\n"
    if summary.question:
        yield f"Question: {escaped(summary.question)}\n"
    for one in summary.warnings:
        yield f"- {escaped(' '.join(filter(None, (one.message, one.remedy))))}"
    yield "\n## Test cases\n"
    yield from _table(summary_table(summary))
    yield "\n## Findings\n"
    if shared := shared_why(summary.findings):
        yield f"All verdicts have the same reason: {escaped(shared)}.\n"
    yield from _table(findings_table(summary))
    if any(one.verdict == "measured" for one in summary.findings):
        yield f"\n{MISSES}"
    yield f"\n## Trials\n\n{escaped(counts(trial.verdict for trial in summary.trials))}\n"
    why = reasons(summary)
    if why.rows:
        yield from _table(why)


def _table(table: DataTable) -> Iterator[str]:
    yield f"| {' | '.join(escaped(column.header) for column in table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    for row in table.rows:
        yield f"| {' | '.join(map(escaped, row))} |"


def as_json(summary: Summary) -> str:
    """The summary as JSON, as in summary.json beside the report."""
    return summary.model_dump_json(indent=2) + "\n"


FORMATS: Mapping[str, Callable[[Summary], str]] = {
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
