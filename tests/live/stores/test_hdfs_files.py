"""HDFS reads at a rate: ranges of files on two DataNodes, from a study's file to its summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.state.journal import Journal
from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, run_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(500)]

SPEC = Path(__file__).with_name("hdfs_files.yaml")
ROWS, ROW_BYTES = 1000, 65536


class Finished:
    """The run's folder after the study."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = list(Journal(root / "journal.jsonl").read())
        self.manifests = closed_records(root / "records")
        summary = json.loads((root / "report" / "summary.json").read_text())
        self.trials: dict[str, dict[str, Any]] = {t["trial"]: t for t in summary["trials"]}

    def latency(self, trial: str) -> dict[tuple[str, str, float], float | None]:
        return {
            (one["operation"], one["latency_kind"], one["percentile"]): one["value"]
            for one in self.trials[trial]["metrics"]
            if one["name"] == "latency"
        }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=450))


def test_every_trial_is_complete_and_every_row_is_there(finished: Finished) -> None:
    assert len(finished.manifests) == 4
    for manifest in finished.manifests.values():
        assert manifest.state == "complete", manifest.reasons
        for state in (manifest.state_before["store"], manifest.state_after["store"]):
            assert state == {"rows": ROWS, "files": 1, "files_bytes": ROWS * ROW_BYTES}


def test_reads_at_a_rate_have_percentiles_from_their_intended_start(finished: Finished) -> None:
    for trial in finished.manifests:
        found = finished.latency(trial)
        operation = "SCAN" if "-runs-" in trial else "READ"
        kinds = {"closed-loop", "intended"} if "at50ps" in trial else {"closed-loop"}
        assert {(one, kind) for one, kind, _ in found} == {(operation, kind) for kind in kinds}
        if "at50ps" in trial:
            p50, p95, p99 = (found[operation, "intended", one] for one in (50.0, 95.0, 99.0))
            assert p50 and p95 and p99 and p50 <= p95 <= p99
            rate = {one["name"]: one["value"] for one in finished.trials[trial]["metrics"]}
            assert rate["throughput"] == pytest.approx(50, rel=0.05)


def test_files_are_written_once_and_read_from_the_disks(finished: Finished) -> None:
    records = finished.root / "records"
    loads = [
        name for name in finished.manifests if list((records / name / "logs").glob("ycsb-1.*"))
    ]
    first = min(finished.manifests, key=lambda name: finished.manifests[name].order)
    assert loads == [first]
    for manifest in finished.manifests.values():
        assert manifest.cold is not None and manifest.cold.method == "posix_fadvise"
        assert (manifest.cold.evicted_bytes or 0) >= ROWS * ROW_BYTES
        assert (manifest.cold.physical_read_bytes or 0) > 0.1 * ROWS * ROW_BYTES


def test_the_datanodes_were_warmed_up_and_nothing_is_left(finished: Finished) -> None:
    warmed = [one for one in finished.journal if one["event"] == "daemons-warmed-up"]
    assert [one["name"] for one in warmed] == ["warm-up-mix"]
    assert "compiling_share" in warmed[0]
    assert left_of(finished.root) == []
