"""Networks of guests: set in each of them, measured before the daemons start, and shown by a trial.

Emulated on two cores, it takes five minutes or more.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from density_study.cluster.model.store import store_named
from density_study.workloads.record.record import closed_records
from tests.live.support.guest_study import HOSTS, carried_out, daemon_for, open_guests
from tests.live.support.measured import operations_of

pytestmark = [
    pytest.mark.vm,
    pytest.mark.timeout(2400),
    pytest.mark.skipif(
        os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2,
        reason="no guest's network was changed: needs root, and two CPUs",
    ),
]
RATE_MBIT_S = 20
WORK = f"""
store: redis-cluster
factors: {{vms_per_host: [2], network: [{{rate: {RATE_MBIT_S} Mbit/s, mtu: 1400, rps: [1]}}]}}
workloads:
  - ycsb:
      {{records: [300], mixes: [load], threads: [2], warm_up_client: off, regions_per_server: 1}}
monitor: {{tool: dool, period: 5 s, also: [network]}}
seed: 1
"""


def test_networks_of_guests_are_set_and_measured(tmp_path: Path) -> None:
    every_core = HOSTS.replace("vcpus: pinned", "vcpus: all")
    with daemon_for(tmp_path, [store_named("redis-cluster")]) as daemon:
        run = carried_out(open_guests(tmp_path, daemon, every_core + WORK))
    (manifest,) = closed_records(run.records).values()
    disclosed = manifest.disclosure["network"]
    found = {one["what"]: one for one in disclosed["measured"]}
    print(found)
    assert {what: one["holds"] for what, one in found.items()} == {
        "rate": True,
        "mtu": True,
        "steered": True,
    }
    assert found["rate"]["measured"] == pytest.approx(RATE_MBIT_S, rel=0.02)
    assert (manifest.state, manifest.reasons) == ("complete", ())
    assert operations_of(run, manifest.trial)["INSERT"].ok == 300
