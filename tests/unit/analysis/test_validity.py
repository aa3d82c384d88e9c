"""Verdicts, rule by rule, on hand-made rows of checks; Great Expectations confirms each of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from density_study.analysis.validity.judge import Finding, Judgement, judge, verdict_row
from density_study.analysis.validity.rules import RULES, Rule
from density_study.cluster.model.errors import StudyError
from density_study.workloads.tables import CHECKS
from tests.support.records.sound_checks import SOUND

NUMBERS = {"int", "long", "double"}
TYPES = {column.name: column.type for column in CHECKS.columns}


def decide(checks: pd.DataFrame, docs: Path | None = None) -> pd.DataFrame:
    # At the top it would load Great Expectations into every process that collects tests.
    from density_study.analysis.validity import verdicts

    rows = pa.Table.from_pandas(checks, preserve_index=False).to_pylist()  # as a file gives them
    judged = [judge(row) for row in rows]
    verdicts.confirm(rows, judged, docs=docs)
    return pd.DataFrame(map(verdict_row, rows, judged))


def _broken(rule: Rule) -> Any:
    """A value just outside the rule's limits."""
    if rule.allowed is not None:
        return "failed"
    return rule.high + 0.01 if rule.high is not None else (rule.low or 0) - 0.01


NEEDED = [rule for rule in RULES if rule.null == "unknown"]
UNSEEN = [rule for rule in NEEDED if rule.unseen]
OURS: dict[str, Any] = {"existing": False}
IMPORTED: dict[str, Any] = {"imported": True}
FLAG, UNKNOWN, INVALID = {"clock_periods": 2.0}, {"rate_error": None}, {"failed_operations": 4}
ROWS: dict[str, list[dict[str, Any]]] = {
    "sound": [{}],
    "broken": [{rule.check: _broken(rule)} for rule in RULES],
    "limits": [
        {rule.check: limit}
        for rule in RULES
        for limit in (rule.low, rule.high)
        if limit is not None
    ],
    "null": [{**OURS, rule.check: None} for rule in NEEDED if rule.only != "existing"],
    "given, null": [{rule.check: None} for rule in NEEDED],
    "imported, null": [{**IMPORTED, rule.check: None} for rule in NEEDED],
    "imported, broken": [{**IMPORTED, rule.check: _broken(rule)} for rule in RULES],
    "accepted": [{**IMPORTED, "accepted": [rule.check], rule.check: None} for rule in NEEDED],
    "accepted, broken": [
        {**IMPORTED, "accepted": [rule.check], rule.check: _broken(rule)} for rule in RULES
    ],
    "imported, several": [
        {**IMPORTED, "clients_failed": None, "little_error": None, "clock_periods": None},
        {**IMPORTED, "clients_failed": None, "result_lines_quarantined": 1},
        {**IMPORTED, "clients_failed": None, "failed_operations": 4},
    ],
    "null is normal": [
        {rule.check: None}
        for rule in RULES
        if rule.check not in {needed.check for needed in NEEDED}
    ],
    "of one workload": [
        {"workload": "testdfsio", "failed_operations": None, "histogram_error": None},
        {"must_be_cold": False, "cold_share": 0.0},
        {"has_tier": False, "reads_tier": False, "foreign_tiers": None, "tier_hits": None},
        {"has_network": False, "network_broken": None},
        {"has_target": False, "target_share": None},
        {
            "started_together": False,
            "client_late_s": None,
            "clients_overlap": None,
            "client_lag": None,
        },
    ],
    "several": [FLAG, {**FLAG, **UNKNOWN}, {**UNKNOWN, **INVALID}],
    "target": [{"target_share": 0.9}, {"target_share": 1.08}],
    "failed": [
        {"state": "failed", "state_reason": "it burned", "work_share": None, "rate_error": None}
    ],
}
"""Changed values of a sound trial, by case. Decided together: the library takes most of a
second, however few the rows."""


@cache
def _counted() -> dict[str, bool]:
    return dict(zip(_table()["trial"], _table()["counted"], strict=True))


@cache
def _together() -> dict[str, tuple[str, list[str]]]:
    verdicts = _table()
    rows = zip(verdicts["trial"], verdicts["verdict"], verdicts["reasons"], strict=True)
    return {trial: (verdict, reasons) for trial, verdict, reasons in rows}


@cache
def _table() -> pd.DataFrame:
    checks = [
        {**SOUND, "trial": f"{name} {number}", **row}
        for name, rows in ROWS.items()
        for number, row in enumerate(rows)
    ]
    return decide(pd.DataFrame(checks))


