"""Points from a run's tables: included and excluded trials."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from density_study.analysis.capacity.inputs import run_points as module
from density_study.cluster.model.errors import InputError
from density_study.workloads import tables

TEST_CASE = "ycsb-c-r1000-t8-at50pct"


def measured(
    monkeypatch: pytest.MonkeyPatch,
    rates: dict[str, float],
    own: dict[str, dict[str, Any]] | None = None,
) -> list[SimpleNamespace]:
    """Points of trials at a target of 1,000 per second, from trial to its achieved rate. own:
    fields that differ for one trial."""
    trial: dict[str, Any] = {"workload": "ycsb", "test_case": TEST_CASE, "vms_per_host": 2,
                             "disk_type": "flash", "repetition": 1, "target_ops_s": 1000.0,
                             "provider": "physical"}  # fmt: skip
    metric = {"percentile": None, "operation": None, "latency_kind": None, "scope": None}
    names = list(rates)
    frames = {
        tables.TRIALS: [
            {"trial": n, "order": i, **trial, **(own or {}).get(n, {})} for i, n in enumerate(names)
        ],
        tables.VERDICTS: [{"trial": n, "verdict": "valid"} for n in names],
        tables.NODES: [{"trial": n, "host": "h1", "roles": ["worker"]} for n in names],
        tables.METRICS: [
            row
            for name in names
            for row in (
                {"trial": name, "name": "throughput", "value": rates[name], **metric},
                {"trial": name, "name": "cpu_used", "value": 60.0, **metric, "scope": "host:h1"},
                {"trial": name, "name": "cpu_used", "value": 40.0, **metric,
                 "scope": "host-less-client:h1"},
                {"trial": name, "name": "cpu_used", "value": 2.0, **metric,
                 "scope": "host-less-client:of-a-client"},
                {"trial": name, "name": "latency", "value": 3.0, **metric, "operation": "READ",
                 "percentile": 95.0, "latency_kind": "intended"},
            )
        ],
    }  # fmt: skip
    monkeypatch.setattr(module, "read_table", lambda _, table: pd.DataFrame(frames[table]))
    return [
        SimpleNamespace(
            trial=p.source.split("/")[1],
            quantity=p.quantity,
            share=p.share,
            hosts=p.hosts,
            value=p.value,
            busy=p.busy,
        )
        for p in module.run_points(Path("run"))
    ]


def test_the_latency_of_a_queue_is_not_a_point_of_the_curve(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rates = {"held": 1005.0, "behind": 900.0, "catching-up": 1080.0}
    points = measured(monkeypatch, rates)
    assert [p.trial for p in points if p.quantity == "latency"] == ["held"]
    assert [p.trial for p in points if p.quantity == "utilization"] == list(rates)


@pytest.mark.parametrize(
    ("of_trial", "fault"),
    [({"provider": "simulated"}, "a rehearsal: nothing in it was measured"),
     ({"rested_s": 61.0}, "a duet: its clusters had half of each host's memory")],
)  # fmt: skip
def test_a_rehearsal_and_a_duet_have_no_points(
    of_trial: dict[str, Any], fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=fault):
        measured(monkeypatch, {"one": 1000.0}, {"one": of_trial})


def test_a_load_is_a_share_of_its_own_builds_maximum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other repetitions are not used; without a rate of the build there is no load."""
    free: dict[str, Any] = {"test_case": "ycsb-c-r1000-t8", "target_ops_s": None}
    own = {
        "free-1": free,
        "free-2": {**free, "repetition": 2},
        "at-2": {"repetition": 2},
        "at-3": {"repetition": 3},
    }
    rates = {"free-1": 2000.0, "at-1": 1000.0, "free-2": 1600.0, "at-2": 1000.0, "at-3": 1000.0}
    points = measured(monkeypatch, rates, own)
    shares = {p.trial: p.share for p in points if p.quantity == "utilization"}
    assert shares == {"free-1": 1.0, "at-1": 0.5, "free-2": 1.0, "at-2": 0.625, "at-3": None}


def test_cpu_is_of_the_workers_hosts_and_latency_includes_all_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = measured(monkeypatch, {"held": 1000.0})
    of = {p.quantity: p for p in points}
    assert of["utilization"].value == 40.0
    assert of["latency"].busy == 0.6
    assert {p.hosts for p in points} == {1}


def test_variants_of_several_versions_are_groups_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = {"a": {"levels": ["hadoop-3.4.1"]}, "b": {"levels": ["hadoop-3.4.2", "zgc"]}}
    measured(monkeypatch, {"a": 1000.0, "b": 1000.0}, own)
    groups = {point.group for point in module.run_points(Path("run"))}
    assert groups == {"ycsb-c-r1000-t8 hadoop-3.4.1", "ycsb-c-r1000-t8 hadoop-3.4.2 zgc"}
