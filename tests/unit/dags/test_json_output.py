"""`--json`: what a command prints for people, as one JSON document for programs."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from density_study.cluster.state.events import TableNotCopied
from density_study.cluster.state.scratch import SPARK
from density_study.dags.airflow_home.home import project_root
from density_study.workloads.execution.opening import open_run
from tests.support.made_runs.command import printed, spec, study

__all__ = ["spec"]  # the fixture

EXAMPLES = project_root() / "analysis/capacity/inputs/examples"


def test_a_plan(spec: Path) -> None:
    found = printed("plan", str(spec))
    assert [step["kind"] for step in found["plan"]["steps"]][:1] == ["up"]
    assert found["estimate_s"] > 0 and found["disk_mib"] > 0
    assert any("1 repetition" in warning for warning in found["warnings"])


def test_runs_and_their_status(spec: Path, tmp_path: Path) -> None:
    assert printed("list") == []
    run = open_run(spec, tmp_path / "runs")
    (listed,) = printed("list")
    assert listed["study"] == "tiny" and listed["run"] == run.root.name
    status = printed("status", run.root.name)
    assert status["state"] == listed["state"] == "running" and status["folder"] == str(run.root)
    assert status["steps"] == len(run.plan.steps) and status["failures"] == status["notes"] == []
    name = "usertable_100-1a2b3c4d"
    run.journal.record(TableNotCopied(tag="t", name=name, why="no space left", tried=True))
    (note,) = printed("status", run.root.name)["notes"]
    assert note == "load_once: the table usertable_100 is loaded in each build: no space left."
    assert "note     load_once: the table" in study("status", run.root.name)


def test_nothing_to_reap(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert printed("reap", "--dry-run") == {
        "dry_run": True, "reaped": [], "left_alone": [], "failed": [],
        "abandoned": [],
    }  # fmt: skip
    (dead := tmp_path / f"{SPARK}x").mkdir()
    (planned,) = printed("reap", "--dry-run")["abandoned"]
    assert planned["removed"] == [str(dead)] and dead.exists()
    shown = study("reap")
    assert "killed processes: removed" in shown and str(dead) in shown, shown
    assert study("reap") == "Nothing to remove.\n"


@pytest.mark.slow
def test_capacity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = printed("capacity", "fit", "--points", str(EXAMPLES / "points.csv"))
    assert model["points"] and Path("model.json").exists()
    checked = printed("capacity", "check", "model.json")
    assert {goal["outcome"] for goal in checked["goals"]} <= {"met", "unknown"}
    assert len(checked["misses"]) > 5
    of = ("--group", "hdfs-read", "--disk-type", "flash", "--count", "6")
    explained = printed("capacity", "explain", "model.json", *of)
    low, middle, high = (explained[name] for name in ("low_s", "time_s", "high_s"))
    assert 0 < low < middle < high
    assert sum(shape["weight"] for shape in explained["shapes"]) <= 1.0 + 1e-9
    inputs = ("--genomes-per-day", "20", "--hosts", str(EXAMPLES / "catalog.yaml"))
    inputs += ("--model", "model.json", "--slo", "turnaround_p95=24h", "--draws", "100")
    plan = printed("capacity", "size", *inputs)
    table = printed("capacity", "whatif", *inputs)
    rows = table["rows"]
    assert "EXAMPLE catalogue example" in table["warnings"]
    assert plan["hosts"] > 0 and any(row["hosts"] for row in rows)
    assert printed("capacity", "size", *inputs[:-4], "--slo", "turnaround_p95=1min", code=1)
