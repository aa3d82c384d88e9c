"""Flame graphs of our own records are linked from the report; nothing else that a record names is."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.analysis.report.charts import figure
from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import _flame_graphs
from density_study.analysis.summary.summary import FlameGraph
from density_study.workloads.base.values import MonitorRun
from tests.support.drafts import draft
from tests.support.summary_factory import FACTORIES

FILES = (
    "monitor/h1.profile.w1.regionserver-1.jfr",
    "monitor/h1.profile.w1.regionserver-1.cpu.html",
    "monitor/h1.profile.w1.regionserver-1.lock.html",
    "monitor/../../x.profile.w1.cpu.html",
    "raw/evil.html",
)


def graphs(**changes: Any) -> list[FlameGraph]:
    run = MonitorRun(kind="profile", host="h1", file="monitor/h1.profile.csv", period_s=1,
                     started_epoch_s=0, stopped_epoch_s=1, files=FILES)  # fmt: skip
    return list(_flame_graphs([draft("t1").model_copy(update={"monitors": (run,), **changes})]))


def test_each_profile_has_a_link() -> None:
    assert [(one.source, one.kind, one.file) for one in graphs()] == [
        (
            "w1.regionserver-1",
            kind,
            f"../records/t1/monitor/h1.profile.w1.regionserver-1.{kind}.html",
        )
        for kind in ("cpu", "lock")
    ]


def test_a_page_that_others_made_is_not_linked() -> None:
    assert graphs(imported=object()) == []


def test_the_report_links_them_by_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure.Panel, "svg", "<svg></svg>")  # most of a page's time
    summary = FACTORIES["one"]()
    page = FlameGraph(
        trial=summary.trials[0].trial, source="w1.a", kind="cpu", file="../records/t/x.html"
    )
    assert '<a href="../records/t/x.html">CPU of w1.a</a>' in render(
        summary.model_copy(update={"flame_graphs": (page,)})
    )
    assert "Flame graphs" not in render(summary)
