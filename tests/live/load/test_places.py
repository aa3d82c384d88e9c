"""Regions are where the snapshot was taken, in every trial: elsewhere, reads would not be local."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import run_of

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

SPEC = """
study: places
provider: local
hosts:
  - {name: here, address: 127.0.0.1, cores: auto, memory: 6 GiB, roles: [master, worker, client],
     disks: [{path: auto, disk_type: auto}]}
factors: {vms_per_host: [3]}
stack: {hadoop: 3.4.2, hbase: 2.6.4-hadoop3, heap: auto, replication: 1, jit: c1}
workloads:
  - ycsb: {records: [6_000], mixes: [c, a, read45-insert55, scan95-insert5], threads: [4], duration: 5 s,
           warm_up: 1 s, warm_up_client: 1 s, warm_up_daemons: off, regions_per_server: 3}
seed: 7
"""


def test_every_trial_finds_each_region_on_the_same_server(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    records = closed_records(run_of(tmp_path, spec, timeout_s=500) / "records").values()
    places = {}
    for record in records:
        assert record.state_before is not None
        regions = record.state_before["hbase"]["regions"]
        places[record.trial] = [
            (one["start_key"], *one["server"].split(",")[:2]) for one in regions
        ]
    first, *others = places.values()
    assert len(others) == 3 and len(first) == 9 and len({server for *_, server in first}) == 3
    assert all(other == first for other in others), places
