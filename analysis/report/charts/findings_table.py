"""The table of findings: each comparison with everything its verdict is based on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from density_study.analysis.findings.claims import can_judge, is_whole
from density_study.analysis.report.charts.figure import Column, DataTable, columns
from density_study.analysis.report.charts.quantity import duration, ratio
from density_study.analysis.summary import numbers
from density_study.analysis.summary.summary import Decided, Finding, Summary, verdict_words
from density_study.cluster.model.plain import counted

NONE = "none"
MOST_INTERVALS = 3
"""More are no answer in one cell."""
# Columns that are empty until a variant has five units; they are omitted until then.
_TESTED = ("Test", "p", "p, adjusted", "Detectable")


def shared_why(findings: Sequence[Finding]) -> str:
    """The reason, if all of them have their verdict for the same one; otherwise empty."""
    whys = {finding.why for finding in findings}
    return whys.pop() if len(whys) == 1 and len(findings) > 1 else ""


def findings_table(summary: Summary) -> DataTable:
    """Every finding but claims that this run lacks the variants for: statement, verdict, effect, interval,
    required ratio and units per variant. If any finding
    was tested: the test, p before and after Holm, and the minimum detectable effect. What the study
    declares to differ, if it compares versions or configurations. The reason, unless `shared_why` gives
    one for all."""
    told = [one for one in summary.findings if not is_whole(one) or can_judge(one)]
    left_out = {"Why"} if shared_why(told) else set()
    if not any(finding.test for finding in summary.findings):
        left_out |= {*_TESTED}
    if not any(finding.rule for finding in summary.findings):
        left_out |= {"Required"}
    if not any(test_case.levels for test_case in summary.test_cases):
        left_out |= {"Declared difference"}  # the variants' names say it all
    cells = {column: cell for column, cell in _CELLS.items() if column.header not in left_out}
    return DataTable(
        tuple(cells),
        tuple(tuple(cell(finding) for cell in cells.values()) for finding in told),
        claims=tuple(finding.verdict for finding in told),
    )


def decisions_table(summary: Summary) -> DataTable:
    """The study's questions: answer, intervals of the ratios, repetitions, power and time, and what an open
    one would take."""
    return DataTable(
        columns(
            "Question | Answer | Interval # | Repetitions # | Power it had # | Took # | It would take"
        ),
        tuple(
            (
                one.question,
                one.answer,
                _intervals(one, summary),
                str(one.repetitions),
                f"{one.power:.0%} at {one.noise:.1%} noise",
                duration(3600 * one.hours),
                _would_take(one),
            )
            for one in summary.decisions
        ),
    )


def _intervals(one: Decided, summary: Summary) -> str:
    mine = [found for found in summary.findings if found.question == one.question]
    every = [_interval(found) for found in mine if not is_whole(found)]
    if set(every) <= {NONE}:
        return NONE
    return "; ".join(every) if len(every) <= MOST_INTERVALS else f"{len(every)} below"


def _would_take(one: Decided) -> str:
    if one.why_not is None:
        return NONE
    if one.more_repetitions is None:
        return f"no number up to 1,000 repetitions at the ratio seen: {one.why_not}"
    hours = f", {duration(3600 * one.more_hours)}" if one.more_hours else ""
    more = f"{counted(one.more_repetitions, 'more repetition')}{hours}; {one.why_not}"
    return more if one.more_repetitions else one.why_not


def claims_table(summary: Summary) -> DataTable:
    """The talk's claims that this run can judge, each as a whole: its parts are comparisons."""
    wholes = [one for one in summary.findings if is_whole(one) and can_judge(one)]
    return DataTable(
        columns("Claim | Verdict | Why"),
        tuple((one.statement, verdict_words(one.verdict), one.why) for one in wholes),
        claims=tuple(one.verdict for one in wholes),
    )


def _interval(finding: Finding) -> str:
    ends = finding.low is not None and finding.high is not None
    return f"{ratio(finding.low)} to {ratio(finding.high)}" if ends else NONE


def _units(finding: Finding) -> str:
    units = ", ".join(map(str, finding.n))
    return f"n = {units} {finding.unit}s" if units else NONE


def probability(p: float | None) -> str:
    return NONE if p is None else numbers.probability(p)


_CELLS: dict[Column, Callable[[Finding], str]] = {
    Column("Finding"): lambda one: one.statement,
    Column("Verdict"): lambda one: verdict_words(one.verdict),
    Column("Effect", numeric=True): lambda one: ratio(one.effect),
    Column("Interval", numeric=True): _interval,
    Column("Required"): lambda one: one.rule or NONE,
    Column("Units per variant", numeric=True): _units,
    Column("Test"): lambda one: one.test or NONE,
    Column("p", numeric=True): lambda one: probability(one.p),
    Column("p, adjusted", numeric=True): lambda one: probability(one.p_adjusted),
    Column("Detectable", numeric=True): lambda one: (
        ratio(one.detectable) if one.detectable else NONE
    ),
    Column("Declared difference"): lambda one: "; ".join(one.declared) or NONE,
    Column("Why"): lambda one: one.why,
}
