"""Operators' acts under load, on real daemons: each is done at its time, and no acknowledged row is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

FOLDER = Path(__file__).parent
OF_HBASE = ("major-compaction", "snapshot", "split")


def finished(runs: Path, spec: Path) -> dict[str, tuple[Manifest, dict[str, float | None]]]:
    """By act: its manifest and its metrics."""
    root = run_of(runs, spec, timeout_s=800)
    summary: dict[str, Any] = json.loads((root / "report" / "summary.json").read_text())
    metrics = {
        trial["trial"]: {one["name"]: one["value"] for one in trial["metrics"]}
        for trial in summary["trials"]
    }
    records = closed_records(root / "records").values()
    assert {one.state for one in records} == {"complete"}, [one.reasons for one in records]
    return {str(one.fault.act): (one, metrics[one.trial]) for one in records if one.fault}


@pytest.mark.parametrize(
    ("lasting", "duration"),
    # on a busy machine HDFS took 216 s to copy the blocks of a node
    [("rolling-restart", "150 s"), ("decommission", "300 s")],
    ids=["rolling-restart", "decommission"],  # as groups.toml has them
)
def test_acts_of_hbase(tmp_path: Path, lasting: str, duration: str) -> None:
    spec = tmp_path / "acts.yaml"
    text = (FOLDER / "acts.yaml").read_text()
    spec.write_text(text.replace("rolling-restart", lasting).replace("150 s", duration))
    found = finished(tmp_path / "runs", spec)
    assert {*found} == {*OF_HBASE, lasting}
    for act, (manifest, metrics) in found.items():
        fault, window = manifest.fault, manifest.window
        assert fault is not None and window is not None and fault.until_epoch_s is not None, act
        after_s = fault.epoch_s - window.start_epoch_s - manifest.test_case.cut_s
        assert 4 <= after_s < 15, act  # a tool starts a JVM first
        assert fault.epoch_s < fault.until_epoch_s < window.end_epoch_s, act
        assert metrics["lost_rows"] == 0 and metrics["time_to_recover"] is not None, act
    regions = {act: len(one.state_after["hbase"]["regions"]) for act, (one, _) in found.items()}
    assert regions["split"] == 2 * regions["snapshot"]
    worst_ms = {act: metrics["worst_latency"] or 0.0 for act, (_, metrics) in found.items()}
    if lasting == "rolling-restart":
        assert worst_ms[lasting] > max(worst_ms[act] for act in OF_HBASE)


def test_the_append_only_file_is_rewritten(tmp_path: Path) -> None:
    ((act, (manifest, metrics)),) = finished(tmp_path / "runs", FOLDER / "redis.yaml").items()
    assert act == "aof-rewrite" and manifest.fault is not None
    before, after = manifest.state_before["store"], manifest.state_after["store"]
    assert after["background_runs"] > before["background_runs"]
    assert metrics["time_to_recover"] is not None and metrics["failed_operations"] == 0
