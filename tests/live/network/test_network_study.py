"""A study whose factor is the network, from the command to the report: daemons in containers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, run_of
from tests.live.support.containers import on_this_machine

_ABLE = os.geteuid() == 0 and shutil.which("runc", path="/usr/sbin:/usr/bin") is not None
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not _ABLE, reason="needs root and runc (tests/packages.sh)"),
]
SPEC = """
study: live-network
question: Does a slow network slow down reads of long rows?
provider: container
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors:
  vms_per_host: [1]
  network: [default, {rate: 20 Mbit/s}]
stack: {base_port: 26000}
workloads:
  - ycsb: {records: [2000], row: {fields: 10, field_length: 1 kB}, mixes: [c], threads: [4],
           duration: 10 s, warm_up: 2 s, warm_up_client: off, warm_up_daemons: off}
monitor: {also: [network]}
repetitions: 1
seed: 7
"""
BITS_OF_A_ROW = 10 * 1000 * 8


def test_the_network_is_the_variant_of_a_report(tmp_path: Path) -> None:
    spec, runs, before = tmp_path / "study.yaml", tmp_path / "runs", on_this_machine()
    spec.write_text(SPEC)
    run = run_of(runs, spec, timeout_s=800)
    assert left_of(run) == [] and on_this_machine() == before

    records = closed_records(run / "records")
    slow = next(one for one in records.values() if one.topology.levels["network"] != "default")
    (rate,) = slow.disclosure["network"]["measured"]
    assert (rate["declared"], rate["holds"]) == (20.0, True)
    assert rate["measured"] == pytest.approx(20.0, rel=0.02)
    assert all(list((run / "records" / name).rglob("*.network.csv")) for name in records)

    summary = json.loads((run / "report" / "summary.json").read_text())
    assert {one["verdict"] for one in summary["trials"]} == {"valid"}, summary["trials"]
    rates = {
        one["levels"]["network"]: next(
            m["value"] for m in one["metrics"] if m["name"] == "throughput"
        )
        for one in summary["test_cases"]
    }
    # all rows come over the limited link, and nothing of the other network is as slow
    assert 0.7 * 20e6 < rates["rate-20mbit"] * BITS_OF_A_ROW <= 20e6
    assert rates["default"] > 1.5 * rates["rate-20mbit"]
    found = [one for one in summary["findings"] if one["variants"] == "rate-20mbit over default"]
    assert found and all(one["id"].startswith("network") for one in found)
    assert "network.rate_mbit_s: not set -> 20.0" in found[0]["declared"]
    assert "rate-20mbit" in (run / "report" / "index.html").read_text()
