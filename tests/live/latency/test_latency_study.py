"""Saturation, then latency at targets, with two clients: a study from its file to its summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.state.journal import Journal
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.warmth import REST_SHARE
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SPEC = Path(__file__).with_name("latency.yaml")
SATURATION, HALF, COMMON = "t2-c2", "at50pct", "at300ps"


class Finished:
    """The run's folder after the study."""

    def __init__(self, root: Path) -> None:
        self.journal = list(Journal(root / "journal.jsonl").read())
        self.records = closed_records(root / "records")
        summary = json.loads((root / "report" / "summary.json").read_text())
        self.trials: dict[str, dict[str, Any]] = {t["trial"]: t for t in summary["trials"]}
        self.raw = {name: root / "records" / name / "raw" for name in self.records}

    def trial(self, suffix: str) -> tuple[str, Manifest]:
        (trial_name,) = [
            name for name in self.records if name.endswith(suffix) and "-load-" not in name
        ]
        return trial_name, self.records[trial_name]

    def rate(self, name: str) -> float:
        return float(next(m["value"] for m in self.metrics(name) if m["name"] == "throughput"))

    def metrics(self, name: str) -> list[dict[str, Any]]:
        metrics: list[dict[str, Any]] = self.trials[name]["metrics"]
        return metrics

    def events(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in self.journal if entry["event"] == event]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=500))


def test_every_trial_is_complete_and_has_the_outputs_of_both_clients(finished: Finished) -> None:
    assert len(finished.records) == 4
    for name, manifest in finished.records.items():
        assert manifest.state == "complete", manifest.reasons
        assert [client.name for client in manifest.clients] == ["ycsb-1", "ycsb-2"]
        logs = {path.name for path in finished.raw[name].glob("*-INSERT.hdr")}
        assert {"ycsb-1-INSERT.hdr", "ycsb-2-INSERT.hdr"} <= logs


def test_a_percentage_refers_to_its_builds_reported_saturation(finished: Finished) -> None:
    saturation, _ = finished.trial(SATURATION)
    half, manifest = finished.trial(HALF)
    assert manifest.order > finished.records[saturation].order
    (resolved,) = finished.events("target-resolved")
    target = manifest.target
    assert target is not None and isinstance(manifest.test_case, YcsbTestCase)
    assert (resolved["trial"], resolved["saturation_trial"]) == (half, saturation)
    assert target.saturation_ops_s == pytest.approx(finished.rate(saturation), rel=1e-6)
    assert manifest.test_case.target_ops_s == target.ops_s == pytest.approx(resolved["ops_s"])
    assert target.ops_s == pytest.approx(target.saturation_ops_s / 2)


def test_both_clients_together_reach_the_common_rate_or_are_flagged(finished: Finished) -> None:
    name, manifest = finished.trial(COMMON)
    assert manifest.target is None  # without open doubts
    reached = finished.rate(name) / 300 >= 0.98
    flagged = any("unsustained" in reason for reason in finished.trials[name]["reasons"])
    assert finished.rate(name) < 310
    assert reached != flagged, finished.trials[name]


def test_only_trials_with_a_target_have_intended_latency(finished: Finished) -> None:
    kinds = {
        suffix: {
            metric["latency_kind"]
            for metric in finished.metrics(finished.trial(suffix)[0])
            if metric["name"] == "latency"
        }
        for suffix in (SATURATION, HALF, COMMON)
    }
    assert kinds[SATURATION] == {"closed-loop"}
    assert kinds[HALF] == kinds[COMMON] == {"closed-loop", "intended"}


def test_the_mix_was_warmed_up_once_until_the_compilers_were_idle(finished: Finished) -> None:
    inserts, mix = finished.events("daemons-warmed-up")
    assert (inserts["name"], mix["name"]) == ("warm-up-inserts", "warm-up-read45-insert55")
    assert mix["steady"] and mix["compiling_share"] < REST_SHARE and mix["served_share"] >= 1
    saturation, _ = finished.trial(SATURATION)
    begun = next(
        e["t"]
        for e in finished.events("trial-state")
        if (e["trial"], e["state"]) == (saturation, "running")
    )
    assert inserts["t"] < mix["t"] < begun
