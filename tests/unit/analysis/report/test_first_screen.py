"""The first screen: the answer's curve, trust badges, and the findings as a forest plot."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from density_study.analysis.findings.claims import is_whole
from density_study.analysis.report.charts import figure
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.forest import Row, forest
from density_study.analysis.report.page import render
from density_study.analysis.report.trust import Badge, trust
from density_study.analysis.summary.summary import (
    Finding,
    ImportSummary,
    Metric,
    Precision,
    Summary,
)
from tests.support.report_pages import Elements
from tests.support.summary_factory import eight_repetitions, one_block
from tests.support.summary_states import all_invalid, empty


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure.Panel, "svg", "<svg></svg>")


def _changed(summary: Summary, **parts: Any) -> Summary:
    return summary.model_copy(update=parts)


def test_the_curve_shows_rate_tail_and_cpu_of_the_headlines_test_case() -> None:
    summary = one_block()
    drawn = answer(View(summary))
    assert drawn is not None
    assert [panel.id for panel in drawn.panels] == [
        "answer-rate",
        "answer-closed-loop",
        "answer-cpu",
    ]
    about = {
        summary.test_cases[int(row["ref"].split("/")[2])].test_case
        for panel in drawn.panels
        for row in panel.rows
    }
    assert about == {summary.headline_test_case}
    assert {row["x"] for row in drawn.panels[0].rows} == {"1", "2"}
    assert "SCAN p99, closed-loop" in drawn.panels[1].description
    assert answer(View(_changed(summary, headline_test_case=None))) is None


def test_intended_latency_replaces_closed_loop_latency() -> None:
    summary = one_block()
    of_it = [one.test_case == summary.headline_test_case for one in summary.test_cases]
    intended = Metric(name="latency", value=9.0, unit="ms", operation="SCAN", percentile=99.0,
                      latency_kind="intended", points=(9.0,))  # fmt: skip
    test_cases = tuple(
        one.model_copy(update={"metrics": (*one.metrics, intended)}) if mine else one
        for one, mine in zip(summary.test_cases, of_it, strict=True)
    )
    drawn = answer(View(_changed(summary, test_cases=test_cases)))
    assert drawn is not None
    assert [panel.id for panel in drawn.panels] == ["answer-rate", "answer-intended", "answer-cpu"]


def test_several_hosts_are_shown_by_the_cpu_of_all_nodes_together() -> None:
    summary = one_block()
    test_cases = tuple(
        one.model_copy(update={"metrics": (*one.metrics, *(
            metric.model_copy(update={"scope": "host:there"})
            for metric in one.metrics if metric.name == "cpu_used" and metric.scope == "host:here"
        ))})
        for one in summary.test_cases
    )  # fmt: skip
    drawn = answer(View(_changed(summary, test_cases=test_cases)))
    assert drawn is not None
    assert drawn.panels[-1].subtitle == "all nodes together"


def test_badges_of_a_single_repetition_raise_doubts() -> None:
    assert trust(View(one_block())) == (
        Badge("good", "13 trials: 11 usable", "trials"),
        Badge("bad", "1 invalid", "trials"),
        Badge("doubt", "1 unknown", "trials"),
        Badge("doubt", "no intervals: 1 of 5 builds", "findings"),
        Badge("doubt", "0 of 6 comparisons of questions decided", "findings"),
        Badge("doubt", "process groups, not VMs", "limits"),
    )


def test_badges_name_the_interval_method_and_count_decisions() -> None:
    summary = eight_repetitions()
    badges = trust(View(summary))
    compared = [one for one in summary.findings if one.question and not is_whole(one)]
    decided = [one for one in compared if one.is_decided]
    assert Badge("good", "95 % t intervals over builds (n = 8)", "findings") in badges
    words = f"{len(decided)} of {len(compared)} comparisons of questions decided"
    assert 0 < len(decided) < len(compared)
    assert Badge("doubt", words, "findings") in badges
    settled = _changed(summary, findings=tuple(decided))
    assert Badge(
        "good", f"{len(decided)} of {len(decided)} comparisons of questions decided", "findings"
    ) in trust(View(settled))


@pytest.mark.parametrize(
    ("until", "method"),
    [(None, "t intervals over builds, for all looks"), (0.1, "confidence sequences over builds")],
)
def test_the_interval_method_is_that_of_the_looks(until: float | None, method: str) -> None:
    precision = Precision(at_least=5, at_most=8, until=until, why="", looks=())
    badges = trust(View(_changed(eight_repetitions(), precision=precision)))
    assert f"95 % {method} (n = 8)" in [one.text for one in badges]


def test_intervals_of_some_results_only_are_counted() -> None:
    summary = eight_repetitions()
    first = summary.test_cases[0].model_copy(update={"n_builds": 4})
    badges = trust(View(_changed(summary, test_cases=(first, *summary.test_cases[1:]))))
    assert Badge("doubt", "95 % t intervals over builds for 35 of 36 results", "findings") in badges


def test_flagged_trials_and_an_empty_run_have_badges() -> None:
    summary = one_block()
    flagged = summary.trials[0].model_copy(update={"reasons": ("drift: 1.2 times",)})
    badges = trust(View(_changed(summary, trials=(flagged, *summary.trials[1:]))))
    assert Badge("doubt", "13 trials: 11 usable, 1 with warnings", "trials") in badges
    assert [badge.text for badge in trust(View(empty()))][:3] == [
        "0 trials: 0 usable", "no valid number", "nothing to compare",
    ]  # fmt: skip


def test_imported_trials_that_are_only_unknown_are_shown_as_such() -> None:
    summary = one_block()
    trials = tuple(
        one.model_copy(update={"verdict": "unknown"}) if one.counted else one
        for one in summary.trials
    )
    imported = ImportSummary(files=7, given={}, unknown={"monitors": 11}, accepted={})
    badges = trust(View(_changed(summary, trials=trials, imported=imported)))
    assert badges[:5] == (
        Badge("doubt", "records made by others", "limits"),
        Badge("doubt", "13 trials: 0 usable", "trials"),
        Badge("bad", "1 invalid", "trials"),
        Badge("doubt", "11 unknown, shown without a claim", "trials"),
        Badge("doubt", "1 unknown", "trials"),
    )


@pytest.mark.usefixtures("no_pictures")
def test_a_run_without_a_valid_trial_names_the_most_frequent_reason() -> None:
    text = render(all_invalid())
    assert "no valid number, so there is nothing to draw" in text
    assert "the RegionServer died (13 trials)" in " ".join(Elements(text).of("li"))
    assert Badge("bad", "13 trials: 0 usable", "trials") in trust(View(all_invalid()))


def _rows(summary: Summary) -> list[Row]:
    return [row for group in forest(summary).groups for row in group.rows]


def test_every_comparison_is_a_row_at_its_place_on_the_scale() -> None:
    summary = eight_repetitions()
    drawn = forest(summary)
    compared = {
        f"/findings/{at}": one for at, one in enumerate(summary.findings) if not is_whole(one)
    }
    rows = {row.ref: row for row in _rows(summary)}
    assert rows.keys() == compared.keys()
    last = drawn.ticks[-1]
    per_e = (last.at - drawn.one) / log(float(last.text.removeprefix("×")))
    for tick in drawn.ticks:  # half and double are equally far from 1
        at = drawn.one + per_e * log(float(tick.text.removeprefix("×")))
        assert tick.at == pytest.approx(at)
    for ref, row in rows.items():
        finding = compared[ref]
        for value, at in (
            (finding.effect, row.at),
            (finding.low, row.low),
            (finding.high, row.high),
        ):
            if value is None:
                assert at is None
                continue
            assert at is not None and 0 < at < 100
            assert at - drawn.one == pytest.approx(log(value) * per_e)


def test_rows_are_grouped_by_measure_variants_and_rule() -> None:
    groups = forest(eight_repetitions()).groups
    first = groups[0]
    assert (first.title, first.variants, first.rule) == (
        "Throughput", "4 VMs per host over the bare host, flash", "above 1",
    )  # fmt: skip
    assert [row.label for row in first.rows][:2] == ["TestDFSIO write", "TestDFSIO sequential read"]
    assert any(group.title.startswith("Claim C5: ") for group in groups)


def test_only_undecided_rows_have_a_reason_and_a_shared_one_is_given_once() -> None:
    for row in _rows(eight_repetitions()):
        assert bool(row.why) == (row.verdict == "inconclusive")
    assert forest(eight_repetitions()).why == ""
    assert forest(one_block()).why == one_block().findings[0].why
    assert not forest(one_block()).tested and forest(eight_repetitions()).tested


def _finding(effect: float | None, **changes: Any) -> Finding:
    return Finding(
        id="a", statement="a over b", verdict="inconclusive", why="w", effect=effect, **changes
    )


@pytest.mark.parametrize("effect", [None, 0.0])
def test_an_effect_without_a_place_is_a_row_without_a_mark(effect: float | None) -> None:
    (row,) = _rows(_changed(one_block(), findings=(_finding(effect),)))
    assert (row.at, row.low, row.label) == (None, None, "a over b")


@pytest.mark.parametrize(
    ("effects", "ticks"),
    [
        ((1.02,), ["×1"]),
        ((0.9, 1.3), ["×0.9", "×1", "×1.15", "×1.3"]),
        ((0.4, 4.0), ["×0.5", "×1", "×2"]),
        ((0.001, 900.0), ["×0.01", "×1", "×100"]),
    ],
)
def test_the_scale_has_a_few_round_ticks(effects: tuple[float, ...], ticks: list[str]) -> None:
    summary = _changed(one_block(), findings=tuple(map(_finding, effects)))
    texts = [tick.text for tick in forest(summary).ticks]
    assert set(ticks) <= set(texts)
    assert 2 <= len(texts) <= 7


def test_hypotheses_and_claims_name_their_group() -> None:
    asked = _finding(
        1.1, measure="throughput", subject="s", variants="2 over 1", family="expect-denser"
    )
    (group,) = forest(_changed(one_block(), findings=(asked,))).groups
    assert group.title == "Hypothesis denser: throughput"
