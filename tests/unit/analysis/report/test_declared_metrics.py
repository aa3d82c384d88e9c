"""A metric is declared once: its name is checked, and its words are those of the report."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.charts.quantity import words
from density_study.analysis.report.charts.sections import sections
from density_study.analysis.summary.summary import Metric
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.metric import PER_USD, MetricKind
from density_study.workloads.study import metrics
from density_study.workloads.study.metrics import main_rates, metric_kinds
from density_study.workloads.study.registry import kinds
from tests.support.summary_factory import one_block

SORT_RATE = MetricKind("sort_rate", "rows/s", "sorted rows", "rows sorted each second")


def test_an_unknown_name_is_refused_with_those_that_are_declared() -> None:
    with pytest.raises(ValidationError, match="no metric 'sort_rate' is declared") as caught:
        Metric(name="sort_rate", value=1.0, unit="rows/s")
    assert "throughput_per_stream, throughput_map_phase" in str(caught.value)


def test_a_value_has_the_declared_unit() -> None:
    with pytest.raises(ValidationError, match="throughput is in ops/s, not in MiB/s"):
        Metric(name="throughput", value=1.0, unit="MiB/s")
    assert Metric(name="price_performance", value=1.0, unit=f"genomes/h {PER_USD}")


def test_each_workload_declares_its_rate() -> None:
    assert main_rates() == (
        "throughput", "throughput_map_phase", "throughput_sort", "throughput_sql",
        "throughput_genomes",
    )  # fmt: skip
    assert [kind.rate_unit for kind in kinds().values()] == [
        "ops/s", "MiB/s", "MiB/s", "MiB/s", "genomes/h",
    ]  # fmt: skip


def test_each_declaration_says_what_people_read() -> None:
    for metric in metric_kinds().values():
        assert metric.words and metric.meaning and not metric.meaning.endswith("."), metric.name


def test_a_workload_does_not_declare_what_every_workload_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ycsb = kinds()["ycsb"]
    sort = replace(ycsb, name="sort", metrics=(replace(SORT_RATE, name="latency"),))
    monkeypatch.setattr(metrics, "kinds", lambda: {"ycsb": ycsb, "sort": sort})
    with pytest.raises(InputError, match="'latency' is declared twice") as caught:
        metric_kinds.__wrapped__()
    assert "sort" in caught.value.where


def test_a_metric_that_asks_for_it_has_a_figure_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**metric_kinds(), "sort_rate": SORT_RATE}
    for module in ("analysis.summary.summary", "analysis.report.charts.sections",
                   "analysis.report.charts.quantity"):  # fmt: skip
        monkeypatch.setattr(f"density_study.{module}.metric_kinds", lambda: known)
    monkeypatch.setattr(metrics, "metric_kinds", lambda: known)
    summary = one_block()
    sorts = Metric(name="sort_rate", value=5.0, unit="rows/s", points=(5.0,), scope="node:w1")
    first = summary.test_cases[0]
    first = first.model_copy(update={"metrics": (*first.metrics, sorts)})
    view = View(summary.model_copy(update={"test_cases": (first, *summary.test_cases[1:])}))
    ((figure,),) = [figures for anchor, _, figures in sections(view) if anchor == "numbers"]
    assert (figure.id, figure.title) == ("sort-rate", "Sorted rows")
    assert figure.caption.startswith("Rows sorted each second, by density.")
    assert words(sorts) == "sorted rows, w1"
