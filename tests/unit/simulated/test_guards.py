"""No number of a rehearsal is taken for a measured one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from density_study.analysis.comparison.history import earlier, newest, read_summary
from density_study.analysis.hub.page import rebuild
from density_study.analysis.hub.results import results
from density_study.analysis.report import page
from density_study.analysis.report.formats import FORMATS
from density_study.analysis.summarise.rehearsed import simulated_warnings, withheld, would_report
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.simulated.rehearsal import FILE
from density_study.cluster.state import own_runs
from density_study.cluster.state.journal import run_folders
from density_study.dags.cli import main
from density_study.workloads.execution.opening import _newest_own
from density_study.workloads.planning.plan import plan_text, write_plan
from density_study.workloads.rows.every_table import every_table
from density_study.workloads.rows.export import sources
from density_study.workloads.tables import TRIALS
from density_study.workloads.tables.store import write_rows
from tests.support.drafts import QUICKSTART, plan
from tests.support.made_runs.nightly_runs import nightly, run_id, write_run
from tests.support.summary_factory import eight_repetitions


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs that were measured, and between them a rehearsal that is much faster."""
    for number, provider in ((1, "physical"), (2, "simulated"), (3, "physical")):
        summary = nightly(number, 900.0 if provider == "simulated" else 100.0)
        root = write_run(tmp_path, summary.model_copy(update={"provider": provider}))
        (root / "study.yaml").write_text(QUICKSTART.read_text())
        write_plan(plan(), root / "plan.json")
    return tmp_path


def test_its_summary_is_refused(runs: Path) -> None:
    (root,) = (path.parent for path in runs.glob(f"*/{run_id(2)}/report"))
    with pytest.raises(InputError, match="a rehearsal: nothing in it was measured") as refused:
        read_summary(root)
    assert str(root) in refused.value.where and "study run" in refused.value.remedy


def test_the_history_of_a_study_leaves_it_out(runs: Path) -> None:
    (last,) = (path.parent for path in runs.glob(f"*/{run_id(3)}/report"))
    assert [one.run for one in earlier(last)] == [run_id(1)]
    assert [one.run for one in newest(reversed(run_folders(runs)), 5)] == [run_id(1), run_id(3)]


def test_compare_refuses_it_on_either_side(runs: Path) -> None:
    for pair in ((run_id(1), run_id(2)), (run_id(2), run_id(3))):
        answer = CliRunner().invoke(main.app, ["compare", *pair, "--runs", str(runs)])
        assert isinstance(answer.exception, InputError)
        assert "rehearsal" in str(answer.exception)


def test_the_hub_shows_no_number_of_it(runs: Path) -> None:
    (study,) = results(runs)
    seen = {run.facts.folder.name: run for run in study.runs}
    assert seen[run_id(2)].summary is None and "rehearsal" in seen[run_id(2)].why
    assert [one.run for one in study.analysed] == [run_id(1), run_id(3)]
    rebuild(runs)
    assert "a rehearsal: nothing in it was measured" in (runs / "index.html").read_text()


def test_its_tables_and_spans_are_not_exported(runs: Path, tmp_path: Path) -> None:
    (root,) = (path.parent for path in runs.glob(f"*/{run_id(2)}/report"))
    for table in every_table().values():
        rows = [{"study": "s", "run": "r", "provider": "simulated"}] if table is TRIALS else []
        write_rows(root, table, rows)
    with pytest.raises(InputError, match="a rehearsal: nothing in it was measured"):
        sources([root])
    (root / FILE).write_text("{}")
    named = ["export", str(root), "--runs", str(runs), "--to", "http://127.0.0.1:1"]
    answer = CliRunner().invoke(main.app, named)
    assert isinstance(answer.exception, InputError) and "rehearsal" in str(answer.exception)


def test_a_run_does_not_resume_it(tmp_path: Path) -> None:
    roots = [tmp_path / "quickstart" / run_id(number) for number in (1, 2)]
    for root in roots:
        root.mkdir(parents=True, mode=0o755)
        own_runs.register(root, plan_text(plan()))
        write_plan(plan(), root / "plan.json")
        (root / "study.yaml").write_text(QUICKSTART.read_text())
    (roots[1] / FILE).write_text("{}")
    found = _newest_own(roots)
    assert found is not None and found.root == roots[0]


def test_its_report_claims_nothing_and_says_so_everywhere() -> None:
    measured = eight_repetitions()
    assert any(one.verdict == "confirmed" for one in measured.findings)
    disclosed = {"provider": "simulated", "effects": "talk", "noise": {"builds": 0.025}}
    warned = simulated_warnings("simulated", [disclosed])
    summary = measured.model_copy(
        update={
            "provider": "simulated",
            "findings": withheld(measured.findings),
            "warnings": (*warned, *measured.warnings),
            "headline": would_report(measured.headline),
        }
    )
    assert {one.verdict for one in summary.findings} == {"inconclusive"}
    text = page.render(summary)
    assert f"<title>{summary.study}: Simulated: " in text
    assert "simulated: nothing was measured" in text
    assert "a queueing model, and nothing on this page was measured" in text
    assert "2.5 % of builds" in warned[0].message
    assert "simulated: a run with these numbers would be confirmed" in text
    for form, render in FORMATS.items():
        if form != "csv":
            assert "simulated" in render(summary).lower(), form
    with pytest.raises(InputError, match="a rehearsal"):  # its rows could not say so
        FORMATS["csv"](summary)
    again = Summary.model_validate(json.loads(summary.model_dump_json()))
    assert again.warnings[0].code == "simulated"


def test_a_measured_run_is_not_called_simulated() -> None:
    assert simulated_warnings("physical", [{"noise": {"builds": 0.1}}]) == ()
