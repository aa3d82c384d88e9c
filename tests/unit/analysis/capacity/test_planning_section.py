"""The report's planning section, and the plan in a summary."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.catalogue import EXAMPLE
from density_study.analysis.capacity.inputs.question import question
from density_study.analysis.capacity.plan.plan import PLAN, plan_beside
from density_study.analysis.capacity.sizing import run_plan
from density_study.analysis.report.charts import figure
from density_study.analysis.report.page import render
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import InputError
from tests.support.summary_factory import one_block
from tests.unit.analysis.capacity.planning import excuse, plan


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skips the charts of the other sections: they take most of a page's time."""
    monkeypatch.setattr(figure.Panel, "svg", "<svg></svg>")


@pytest.mark.thorough
def test_a_plan_is_shown_with_its_numbers_and_survives_json() -> None:
    answer = plan(20, "turnaround_p95=24h")
    summary = one_block().model_copy(update={"plan": answer})
    back = Summary.model_validate_json(summary.model_dump_json())
    assert back.plan == answer
    page = render(summary)
    assert '<section id="planning">' in page
    assert f"{answer.hosts} hosts of type {answer.host_type}" in page
    assert all(stage.stage in page for stage in answer.stages)
    text = unescape(page).replace("\xa0", " ")
    assert "<h3>What would change the result</h3>" in text
    assert answer.sensitivity
    assert all(f"<li>{line}</li>" in text for line in answer.sensitivity)


@pytest.mark.thorough
def test_an_excuse_is_shown_and_without_a_plan_there_is_no_section() -> None:
    answer = excuse(20, "turnaround_p95=2h")
    page = render(one_block().model_copy(update={"plan": answer}))
    assert "No plan for 20 genomes/day" in page
    assert 'id="planning"' not in render(one_block())


def test_a_run_without_a_curve_gives_an_excuse_beside_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.support.capacity.populations import measured, truths

    points = measured(truths(1, 1), (1,), seed=1, densities=(1,))
    monkeypatch.setattr(run_plan, "run_points", lambda _: points)
    (tmp_path / "report").mkdir()
    run_plan.plan_run(tmp_path, question(10, ()), "wgs30x", EXAMPLE)
    found = plan_beside(tmp_path)
    assert found is not None
    assert found.kind == "excuse"
    assert "only one host count (1)" in found.reasons[0]
    assert plan_beside(tmp_path / "nowhere") is None


def test_a_file_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report" / PLAN
    path.parent.mkdir()
    path.write_text(json.dumps({"kind": "plan", "format": 9}))
    with pytest.raises(InputError, match="not a plan"):
        plan_beside(tmp_path)
