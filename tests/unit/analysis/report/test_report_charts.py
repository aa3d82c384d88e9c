"""The report's charts: every drawn number is in the summary, and charts are accessible without
sight or scripts."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import altair
import pytest

from density_study.analysis.capacity.sizing.size import WhatIf
from density_study.analysis.findings.claims import is_whole
from density_study.analysis.report.charts import figure
from density_study.analysis.report.charts.answer import answer
from density_study.analysis.report.charts.cost_by_density import write_chart
from density_study.analysis.report.charts.observations import View
from density_study.analysis.summary.summary import Metric
from tests.support.report_pages import PAGES, Elements, html, panels, resolve
from tests.support.summary_factory import FACTORIES

DRAWN_NAMES = {
    "throughput",
    "throughput_map_phase",
    "throughput_per_stream",
    "throughput_job",
    "cpu_used",
    "throughput_cv",
    "price_performance",
}
HOST_KINDS = {"cpu_user", "cpu_system", "cpu_iowait", "cpu_steal", "cpu_idle"}


@pytest.mark.parametrize("name", PAGES)
def test_every_drawn_number_is_in_the_summary(name: str) -> None:
    summary = json.loads(FACTORIES[name]().model_dump_json())
    drawn = panels(name)
    assert len(drawn) > 30
    for panel in drawn:
        assert panel.rows
        for row in panel.rows:
            stored = resolve(summary, row["ref"])
            if not isinstance(stored, dict):
                assert row["value"] == stored
                continue
            assert row["value"] == stored["value"]
            assert (row.get("low"), row.get("high")) == (stored["low"], stored["high"])


@pytest.mark.slow
def test_every_kind_of_chart_is_valid_vega_lite() -> None:
    kinds = set()
    for name in FACTORIES:
        for panel in panels(name):
            kind = (name, panel.id.split("-")[0])
            if kind not in kinds:
                kinds.add(kind)
                altair.Chart.from_dict(panel.spec, validate=True)
    assert len(kinds) > 16


def test_parts_of_a_chart_are_not_validated_one_by_one() -> None:
    """That took a third of a report's time. Whole charts are validated by the test above."""
    altair.Scale(zero="no truth value")


@pytest.mark.thorough
def test_every_mark_is_at_the_position_of_its_number() -> None:
    """Within a panel by density, the height of a mark is a linear function (on a logarithmic axis,
    a linear function of the logarithm) of the number that its `data-ref` names in summary.json."""
    summary = json.loads(FACTORIES["one"]().model_dump_json())
    text, checked = html("one"), 0
    for chart, drawing in re.findall(r'data-chart="([^"]+)".*?>(<svg.*?</svg>)</div>', text, re.S):
        if not chart.startswith(("throughput", "latency", "used")):
            continue
        scale = math.log if chart.startswith("latency") else float
        marks = [
            (scale(number(summary, ref)), float(y_px))
            for ref, y_px in re.findall(r'<path data-ref="([^"]+)"[^>]*translate\([^,]+,([^)]+)\)', drawing)
        ]  # fmt: skip
        (low, low_px), (high, high_px) = min(marks), max(marks)
        assert high > low and low_px > high_px, chart
        for value, y_px in marks:
            expected_px = low_px + (value - low) / (high - low) * (high_px - low_px)
            assert y_px == pytest.approx(expected_px, abs=0.05), chart
        checked += len(marks)
    assert checked > 60


def number(summary: object, ref: str) -> float:
    stored = resolve(summary, ref)
    return float(stored["value"] if isinstance(stored, dict) else stored)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAGES)
def test_every_chartable_number_is_drawn(name: str) -> None:
    """Drawn: a mark on the page refers to it."""
    summary = FACTORIES[name]()
    drawn = set(re.findall(r'data-ref="([^"]+)"', html(name)))
    assert drawn >= {row["ref"] for panel in panels(name) for row in panel.rows}
    for at, test_case in enumerate(summary.test_cases):
        for index, metric in enumerate(test_case.metrics):
            ref = f"/test_cases/{at}/metrics/{index}"
            if _has_a_chart(metric):
                units = {f"{ref}/points/{unit}" for unit in range(len(metric.points))}
                stacked = metric.name in HOST_KINDS
                assert ref in drawn if stacked or metric.n > 1 else units <= drawn, ref
    assert {
        f"/findings/{at}" for at, one in enumerate(summary.findings) if not is_whole(one)
    } <= drawn
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


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAGES)
def test_numbers_in_tables_carry_their_units(name: str) -> None:
    number = re.compile(
        r"^(none|not computed|not finished|n = [\d, ]+( builds| trials)?|p\xa0[=<]\xa0[\d.]+"
        r"|×[\d.,]+( to ×[\d.,]+| \([\d.,]+ to [\d.,]+\))?|(< )?0\.\d+|1"  # ratios and adjusted p
        r"|[-\d.,]+( to [-\d.,]+|, [-\d.,]+)*\xa0(MiB/s|ops/s|ms|s|%|maps)( per USD/h)?"
        r"|\d+\xa0(h|min) \d+\xa0(min|s))$"
    )
    cells = Elements(html(name)).having("td", **{"class": "num"})
    assert cells
    for _, attributes, text in cells:
        if "id" not in str(attributes["class"]).split():
            assert number.match("".join(text)), "".join(text)