def _decided(name: str) -> list[tuple[str, list[str]]]:
    return [_together()[f"{name} {number}"] for number in range(len(ROWS[name]))]


def test_a_trial_that_satisfies_every_rule_is_valid_without_a_reason() -> None:
    assert _decided("sound") == [("valid", [])]
    assert decide(pd.DataFrame([{**SOUND, "trial": "alone"}])).to_dict("records") == [
        {"trial": "alone", "verdict": "valid", "counted": True, "reasons": []}
    ]


def test_every_rule_broken_alone_has_its_outcome_and_its_reason() -> None:
    assert len(RULES) > 20
    for rule, (verdict, reasons) in zip(RULES, _decided("broken"), strict=True):
        assert rule.remedy, rule.check
        assert verdict == ("valid" if rule.broken == "flag" else rule.broken), rule.check
        assert len(reasons) == 1 and "{" not in reasons[0], rule.check


def test_the_limits_themselves_are_allowed() -> None:
    assert _decided("limits") == [("valid", [])] * len(ROWS["limits"])


def test_a_check_that_could_not_run_is_unknown_not_valid() -> None:
    assert len(NEEDED) > 10
    rules = [rule for rule in NEEDED if rule.only != "existing"]
    for rule, (verdict, reasons) in zip(rules, _decided("null"), strict=True):
        assert (verdict, reasons) == ("unknown", [rule.missing]), rule.check
        assert rule.missing, rule.check


def test_a_missing_fact_of_others_weighs_no_more_than_the_violation_it_may_hide() -> None:
    for rule, (verdict, reasons) in zip(NEEDED, _decided("imported, null"), strict=True):
        flag = rule.broken == "flag"
        expected = [f"unchecked: {rule.missing}"] if flag else [rule.missing]
        assert (verdict, reasons) == ("valid" if flag else "unknown", expected), rule.check


def test_what_an_existing_cluster_does_not_show_weighs_no_more_either() -> None:
    assert {rule.check for rule in UNSEEN} > {"cold_share", "cluster_cpu", "others_requests_s"}
    for rule, (verdict, reasons) in zip(NEEDED, _decided("given, null"), strict=True):
        flag = rule.unseen and rule.broken == "flag"
        expected = [f"unchecked: {rule.missing}"] if flag else [rule.missing]
        assert (verdict, reasons) == ("valid" if flag else "unknown", expected), rule.check
    counted = [_counted()[f"given, null {number}"] for number in range(len(NEEDED))]
    assert counted == [rule.unseen for rule in NEEDED]


def test_a_violation_by_others_has_the_same_outcome() -> None:
    assert _decided("imported, broken") == _decided("broken")
    assert _decided("accepted, broken") == _decided("broken")


def test_an_accepted_unknown_is_a_flag() -> None:
    for rule, (verdict, reasons) in zip(NEEDED, _decided("accepted"), strict=True):
        assert (verdict, reasons) == ("valid", [f"accepted: {rule.missing}"]), rule.check


def test_accepted_checks_may_come_from_a_file(tmp_path: Path) -> None:
    """Parquet gives arrays, and an empty array is neither true nor false."""
    nobody, both = {**SOUND, **IMPORTED, "trial": "a", "clients_failed": None}, ["clients_failed"]
    rows = [nobody, {**nobody, "trial": "b", "accepted": both}]
    pd.DataFrame(rows).to_parquet(tmp_path / "checks.parquet")
    verdicts = decide(pd.read_parquet(tmp_path / "checks.parquet"))["verdict"]
    assert list(verdicts) == ["unknown", "valid"]


def test_trials_of_others_count_if_only_facts_are_missing() -> None:
    verdicts = [verdict for verdict, _ in _decided("imported, several")]
    assert verdicts == ["unknown", "unknown", "invalid"]
    counted = _counted()
    assert [counted[f"imported, several {number}"] for number in range(3)] == [True, False, False]
    assert not any(counted[f"null {number}"] for number in range(len(ROWS["null"])))
    assert all(counted[f"imported, null {number}"] for number in range(len(NEEDED)))
    for number, (verdict, _) in enumerate(_decided("broken")):
        assert counted[f"broken {number}"] == (verdict == "valid")


def test_an_optional_check_may_be_missing() -> None:
    assert _decided("null is normal") == [("valid", [])] * len(ROWS["null is normal"])


def test_rules_of_one_workload_do_not_apply_to_the_other() -> None:
    assert _decided("of one workload") == [("valid", [])] * len(ROWS["of one workload"])


