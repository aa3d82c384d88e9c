"""Points out of a run's tables: what enters the curves, and what does not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from analysis import tables
from analysis.capacity import run_points as module

SETTING = "ycsb-c-r1000-t8-at50pct"


def measured(monkeypatch: pytest.MonkeyPatch, rates: dict[str, float]) -> list[SimpleNamespace]:
    """Points of trials at a target of 1,000 a second, from trial to the rate it did."""
    trial: dict[str, Any] = {"workload": "ycsb", "setting": SETTING, "vms_per_host": 2,
                             "medium": "flash", "block": 1, "target_ops_s": 1000.0}  # fmt: skip
    metric = {"percentile": None, "operation": None, "latency_kind": None, "scope": None}
    names = list(rates)
    frames = {
        tables.TRIALS: [{"trial": n, "order": i, **trial} for i, n in enumerate(names)],
        tables.VERDICTS: [{"trial": n, "verdict": "valid"} for n in names],
        tables.NODES: [{"trial": n, "host": "h1", "roles": ["worker"]} for n in names],
        tables.METRICS: [
            row
            for name in names
            for row in (
                {"trial": name, "name": "throughput", "value": rates[name], **metric},
                {"trial": name, "name": "cpu_used", "value": 40.0, **metric, "scope": "host:h1"},
                {"trial": name, "name": "latency", "value": 3.0, **metric, "operation": "READ",
                 "percentile": 95.0, "latency_kind": "intended"},
            )
        ],
    }  # fmt: skip
    monkeypatch.setattr(module, "read_table", lambda _, table: pd.DataFrame(frames[table]))
    return [
        SimpleNamespace(trial=(p.source or "").split("/")[1], quantity=p.quantity)
        for p in module.run_points(Path("run"))
    ]


def test_the_latency_of_a_queue_is_no_point_of_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"held": 1005.0, "behind": 900.0, "catching-up": 1080.0}
    points = measured(monkeypatch, rates)
    assert [p.trial for p in points if p.quantity == "latency"] == ["held"]
    assert [p.trial for p in points if p.quantity == "utilization"] == list(rates)
