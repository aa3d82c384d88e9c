"""Warnings mark the numbers that they are about, in charts, rows and badges, and name what to do."""

from __future__ import annotations

import re

import pytest

from density_study.analysis.report.charts.figure import Panel
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.forest import forest
from density_study.analysis.report.page import render
from density_study.analysis.report.table import summary_table
from density_study.analysis.report.trials import reasons
from density_study.analysis.report.trust import trust
from density_study.analysis.summary.summary import Summary
from density_study.analysis.validity.rules import RULES, remedy_of
from tests.support.report_pages import html
from tests.support.summary_factory import one_block, talk

DRIFT = "drift: the last third ran at 1.50 times the first's rate"


@pytest.fixture(scope="module")
def flagged() -> Summary:
    summary = one_block()
    valid = next(trial.trial for trial in summary.trials if trial.verdict == "valid")
    trials = tuple(
        one.model_copy(update={"reasons": (DRIFT,)}) if one.trial == valid else one
        for one in summary.trials
    )
    return summary.model_copy(update={"trials": trials})


@pytest.fixture(scope="module")
def flagged_page(flagged: Summary) -> str:
    return render(flagged)


def test_the_badge_counts_usable_trials_and_warnings(flagged: Summary) -> None:
    assert trust(View(flagged))[0].text == "13 trials: 11 usable, 1 with warnings"


def test_the_rows_and_the_findings_of_flagged_trials_are_marked(flagged: Summary) -> None:
    cells = [row[-1] for row in summary_table(flagged).rows]
    assert cells.count("1 valid (1 with warnings)") == 1
    (one,) = [trial for trial in flagged.trials if trial.has_warnings]
    marked = [
        row.label for group in forest(flagged).groups for row in group.rows if row.has_warnings
    ]
    label = next(entry.label for entry in flagged.test_cases if entry.test_case == one.test_case)
    assert set(marked) == {label}


def test_warnings_of_a_test_case_mark_no_other_whose_name_begins_alike() -> None:
    """At 30 % of its rate, for example."""
    summary = one_block()
    warned = tuple(
        one.model_copy(update={"verdict": "valid", "reasons": (DRIFT,)}) for one in summary.trials
    )
    compared = next(one for one in summary.findings if one.family == "density-rate")
    cells = tuple((f"{case}-at30pct", topology) for case, topology in compared.cells)
    paced = compared.model_copy(update={"cells": cells})
    of_others = compared.model_copy(update={"cells": (), "family": "sort-floor"})
    every = (compared, paced, of_others)
    for trials, marks in ((warned, [True, False, True]), (summary.trials, 3 * [False])):
        shown = summary.model_copy(update={"trials": trials, "findings": every})
        rows = [row for group in forest(shown).groups for row in group.rows]
        assert [row.has_warnings for row in rows] == marks


@pytest.mark.slow
def test_the_points_of_flagged_trials_are_marked_in_every_chart(flagged_page: str) -> None:
    plain, marked = html("one"), flagged_page
    assert plain.count(">!</text>") == 0 < marked.count(">!</text>")
    assert "A ! marks numbers from trials with warnings" in marked
    assert ", with warnings" in marked


def test_a_report_says_what_to_do_about_each_reason(flagged: Summary, flagged_page: str) -> None:
    table = reasons(flagged)
    assert [column.header for column in table.columns][-1] == "What to do"
    for row in table.rows:
        assert row[-1], row
    assert "What to do" in flagged_page


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.check)
def test_every_reason_of_every_rule_has_its_remedy(rule: object) -> None:
    values = _Any()
    reason = rule.reason.format_map(values)  # type: ignore[attr-defined]
    of_same_words = {one.remedy for one in RULES if one.reason.format_map(values) == reason}
    assert remedy_of(reason) in of_same_words
    if missing := rule.missing:  # type: ignore[attr-defined]
        assert remedy_of(missing) and remedy_of(f"unchecked: {missing}") == remedy_of(missing)


class _Any(dict[str, float]):
    def __missing__(self, _: str) -> float:
        return 1.0


def test_findings_are_confirmed_refuted_or_inconclusive() -> None:
    page = html("one")
    shown = re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.S)
    assert "inconclusive" in shown


def test_the_talk_is_shown_only_where_a_claim_can_be_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Panel, "svg", "<svg></svg>")  # drawings take most of a page's time
    judged = one_block().model_copy(update={"findings": talk().findings})
    assert 'id="talk"' in render(judged)
    page = render(one_block())
    assert 'id="talk"' not in page and 'href="#talk"' not in page
