"""More slots than the memory of containers holds: the report names the first promise that breaks, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, study_run
from tests.live.support.containers import on_this_machine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]
STUDY = """
study: live-promised
question: How many slots are too many?
provider: container
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client]}
factors:
  vms_per_host: [2]
  oversubscribe: [none, {memory: 5}]
stack: {base_port: 26000}
workloads:
  - testdfsio: {modes: [write], files: 32, file_size: 16 MiB}
repetitions: 1
seed: 7
"""


def test_too_many_slots_kill_what_the_report_names(tmp_path: Path) -> None:
    before, runs, spec = on_this_machine(), tmp_path / "runs", tmp_path / "spec.yaml"
    spec.write_text(STUDY)
    with study_run(runs, spec=spec) as child:
        output, _ = child.communicate(timeout=1400)
    (run,) = runs.glob("live-promised/2*")
    states = {
        one.topology.levels["oversubscribe"]: one.state
        for one in closed_records(run / "records").values()
    }
    assert states == {"none": "complete", "memory-5": "failed"}, output
    summary = json.loads((run / "report" / "summary.json").read_text())
    (found,) = (one for one in summary["warnings"] if one["code"] == "oversubscription")
    assert "5 times broke 1 of 1 trials" in found["message"]
    assert "ran out of memory: at its limit of" in found["message"]
    assert left_of(run) == [] and on_this_machine() == before
