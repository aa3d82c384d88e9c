"""The report's charts: every number drawn is the summary's, and each can be read without eyes or scripts."""

from __future__ import annotations

import json
import re

import altair
import pytest

from analysis.summary.summary import Metric
from tests.support.report_pages import Elements, embedded, html, resolve
from tests.support.summary_factory import FACTORIES

pytestmark = pytest.mark.xdist_group("pages")  # made once, in one process

DRAWN_NAMES = {
    "throughput",
    "throughput_map_phase",
    "throughput_per_stream",
    "throughput_job",
    "cpu_used",
    "throughput_cv",
    "price_performance",
}
PAGES = [
    pytest.param(name, marks=[pytest.mark.thorough] if name == "talk" else []) for name in FACTORIES
]
"""The talk's own page has as many charts as all others: make test looks at it."""
HOST_KINDS = {"cpu_user", "cpu_system", "cpu_iowait", "cpu_steal", "cpu_idle"}


@pytest.mark.parametrize("name", PAGES)
def test_every_drawn_number_is_one_of_the_summary(name: str) -> None:
    summary = json.loads(FACTORIES[name]().model_dump_json())
    for spec in embedded(html(name), "charts-data")["specs"].values():
        rows = spec["datasets"]["rows"]
        assert rows
        for row in rows:
            stored = resolve(summary, row["ref"])
            if not isinstance(stored, dict):
                assert row["value"] == stored
                continue
            assert row["value"] == stored["effect" if "findings" in row["ref"] else "value"]
            assert (row.get("low"), row.get("high")) == (stored["low"], stored["high"])


@pytest.mark.thorough
def test_every_shape_of_chart_is_valid_vega_lite() -> None:
    seen = set()
    for name in FACTORIES:
        for chart, spec in embedded(html(name), "charts-data")["specs"].items():
            kind = (name, chart.split("-")[0])
            if kind not in seen:
                seen.add(kind)
                altair.Chart.from_dict(spec, validate=True)
    assert len(seen) > 16


@pytest.mark.parametrize("name", PAGES)
def test_every_number_that_has_a_chart_is_drawn(name: str) -> None:
    summary = FACTORIES[name]()
    specs = embedded(html(name), "charts-data")["specs"].values()
    drawn = {row["ref"] for spec in specs for row in spec["datasets"]["rows"]}
    for at, setting in enumerate(summary.settings):
        for index, metric in enumerate(setting.metrics):
            ref = f"/settings/{at}/metrics/{index}"
            if _has_a_chart(metric):
                units = {f"{ref}/points/{unit}" for unit in range(len(metric.points))}
                stacked = metric.name in HOST_KINDS
                assert ref in drawn if stacked or metric.n > 1 else units <= drawn, ref
    assert {f"/findings/{at}" for at in range(len(summary.findings))} <= drawn
    assert {
        f"/time/{kind}_s" for kind in ("measuring", "building", "waiting", "analysing")
    } <= drawn
    phases = sum(len(build.phases_s) for build in summary.builds)
    assert phases == sum(ref.startswith("/builds/") for ref in drawn)


def _has_a_chart(metric: Metric) -> bool:
    if metric.value is None:
        return False
    if metric.name == "latency":
        return metric.percentile in (50.0, 99.0)
    return metric.name in DRAWN_NAMES or (metric.name in HOST_KINDS and metric.scope == "host:here")


@pytest.mark.parametrize("name", FACTORIES)
def test_numbers_in_tables_carry_their_units(name: str) -> None:
    number = re.compile(
        r"^(none|not computed|not finished|n = [\d, ]+( builds| trials)?|p [=<] [\d.]+"
        r"|×[\d.,]+( to ×[\d.,]+)?"
        r"|[-\d.,]+( to [-\d.,]+|, [-\d.,]+)*\xa0(MiB/s|ops/s|ms|s|%|maps)( per USD/h)?"
        r"|\d+\xa0(h|min) \d+\xa0(min|s))$"
    )
    for _, attributes, text in Elements(html(name)).having("td", **{"class": "num"}):
        if "id" not in str(attributes["class"]).split():
            assert number.match("".join(text)), "".join(text)


def test_every_chart_speaks_and_has_its_numbers_in_a_table() -> None:
    elements = Elements(html("one"))
    charts = [attributes for _, attributes, _ in elements.all if "data-chart" in attributes]
    assert len(charts) == len({chart["data-chart"] for chart in charts}) == 40
    assert all(len(chart["aria-label"] or "") > 30 for chart in charts)
    assert all(re.search(r"height: \d+px", chart["style"] or "") for chart in charts)
    figures, tables = elements.having("figure"), elements.having("details", **{"class": "data"})
    assert len(figures) == len(tables) == 10
    labels = " ".join(str(chart["aria-label"]) for chart in charts)
    assert "2 workers per host, flash: 1,519\xa0ops/s" in labels


def test_charts_are_there_before_any_script_runs() -> None:
    text = html("one")
    charts = re.findall(r'data-chart="[^"]+".*?>(<svg.*?</svg>)</div>', text, re.S)
    assert len(charts) == 40
    assert all('class="mark-' in chart and "<path" in chart for chart in charts)
