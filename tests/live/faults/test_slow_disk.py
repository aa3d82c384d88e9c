"""The disk of a node is slowed down for a time: its limits are proved, and nothing of it stays."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from density_study.cluster.machine import io_limits
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.events import Intent
from density_study.cluster.state.journal import Journal
from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, run_of, study, study_run, wait_for

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = Path(__file__).with_name("slow.yaml")


def test_a_disk_is_slow_for_its_time(tmp_path: Path) -> None:
    try:
        io_limits.cgroup_version()
    except InputError as why:
        pytest.skip(f"no disk was slowed down: {why.what}")
    root = run_of(tmp_path, SPEC, timeout_s=850)
    (slow,) = (one for one in closed_records(root / "records").values() if one.fault)
    assert slow.state == "complete", slow.reasons
    assert slow.fault is not None and slow.fault.slow_disk and slow.fault.until_epoch_s is not None
    assert slow.fault.until_epoch_s - slow.fault.epoch_s == pytest.approx(8, abs=2)
    assert slow.fault.proof["measured"]["read_mib_s"]["seen"] == pytest.approx(5, rel=0.05)
    rows = slow.state_after["rows"]
    assert rows["acknowledged"] == rows["found"] > 10_000
    made = [Path(one.path) for one in Journal(root / "journal.jsonl").events(Intent)
            if one.act == "make-io-group"]  # fmt: skip
    assert made and not [path for path in made if path.exists()]


def test_a_killed_controller_leaves_no_slow_disk(tmp_path: Path) -> None:
    try:
        io_limits.cgroup_version()
    except InputError as why:
        pytest.skip(f"no disk was slowed down: {why.what}")
    spec = tmp_path / "long.yaml"
    spec.write_text(SPEC.read_text().replace("for: 8 s", "for: 10 min").replace("40 s", "20 min"))
    with study_run(tmp_path, spec=spec) as child:
        root = wait_for(
            tmp_path,
            lambda entry: entry["event"] == "process-started" and entry["name"] == "fault",
            600,
        )
        groups = {Path(one.path) for one in Journal(root / "journal.jsonl").events(Intent)
                  if one.act == "make-io-group"}  # fmt: skip
        (group,) = groups
        deadline = time.monotonic() + 30
        while not group.exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert (group / "cgroup.procs").read_text().split()
        child.kill()
        child.wait()
        assert group.exists()
        done = study("reap", "--runs", str(tmp_path), runs=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert not group.exists() and left_of(root) == []