def test_every_chart_has_a_description_and_its_numbers_in_a_table() -> None:
    elements = Elements(html("one"))
    charts = [attributes for _, attributes, _ in elements.all if "data-chart" in attributes]
    assert len(charts) == len({chart["data-chart"] for chart in charts}) == 37
    assert all(len(chart["aria-label"] or "") > 30 for chart in charts)
    figures, tables = elements.having("figure"), elements.having("details", **{"class": "data"})
    assert len(figures) == len(tables) - 1 == 9  # the findings have such a table, too
    labels = " ".join(str(chart["aria-label"]) for chart in charts)
    assert "2 workers per host, flash: 1,519\xa0ops/s" in labels


@pytest.mark.parametrize("rows", [3, 13])
def test_points_of_single_builds_are_described(rows: int) -> None:
    points = [{"tip": f"build {number}: 5 ops/s", "part": "build"} for number in range(rows)]
    key = ("throughput-c", "c", "reads")
    described = figure.panel(
        key, "Throughput", altair.Chart().mark_point(), points, 100, 100
    ).description
    assert "build 0: 5 ops/s" in described and "Nothing to draw" not in described
    assert (
        "Nothing to draw"
        in figure.panel(key, "x", altair.Chart().mark_point(), [], 9, 9).description
    )


def test_no_separator_of_lines_in_a_name_stops_a_drawing() -> None:
    summary = FACTORIES["one"]()
    test_cases = tuple(
        one.model_copy(update={"disk_type": f"{one.disk_type}\u2028\u2029'"})
        for one in summary.test_cases
    )
    drawn = answer(View(summary.model_copy(update={"test_cases": test_cases})))
    assert drawn is not None and "<svg" in drawn.panels[0].svg


def test_names_of_a_catalogue_stop_no_drawing_of_costs(tmp_path: Path) -> None:
    rows = [
        WhatIf.model_construct(
            host_type="a", disk_types="fl\u2028a\x1bsh</text>", vms_per_host=vms, usd_per_genome=vms,
            usd_per_genome_low=0.5, usd_per_genome_high=2.0,
        )
        for vms in (1, 2)
    ]  # fmt: skip
    write_chart(rows, tmp_path / "cost.svg")
    assert any(
        "fl?a?sh</text>" in str(one.text) for one in ElementTree.parse(tmp_path / "cost.svg").iter()
    )


def test_charts_are_visible_before_any_script_runs() -> None:
    text = html("one")
    charts = re.findall(r'data-chart="[^"]+".*?>(<svg.*?</svg>)</div>', text, re.S)
    assert len(charts) == 37
    assert all('class="mark-' in chart and "<path" in chart for chart in charts)
    assert all("data-ref=" in chart and "<title>" in chart for chart in charts)


@pytest.mark.thorough
def test_the_talks_curves_are_at_the_varied_values() -> None:
    summary = json.loads(FACTORIES["talk"]().model_dump_json())
    drawn = [panel for panel in panels("talk") if panel.id.startswith("talk-")]
    assert {panel.id.split("-")[1] for panel in drawn} == set("123456")
    curves = [panel for panel in drawn if panel.id.startswith(("talk-1-", "talk-3-", "talk-4-"))]
    assert len(curves) > 10
    for panel in curves:
        for row in panel.rows:
            test_case = resolve(summary, "/".join(row["ref"].split("/")[:3]))
            maps = [
                metric["value"]
                for metric in test_case["metrics"]
                if metric["name"] == "concurrent_maps"
            ]
            assert row["x"] == (
                maps[0] if panel.id.startswith("talk-1-") else test_case["parameters"]["threads"]
            )
