"""The table of findings: each comparison with everything its verdict is based on."""

from __future__ import annotations

from analysis.report.charts.figure import Column, DataTable
from analysis.report.charts.quantity import ratio
from analysis.summary.summary import Finding, Summary

NONE = "none"
_TESTED = ("Test", "p", "p, adjusted", "Detectable")
"""Columns that are empty until an arm has five units; they are omitted until then."""
_MIN_P = 0.001


def shared_why(summary: Summary) -> str:
    """The reason, if all findings have their verdict for the same one; otherwise empty."""
    whys = {finding.why for finding in summary.findings}
    return whys.pop() if len(whys) == 1 and len(summary.findings) > 1 else ""


def findings_table(summary: Summary) -> DataTable:
    """Every finding: statement, verdict, effect, interval, required ratio and units per arm. If any
    finding was tested: the test, p before and after Holm, and the minimum detectable effect. The
    reason, unless `shared_why` gives one for all."""
    cells = [_cells(finding) for finding in summary.findings]
    left_out = {"Why"} if shared_why(summary) else set()
    if not any(finding.test for finding in summary.findings):
        left_out |= {*_TESTED}
    if not any(finding.rule for finding in summary.findings):
        left_out |= {"Required"}
    columns = [column for column in _COLUMNS if column.header not in left_out]
    return DataTable(
        tuple(columns),
        tuple(tuple(row[column.header] for column in columns) for row in cells),
        claims=tuple(finding.verdict for finding in summary.findings),
    )


_COLUMNS = (
    Column("Finding"),
    Column("Verdict"),
    Column("Effect", numeric=True),
    Column("Interval", numeric=True),
    Column("Required"),
    Column("Units per arm", numeric=True),
    Column("Test"),
    Column("p", numeric=True),
    Column("p, adjusted", numeric=True),
    Column("Detectable", numeric=True),
    Column("Why"),
)


def _cells(finding: Finding) -> dict[str, str]:
    ends = finding.low is not None and finding.high is not None
    units = ", ".join(map(str, finding.n))
    return {
        "Finding": finding.statement,
        "Verdict": finding.verdict,
        "Effect": ratio(finding.effect),
        "Interval": f"{ratio(finding.low)} to {ratio(finding.high)}" if ends else NONE,
        "Required": finding.rule or NONE,
        "Units per arm": f"n = {units} {finding.unit}s" if units else NONE,
        "Test": finding.test or NONE,
        "p": probability(finding.p),
        "p, adjusted": probability(finding.p_adjusted),
        "Detectable": ratio(finding.detectable) if finding.detectable else NONE,
        "Why": finding.why,
    }


def probability(p: float | None) -> str:
    """Two significant digits; below 0.001 only that bound."""
    if p is None:
        return NONE
    return f"p < {_MIN_P}" if p < _MIN_P else f"p = {p:.2g}"
