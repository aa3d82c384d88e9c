"""All daemons of a node are killed at once: the rate comes back, and every acknowledged row is read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(1200)]

SPEC = Path(__file__).with_name("node.yaml")


def test_a_lost_node_loses_no_acknowledged_row(tmp_path: Path) -> None:
    root = run_of(tmp_path, SPEC, timeout_s=1100)
    (broken,) = (one for one in closed_records(root / "records").values() if one.fault)
    assert broken.state == "complete", broken.reasons
    assert broken.fault is not None
    assert (broken.fault.kill, broken.fault.node) == ("node", "w3")
    rows = broken.state_after["rows"]
    assert rows["lost_keys"] == [] and rows["acknowledged"] == rows["found"] > 10_000
    logged = list((root / "records" / broken.trial / "raw").glob("*-inserts.txt"))
    assert len(logged) == 2
    summary = json.loads((root / "report" / "summary.json").read_text())
    (trial,) = (one for one in summary["trials"] if one["trial"] == broken.trial)
    metrics = {one["name"]: one["value"] for one in trial["metrics"]}
    assert metrics["lost_rows"] == 0
    assert not any(why.startswith("lost writes") for why in trial["reasons"])
    killed = [
        line for line in (root / "journal.jsonl").read_text().splitlines() if '"fault"' in line
    ]
    assert len(killed) >= 3  # a DataNode, a NodeManager, a RegionServer
