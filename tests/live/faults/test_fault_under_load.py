"""A RegionServer is killed in a trial: the rate comes back, and no acknowledged row is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = Path(__file__).with_name("fault.yaml")


class Finished:
    def __init__(self, root: Path) -> None:
        self.records = closed_records(root / "records")
        self.summary: dict[str, Any] = json.loads((root / "report" / "summary.json").read_text())
        self.page = (root / "report" / "index.html").read_text()

    @property
    def broken(self) -> Manifest:
        (found,) = (one for one in self.records.values() if one.fault)
        return found

    def metric(self, name: str) -> float | None:
        (trial,) = (t for t in self.summary["trials"] if t["trial"] == self.broken.trial)
        (found,) = (m for m in trial["metrics"] if m["name"] == name)
        return found["value"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=("local", "container"))
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    runs = tmp_path_factory.mktemp("runs")
    return Finished(run_of(runs, SPEC, "--set", f"provider={request.param}", timeout_s=800))


def test_the_server_is_killed_at_its_time_on_the_topology_with_another(finished: Finished) -> None:
    manifest = finished.broken
    assert manifest.fault is not None and manifest.window is not None
    assert (manifest.fault.node, manifest.fault.name) == ("w2", "regionserver-1")
    assert manifest.topology.name == "v2-flash"
    after_ramp_up_s = (
        manifest.fault.epoch_s - manifest.window.start_epoch_s - manifest.test_case.cut_s
    )
    assert after_ramp_up_s == pytest.approx(15, abs=1)
    assert {m.state for m in finished.records.values()} == {"complete"}


def test_the_rate_comes_back_after_a_stall(finished: Finished) -> None:
    recovered_s = finished.metric("time_to_recover")
    assert recovered_s is not None and 2 < recovered_s < 110
    worst_ms = finished.metric("worst_latency")
    # an operation that was due at the kill waited for about as long
    assert worst_ms is not None and worst_ms / 1000 > 0.5 * recovered_s


def test_no_acknowledged_row_is_lost(finished: Finished) -> None:
    rows = finished.broken.state_after["rows"]
    assert rows["acknowledged"] > 10_000  # some were inserted
    assert finished.metric("lost_rows") == 0


def test_the_report_shows_it(finished: Finished) -> None:
    assert "What each fault did" in finished.page
    (verdict,) = (
        t["verdict"] for t in finished.summary["trials"] if t["trial"] == finished.broken.trial
    )
    assert verdict == "valid"
