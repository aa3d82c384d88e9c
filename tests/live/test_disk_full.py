"""A disk fills in the middle of a study: the trial fails with the reason, and the study continues. If it is
the disk of the run's folder, the study ends with the reason, and continues when it is run again.

The disk of the data is an image of its own, mounted in a mount namespace that ends with the command.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from density_study.workloads.record.record import closed_records
from tests.live.support.command import SPEC as SMALL
from tests.live.support.command import STUDY, environment, left_of, study, study_run, wait_for

pytestmark = [
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounting a disk image needs root"),
]

DISK_MIB = 4096
"""HDFS reserves a whole block for every open file, on a disk that all nodes share here."""
SPEC = """\
study: live-small
provider: local
hosts:
  - {{name: here, memory: 6 GiB, roles: [master, worker, client], disks: [{{path: {disk}}}]}}
factors: {{vms_per_host: [2]}}
stack: {{base_port: 26000}}
workloads:
  - testdfsio: {{modes: [write, append], files: 3, file_size: 64 MiB}}
repetitions: 2
seed: 7
"""


def test_a_full_disk_fails_its_trial_with_the_reason_and_the_next_one_runs(tmp_path: Path) -> None:
    disk, image, spec = tmp_path / "disk", tmp_path / "disk.img", tmp_path / "study.yaml"
    disk.mkdir()
    spec.write_text(SPEC.format(disk=disk))
    subprocess.run(["truncate", "--size", f"{DISK_MIB}M", str(image)], check=True)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    mounted = f'mount -o loop "{image}" "{disk}" && exec "$@"'
    argv = ["unshare", "--mount", "--propagation", "private", "--kill-child", "--", "sh", "-c", mounted, "sh",
            str(STUDY), "run", str(spec), "--runs", str(tmp_path / "runs")]  # fmt: skip
    child = subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(tmp_path / "runs"),
    )
    try:
        run = wait_for(tmp_path / "runs", lambda entry: entry.get("state") == "running", 300)
        filler = disk / "filler"
        free = f"$(($(stat -f -c '%a * %S' {disk})))"
        _inside(child.pid, f"fallocate -l {free} {filler}; cat /dev/zero >> {filler}", fails=True)
        wait_for(tmp_path / "runs", lambda entry: entry.get("outcome") == "failed", 300)
        _inside(child.pid, f"rm {filler}")
        output, _ = child.communicate(timeout=300)
    finally:
        child.kill()
        child.wait()
        study("reap", "--runs", str(tmp_path / "runs"), runs=tmp_path / "runs")
    records = sorted(closed_records(run / "records").values(), key=lambda manifest: manifest.order)
    states = [manifest.state for manifest in records]
    # the block's second trial may begin before the DataNodes have reported the free space again
    assert (len(states), states[0], states[2:]) == (4, "failed", ["complete"] * 2), output
    assert f"the disk of {disk} on here is full" in records[0].reasons[0], records[0].reasons
    assert child.returncode == 1 and "is full" in output, output
    assert left_of(run) == []


def test_a_full_disk_of_the_run_ends_the_study_and_it_continues_where_it_was(
    tmp_path: Path,
) -> None:
    runs, disk = tmp_path / "runs", tmp_path / "runs" / "live-small"
    disk.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(disk)], check=True)
    try:
        with study_run(runs) as child:
            run = wait_for(runs, lambda entry: entry.get("state") == "running", 300)
            with (disk / "filler").open("wb", buffering=0) as filler, suppress(OSError):
                while True:
                    filler.write(bytes(4096))
            output, _ = child.communicate(timeout=300)
            assert child.returncode == 1 and "is full" in output, output
            assert "Traceback" not in output and "remedy: " in output, output
            before = {**closed_records(run / "records")}
            (disk / "filler").unlink()
            again = study("run", str(SMALL), "--runs", str(runs), runs=runs)
            assert again.returncode == 0, again.stdout + again.stderr
        records = closed_records(run / "records")
        assert len(records) == 4 and {one.state for one in records.values()} == {"complete"}
        assert [one for one in before.values() if one.state == "complete"] == [
            records[name] for name, one in before.items() if one.state == "complete"
        ]
        assert left_of(run) == []
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def _inside(pid: int, line: str, fails: bool = False) -> None:
    """Runs a shell command in the mount namespace of the study command."""
    done = subprocess.run(
        ["nsenter", "-t", str(pid), "-m", "--", "sh", "-c", line],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stderr
