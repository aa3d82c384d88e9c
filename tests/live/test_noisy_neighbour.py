"""A noisy neighbour on real daemons: the victim's table on one node, busy threads on another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.command import run_of

pytestmark = pytest.mark.timeout(900)
SPEC = Path(__file__).parent / "support" / "noisy_neighbour.yaml"


@pytest.mark.parametrize("provider", ("local", "container"))
def test_a_victim_is_confined_to_one_node_and_its_neighbour_is_noisy_on_another(
    tmp_path: Path, provider: str
) -> None:
    run = run_of(tmp_path, SPEC, "--set", f"provider={provider}", timeout_s=800)
    trials = json.loads((run / "report" / "summary.json").read_text())["trials"]
    hashed_mib, used = {}, {}
    for name, manifest in closed_records(run / "records").items():
        assert isinstance(manifest.test_case, YcsbTestCase)
        if not manifest.test_case.has_neighbour:
            continue
        assert len({r["server"] for r in manifest.state_before["hbase"]["regions"]}) == 1
        neighbour = manifest.test_case.neighbour
        hashed_mib[neighbour] = manifest.state_after.get("neighbour", {}).get("hashed_mib")
        metrics = next(trial for trial in trials if trial["trial"] == name)["metrics"]
        used[neighbour] = next(
            m["value"] for m in metrics if (m["name"], m["scope"]) == ("cpu_used", "node:w2")
        )
    assert hashed_mib["nobody"] is None
    assert hashed_mib["2 busy threads"] > 100
    assert used["2 busy threads"] > 2 * used["nobody"]  # a share: other processes may run