@pytest.mark.parametrize("folder", ["unit", "property", "security", "known_answers"])
def test_collecting_tests_loads_no_great_expectations(folder: str) -> None:
    """Each process that collects tests would load it: `decide` imports it when it is called."""
    at_the_top = re.compile(r"^(from|import) .*(great_expectations|validity\.verdicts)", re.M)
    for path in (Path(__file__).parents[2] / folder).rglob("*.py"):
        assert not at_the_top.search(path.read_text()), path


def test_failure_precedes_unknown_and_unknown_precedes_valid() -> None:
    assert [verdict for verdict, _ in _decided("several")] == ["valid", "unknown", "invalid"]


def test_a_missed_target_is_reported_in_both_directions() -> None:
    slow, fast = _decided("target")
    assert slow == ("valid", ["unsustained: the client achieved 90.0% of the target rate"])
    assert fast[0] == "valid" and fast[1][0].startswith(
        "backlog: the client ran at 108.0% of the target rate"
    )


def test_a_failed_trial_reports_only_its_failures() -> None:
    assert _decided("failed") == [("invalid", ["the trial is failed: it burned"])]


def test_a_check_that_the_library_could_not_run_is_an_error() -> None:
    checks = pd.DataFrame([{**SOUND, "trial": "a"}]).drop(columns="rate_error")
    with pytest.raises(StudyError) as raised:
        decide(checks)
    assert raised.value.where == "a"
    assert "`rate_error` (arithmetic): by the project's judge it is satisfied" in raised.value.what
    assert "by Great Expectations the check could not run" in raised.value.what


@pytest.mark.parametrize(
    ("row", "ours", "theirs"),
    [
        pytest.param({"work_share": 0.5}, "satisfied", "violated", marks=pytest.mark.slow),
        pytest.param({"work_share": None}, "satisfied", "unknown", marks=pytest.mark.slow),
        ({"work_share": 1.0}, "violated", "satisfied"),
    ],
)
def test_a_verdict_that_the_library_does_not_share_is_an_error(
    row: dict[str, Any], ours: str, theirs: str
) -> None:
    from density_study.analysis.validity.verdicts import confirm

    place = next(n for n, rule in enumerate(RULES) if rule.check == "work_share")
    wrong = (Finding(place, "invalid", "made up"),) if ours == "violated" else ()
    with pytest.raises(StudyError) as raised:
        confirm([{**SOUND, **row, "trial": "b1-v1-003"}], [Judgement(wrong)])
    assert raised.value.where == "b1-v1-003"
    assert f"judge it is {ours}, by Great Expectations {theirs}" in raised.value.what
    assert "`work_share`" in raised.value.what


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.check)
def test_rules_refer_to_declared_checks(rule: Rule) -> None:
    assert rule.check in TYPES and (rule.only is None or rule.only in TYPES)
    assert (rule.allowed is None) == (TYPES[rule.check] in NUMBERS)


def test_no_trials_give_no_verdicts() -> None:
    assert decide(pd.DataFrame(columns=list(CHECKS.column_names))).empty


@pytest.mark.thorough
def test_data_docs_show_every_suite_and_replace_the_old_ones(tmp_path: Path) -> None:
    docs = tmp_path / "report" / "data_docs"
    docs.mkdir(parents=True)
    (docs / "of-yesterday.html").write_text("")
    checks = pd.DataFrame([{**SOUND, "trial": "a"}, {**SOUND, "trial": "b", "work_share": 0.5}])
    verdicts = decide(checks, docs=docs).set_index("trial")
    assert verdicts["verdict"].to_dict() == {"a": "valid", "b": "invalid"}
    assert (docs / "index.html").is_file() and not (docs / "of-yesterday.html").exists()
    pages = {path.relative_to(docs).parts[1] for path in docs.glob("validations/*/*/*/*.html")}
    assert pages == {rule.suite for rule in RULES}
    assert [path.name for path in docs.parent.iterdir()] == ["data_docs"]


@pytest.mark.slow
def test_no_telemetry_is_sent_to_the_librarys_makers(tmp_path: Path) -> None:
    """In any environment. A file: below `python -c` PySpark assumes a test run, and exits."""
    script = tmp_path / "told.py"
    script.write_text(
        "import os, density_study.analysis.validity.verdicts; print(os.environ['GX_ANALYTICS_ENABLED'])",
        encoding="utf-8",
    )
    project = Path(__file__).parents[3]
    env = {**os.environ, "GX_ANALYTICS_ENABLED": "true", "PYTHONPATH": str(project)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stdout.split() == ["false"]
