"""Disk limits in the format of both cgroup versions, and applied where this user may."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from density_study.cluster.machine import io_limits
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import IoLimits
from density_study.cluster.providers.emulation import measure
from tests.support.topologies import local

LIMITS = IoLimits(read_iops=100, read_mib_s=2)


def may_limit() -> bool:
    try:
        return io_limits.cgroup_version() > 0
    except InputError:
        return False


def device_of(folder: Path) -> str:
    number = folder.stat().st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def test_version_1_has_one_file_per_limit(tmp_path: Path) -> None:
    (tmp_path / "blkio").mkdir()
    (tmp_path / "blkio" / "cgroup.procs").touch()
    path = io_limits.group("s/r/b1", "/data", tmp_path)
    assert "buffered writes are not" in io_limits.make(path, tmp_path, LIMITS, tmp_path)
    files = {file.name: file.read_text() for file in path.iterdir()}
    assert files == {
        "blkio.throttle.read_iops_device": f"{device_of(tmp_path)} 100\n",
        "blkio.throttle.read_bps_device": f"{device_of(tmp_path)} {2 * 2**20}\n",
    }


def test_version_2_has_one_line(tmp_path: Path) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("cpu io memory\n")
    path = io_limits.group("s/r/b1", "/data", tmp_path)
    assert io_limits.make(path, tmp_path, LIMITS, tmp_path) == "reads and writes"
    assert (path / "io.max").read_text() == f"{device_of(tmp_path)} riops=100 rbps={2 * 2**20}\n"


def test_a_machine_without_the_controller_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can limit I/O"):
        io_limits.make(tmp_path / "g", tmp_path, LIMITS, tmp_path)


def test_a_group_belongs_to_one_build_and_disk() -> None:
    names = {io_limits.group(tag, disk) for tag in ("s/r/b1", "s/r/b2") for disk in ("/a", "/b")}
    assert len(names) == 4


@pytest.mark.thorough  # reads for five seconds
@pytest.mark.skipif(not may_limit(), reason="needs root and a cgroup that limits I/O")
def test_reads_in_a_group_respect_its_limit(tmp_path: Path) -> None:
    path = io_limits.group(f"test/{os.getpid()}/b1", str(tmp_path))
    group = io_limits.make(path, tmp_path, IoLimits(read_iops=100))
    try:
        reads = io_limits.LimitedReads(path)
        measured = measure(reads, local().master, str(tmp_path), IoLimits(100))
        assert group and 0 < measured["read_iops"]["seen"] <= 105  # a busy machine may reach less
        sleeper = subprocess.Popen(["sleep", "60"])
        io_limits.join(path, sleeper.pid)
        io_limits.remove(path)
        assert path.exists()  # a process is in it
        sleeper.kill()
        sleeper.wait()
    finally:
        io_limits.remove(path)
    assert not path.exists()
