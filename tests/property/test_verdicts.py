"""For any checks: failure precedes unknown, unknown precedes valid, and null never makes a trial valid. In a
record that others made, null may be a flag, or accepted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from density_study.analysis.validity.judge import judge
from density_study.analysis.validity.rules import RULES, Rule
from density_study.workloads.tables import CHECKS

COLUMNS = {column.name: column.type for column in CHECKS.columns}


def _values(name: str, kind: str) -> st.SearchStrategy[Any]:
    if name == "state":
        return st.sampled_from(["complete", "failed", "incomplete", None])
    if name == "workload":
        return st.sampled_from(["ycsb", "testdfsio"])
    if kind == "boolean":
        return st.booleans()
    if kind == "strings":
        return st.lists(st.sampled_from([rule.check for rule in RULES]), max_size=3)
    if kind == "string":
        return st.just("words")
    return st.none() | st.sampled_from([0.0, 0.005, 0.5, 0.93, 1.0, 7.0])


rows = st.lists(
    st.fixed_dictionaries({name: _values(name, kind) for name, kind in COLUMNS.items()}),
    min_size=20,
    max_size=60,
)


def _outcome(rule: Rule, row: dict[str, Any]) -> str:
    """The rule applied to the row, as a plain loop."""
    if rule.only is not None and row[rule.only] != rule.equal:
        return "valid"
    value = row[rule.check]
    if value is None:
        if row["imported"] and (rule.broken == "flag" or rule.check in row["accepted"]):
            return "valid"
        return "valid" if rule.null == "pass" else "unknown"
    within = (
        value in rule.allowed
        if rule.allowed is not None
        else (rule.low is None or value >= rule.low) and (rule.high is None or value <= rule.high)
    )
    return "valid" if within or rule.broken == "flag" else rule.broken


@pytest.mark.slow
@settings(  # the library takes its time for each, regardless of the rows; a row has a value for every check
    max_examples=3, suppress_health_check=[HealthCheck.large_base_example]
)
@given(rows)
def test_the_worst_rule_decides(given_rows: list[dict[str, Any]]) -> None:
    # At the top it would load Great Expectations into every process that collects tests.
    from density_study.analysis.validity.verdicts import confirm

    checks = [{**row, "trial": str(number)} for number, row in enumerate(given_rows)]
    judged = [judge(row) for row in checks]
    confirm(checks, judged)
    for row, judgement in zip(checks, judged, strict=True):
        outcomes = {_outcome(rule, row) for rule in RULES}
        worst = next(v for v in ("invalid", "unknown", "valid") if v in outcomes | {"valid"})
        assert judgement.verdict == worst
