"""Studies of two versions and of two configurations: killed in the second variant, reaped, resumed,
reported."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import left_of, study, study_run, wait_for

pytestmark = pytest.mark.timeout(1200)

UPGRADE = "stack: [{hadoop: 3.4.1}, {hadoop: 3.4.2}]"
TEST_CASES = """configuration:
    plain: {}
    tuned:
      hbase-site: {hbase.regionserver.handler.count: 17}
      jvm: {regionserver: {collector: ZGC}}
      block_cache: {place: flash, size: 128 MiB}"""
SPEC = """
study: NAME
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{path: DISK, disk_type: flash}]}
factors:
  vms_per_host: [1]
  FACTOR
stack: {base_port: 27000}
workloads:
  - testdfsio: {modes: [write], files: 2, file_size: 32 MiB}
  - ycsb: {records: [10_000], mixes: [load], threads: [4], warm_up_client: off, warm_up_daemons: off}
repetitions: 1
"""
TRIALS_OF_A_VARIANT = 2


@dataclass(frozen=True)
class Reported:
    """A run that was killed in its second variant.

    `left`: processes and files then; `remained`: after `study reap`.
    """

    run: Path
    left: list[str]
    remained: list[str]

    def summary(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run / "report" / "summary.json").read_text())
        return found

    def effects(self, factor: str) -> list[dict[str, Any]]:
        """Findings of the factor."""
        return [one for one in self.summary()["findings"] if one["id"].startswith(factor)]


def killed_and_resumed(folder: Path, name: str, factor: str) -> Reported:
    disk, runs, spec = folder / "disk", folder / "runs", folder / "study.yaml"
    disk.mkdir()
    (disk / "canary").write_text("foreign")
    spec.write_text(SPEC.replace("NAME", name).replace("FACTOR", factor).replace("DISK", str(disk)))
    begun: set[object] = set()

    def in_the_second_variant(entry: dict[str, object]) -> bool:
        if entry.get("state") == "running":
            begun.add(entry["trial"])
        return len(begun) > TRIALS_OF_A_VARIANT

    with study_run(runs, spec=spec) as child:
        run = wait_for(runs, in_the_second_variant, 600)
        child.kill()
        child.wait()
        left = left_of(run) + files_on(disk)
        reaped = study("reap", "--runs", str(runs), runs=runs)
        remained = left_of(run) + files_on(disk)
        ended = study("run", str(spec), "--runs", str(runs), runs=runs)
    assert reaped.returncode == 0 and run.name in reaped.stdout, reaped.stdout + reaped.stderr
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert left_of(run) + files_on(disk) == []
    assert (disk / "canary").read_text() == "foreign"
    return Reported(run, left, remained)


def files_on(disk: Path) -> list[str]:
    """Files of the study on its disk; its empty folder may stay."""
    return [str(one) for one in disk.rglob("*") if one.is_file() and one.name != "canary"]


def test_an_upgrade_is_killed_reaped_and_reported(tmp_path: Path) -> None:
    study = killed_and_resumed(tmp_path, "live-upgrade", UPGRADE)
    assert study.left and study.remained == []
    records = closed_records(study.run / "records").values()
    assert [one.state for one in records] == ["complete"] * 2 * TRIALS_OF_A_VARIANT
    assert {one.disclosure["stacks"]["hadoop"]["version"] for one in records} == {"3.4.1", "3.4.2"}
    effects = study.effects("stack")
    assert effects
    for effect in effects:
        assert "3.4.2" in effect["variants"] and "3.4.1" in effect["variants"]
        assert any("3.4.1" in line and "3.4.2" in line for line in effect["declared"])


def test_a_configuration_is_killed_reaped_and_reported(tmp_path: Path) -> None:
    study = killed_and_resumed(tmp_path, "live-configuration", TEST_CASES)
    assert study.left and study.remained == []
    records = closed_records(study.run / "records").values()
    assert [one.state for one in records] == ["complete"] * 2 * TRIALS_OF_A_VARIANT
    effects = study.effects("configuration")
    assert effects
    for effect in effects:
        assert effect["variants"] == "tuned over plain"
        declared = "\n".join(effect["declared"])
        for difference in ("hbase.regionserver.handler.count", "ZGC", "block"):
            assert difference in declared, declared
