"""A duet on real daemons: clients work in their own turns only, and a killed one is resumed."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import closed_records
from density_study.workloads.ycsb.output.interval_log import parse_hdr
from tests.live.support.command import left_of, study, study_run, wait_for

pytestmark = pytest.mark.timeout(600)
SPEC = """
study: live-duet
hosts:
  - {name: here, memory: 10 GiB, roles: [master, worker, client], disks: [{path: DISK, disk_type: flash}]}
factors:
  vms_per_host: [1]
  configuration:
    cached: {}
    uncached: {hbase-site: {hfile.block.cache.size: 0}}
stack: {base_port: 27000, replication: 1, jit: c1}
workloads:
  - ycsb: {records: [10_000], mixes: [c], threads: [4], duration: 16 s, warm_up: 2 s, warm_up_client: off,
           warm_up_daemons: off}
duet: 3 s
questions: []
repetitions: 1
"""
OVERHANG_S = 0.5
"""An operation that began in a turn ends after it."""


def test_two_clusters_take_turns_and_a_killed_duet_is_resumed(tmp_path: Path) -> None:
    disk, runs, spec = tmp_path / "disk", tmp_path / "runs", tmp_path / "study.yaml"
    disk.mkdir()
    spec.write_text(SPEC.replace("DISK", str(disk)))
    with study_run(runs, spec=spec) as child:
        run = wait_for(runs, lambda entry: entry.get("state") == "running", 300)
        child.kill()
        child.wait()
    ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert left_of(run) == []
    records = closed_records(run / "records")
    assert [one.state for one in records.values()] == ["complete"] * 2
    first, second = records.values()
    assert first.turns and second.turns and first.window and second.window
    assert (first.turns.beside, second.turns.beside) == (second.trial, first.trial)
    every = sorted((*first.turns.own, *second.turns.own))
    assert all(end == pytest.approx(begin, abs=1e-6) for (_, end), (begin, _) in pairwise(every))
    for name, one in records.items():
        assert _operations(run / "records" / name, one) == {"own": True, "of the other": False}
    summary = json.loads((run / "report" / "summary.json").read_text())
    assert summary["in_turns"] is True
    rates = {
        trial["topology"]: number["value"]
        for trial in summary["trials"]
        for number in trial["metrics"]
        if number["name"] == "throughput"
    }
    assert rates["v1-flash-cached"] > 1.5 * rates["v1-flash-uncached"]


def _operations(record: Path, manifest: Manifest) -> dict[str, bool]:
    """Whether the client's log has operations in seconds of its own turns, and of the other one's."""
    assert manifest.turns and manifest.window
    (log,) = (record / "raw").glob("*-READ.hdr")
    begin_s = manifest.window.start_epoch_s
    length_s = manifest.window.end_epoch_s - begin_s
    found = {"own": False, "of the other": False}
    for row in parse_hdr(log.read_bytes(), log.name).rows:
        until_s = row.start_epoch_s + row.length_s
        if begin_s <= row.start_epoch_s and until_s <= begin_s + 2 * length_s and row.operations:
            mine = [
                begin < until_s and row.start_epoch_s < end + OVERHANG_S
                for begin, end in manifest.turns.own
            ]
            found["own" if any(mine) else "of the other"] = True
    return found
