"""What another package adds: from the study to the report, with no edit
of this project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]
ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "tests" / "spark" / "support" / "sort_package"


def test_from_the_study_to_the_report(tmp_path: Path) -> None:
    path = os.pathsep.join([str(PACKAGE), str(ROOT / ".editable"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.support.sort_run", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "DENSITY_STUDY_RUNTIME": str(tmp_path / "rt")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    root = Path(done.stdout.split()[-1])
    summary = json.loads((root / "report" / "summary.json").read_text("utf-8"))
    rates = {
        (one["topology"], metric["name"]): metric["value"]
        for one in summary["test_cases"]
        for metric in one["metrics"]
    }
    assert rates == {
        (f"v{density}-flash-handlers-{handlers}", name): value
        for density, rate in ((1, 500.0), (2, 1000.0))
        for handlers in (30, 60)
        for name, value in (("sort_rate", rate), ("window_length", 10.0))
    }
    assert summary["provider"] == "same"
    assert {trial["verdict"] for trial in summary["trials"]} == {"valid"}
    subjects = {one["variants"] for one in summary["findings"] if one["measure"] == "throughput"}
    assert {"handlers-60 over handlers-30", "2 workers per host over 1 worker per host"} <= subjects
    (floor,) = (one for one in summary["findings"] if one["id"] == "sort-floor")
    assert (floor["effect"], floor["rule"]) == (2.0, "above 1.5")
    page = (root / "report" / "index.html").read_text("utf-8")
    for words in ("Sort throughput", "sorted rows", "Length of the window", "Sort of 1000 rows"):
        assert words in page
