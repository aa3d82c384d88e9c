"""A staircase and a burst on real daemons: two clients with a schedule each, on ordered keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.output.schedule import parse_schedule
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = Path(__file__).with_name("phases.yaml")


class Finished:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.summary: dict[str, Any] = json.loads((root / "report" / "summary.json").read_text())
        self.page = (root / "report" / "index.html").read_text()

    def trial(self, kind: str) -> Manifest:
        records = closed_records(self.root / "records").values()
        test_cases = ((one, one.test_case) for one in records)
        (found,) = (
            one
            for one, s in test_cases
            if isinstance(s, YcsbTestCase) and s.phase and s.phase.kind == kind
        )
        return found

    def parts(self, kind: str, name: str) -> list[float | None]:
        (trial,) = (t for t in self.summary["trials"] if t["trial"] == self.trial(kind).trial)
        return [m["value"] for m in trial["metrics"] if m["name"] == name]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(run_of(tmp_path_factory.mktemp("runs"), SPEC, timeout_s=850))


def test_both_clients_wrote_what_they_asked_for(finished: Finished) -> None:
    manifest = finished.trial("staircase")
    assert manifest.state == "complete", manifest.reasons
    raw = finished.root / "records" / manifest.trial / "raw"
    for client in ("ycsb-1", "ycsb-2"):
        rows = parse_schedule((raw / f"{client}-schedule.csv").read_bytes(), client).rows
        assert [row.operations for row in rows] == [50] * 3 + [50] * 8 + [100] * 8 + [150] * 8
        assert {row.piece for row in rows} == {0, 1, 2, 3}
        begin_s = manifest.clients[0].begin_epoch_s
        assert begin_s is not None and 0 <= rows[0].epoch_s - begin_s < 30


def test_the_steps_are_parts_of_the_result(finished: Finished) -> None:
    assert finished.parts("staircase", "part_requested") == pytest.approx([100, 200, 300])
    achieved = finished.parts("staircase", "part_rate")
    assert len(achieved) == 3 and all(rate is None or rate > 0 for rate in achieved)
    assert len(finished.parts("staircase", "part_latency")) >= 3
    assert "Load phases" in finished.page


def test_a_burst_is_a_share_of_the_saturation_that_was_measured(finished: Finished) -> None:
    manifest = finished.trial("burst")
    assert manifest.target is not None
    before, burst, after = finished.parts("burst", "part_requested")
    assert burst == pytest.approx(0.5 * manifest.target.saturation_ops_s, rel=0.02)
    assert before == after == pytest.approx(0.1 * (burst or 0), rel=0.02)
