"""A store that others run, measured: its study, and what the records must hold."""

from __future__ import annotations

from density_study.jobs.first_look.look import first_look
from tests.live.support.measured import Measured, operations_of

OURS = """
study: live-endpoint
provider: existing
store: {name: NAME, durability: synced}
existing:
  namespace: bench
  limits: {rate: off}
  endpoint: {addresses: [ADDRESS]}
workloads:
  - ycsb: {records: [1_000], mixes: [load, {name: half-inserts, read: 0.5, insert: 0.5}], threads: [2],
           duration: 4 s, warm_up: 1 s, warm_up_client: off, warm_up_daemons: off}
repetitions: 1
"""


def check_measured(done: Measured, records: int) -> None:
    run, manifests = done
    assert len(manifests) == 2
    for name, manifest in manifests.items():
        assert (manifest.state, manifest.reasons) == ("complete", ())
        counts = operations_of(run, name)
        assert all(count.ok > 0 and count.failed == 0 for count in counts.values())
        before, after = manifest.state_before["store"], manifest.state_after["store"]
        assert before["rows"] == (0 if "ycsb-load" in name else records)
        assert after["rows"] == before["rows"] + counts["INSERT"].ok
        assert after["servers"] == before["servers"] != ""
        existing = manifest.disclosure["existing"]
        assert existing["durability_from"] == "servers" and existing["version"]
        assert first_look(run.records / name).rate
