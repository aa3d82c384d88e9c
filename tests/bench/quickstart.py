"""The quickstart: duration, time budget, peak memory."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from density_study.workloads.record.record import closed_records
from tests.bench.measurement import Measurement, at_most, holds_in_all, printed
from tests.bench.memory import run_with_peak

PROJECT = Path(__file__).parent.parent.parent
STUDY = "workloads/studies/quickstart.yaml"
PARTS = ("measuring", "building", "waiting", "analysing")


def bench(repeats: int) -> list[Measurement]:
    """Runs the study `repeats` times, each a new run in its own folder."""
    seconds, peaks, times, shares = [], [], [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory(prefix="density-bench-") as runs:
            elapsed_s, peak_mib = run_with_peak(_argv(runs), PROJECT, dict(os.environ))
            seconds.append(elapsed_s)
            peaks.append(peak_mib / 1024)
            times.append(_times(Path(runs)))
            shares.append(_waiting(Path(runs)))
    return [
        at_most("quickstart", "s", seconds, 300),
        *(printed(f"quickstart, {part}", "s", [t[f"{part}_s"] for t in times]) for part in PARTS),
        at_most("quickstart, waiting share of its trials", "share", shares, 0.25),
        at_most("quickstart, analysis", "s", [t["analysing_s"] for t in times], 12),
        holds_in_all(
            "quickstart, measuring is the largest part",
            "largest of the four",
            [t["measuring_s"] == max(t[f"{part}_s"] for part in PARTS) for t in times],
        ),
        at_most("quickstart, peak memory", "GiB", peaks, 8e9 / 2**30),
    ]


def _waiting(runs: Path) -> float:
    """Share of the trials' time before and after their clients run."""
    records = (runs / "quickstart" / "report").resolve().parent / "records"
    times = [manifest.times_s for manifest in closed_records(records).values()]
    measuring_s = sum(time["measure"] for time in times)
    return 1 - measuring_s / sum(sum(time.values()) for time in times)


def _argv(runs: str) -> list[str]:
    study = str(Path(sys.executable).with_name("study"))
    return [study, "run", STUDY, "--runs", runs, "--fresh"]


def _times(runs: Path) -> dict[str, Any]:
    summary = runs / "quickstart" / "report" / "summary.json"
    value: dict[str, Any] = json.loads(summary.read_text())["time"]
    return value
