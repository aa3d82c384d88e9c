"""The table of findings shows the evidence of each verdict, and no empty column."""

from __future__ import annotations

import pytest

from density_study.analysis.findings.claims import can_judge, is_whole
from density_study.analysis.findings.decide import BLOCK_TEST
from density_study.analysis.report.charts.findings_table import findings_table, probability
from density_study.analysis.report.formats import as_markdown
from density_study.analysis.report.page import render
from density_study.analysis.summary.summary import MISSES, verdict_words
from density_study.dags.cli.agents.server import INSTRUCTIONS
from tests.support.summary_factory import eight_repetitions, one_block


def test_a_tested_finding_shows_test_p_units_and_detectable_effect() -> None:
    summary = eight_repetitions()
    table = findings_table(summary)
    headers = [column.header for column in table.columns]
    told = [one for one in summary.findings if not is_whole(one) or can_judge(one)]
    assert len(table.rows) == len(told) == len(table.claims) > 0
    assert "measured" in table.claims
    for face in (as_markdown(summary), render(summary), INSTRUCTIONS):
        assert MISSES in face
    for finding, row in zip(told, table.rows, strict=True):
        cells = dict(zip(headers, row, strict=True))
        assert (cells["Finding"], cells["Verdict"]) == (
            finding.statement,
            verdict_words(finding.verdict),
        )
        assert cells["Why"] == finding.why
        if finding.test != BLOCK_TEST:
            continue
        assert finding.effect is not None
        assert finding.low is not None and finding.high is not None
        assert finding.detectable is not None
        assert cells["Effect"] == f"×{finding.effect:.2f}"
        assert cells["Interval"] == f"×{finding.low:.2f} to ×{finding.high:.2f}"
        assert cells["Units per variant"] in ("n = 8, 8 builds", "n = 8, 8, 8 builds")
        assert (cells["Test"], cells["Required"]) == (finding.test, finding.rule)
        assert (cells["p"], cells["p, adjusted"]) == (
            probability(finding.p),
            probability(finding.p_adjusted),
        )
        assert cells["Detectable"] == f"×{finding.detectable:.2f}"


def test_without_a_test_its_columns_are_omitted() -> None:
    columns = ["Finding", "Verdict", "Effect", "Interval", "Required", "Units per variant", "Why"]
    summary = one_block()
    headers = [column.header for column in findings_table(summary).columns]
    assert headers == columns
    compared = tuple(one for one in summary.findings if one.question and not is_whole(one))
    alike = summary.model_copy(update={"findings": compared})
    assert [column.header for column in findings_table(alike).columns] == columns[:-1]
    text = as_markdown(alike)
    assert f"have the same reason: {compared[0].why}" in text and MISSES not in text


def test_a_single_trial_is_named_and_zero_units_are_none() -> None:
    summary = one_block()
    first = summary.findings[0].model_copy(update={"n": (), "why": "other"})
    table = findings_table(summary.model_copy(update={"findings": (first, *summary.findings[1:])}))
    at = [column.header for column in table.columns].index("Units per variant")
    assert table.rows[0][at] == "none"
    assert table.columns[-1].header == "Why"


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (None, "none"),
        (0.0, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0473, "p = 0.047"),
        (1.0, "p = 1"),
    ],
)
def test_format_of_probabilities(p: float | None, text: str) -> None:
    assert probability(p) == text
