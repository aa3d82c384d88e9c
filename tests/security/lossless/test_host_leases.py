"""A damaged lease on a host is one clear error with the command that mends it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.ssh import host_lease

OWNER = {"place": {"host": "c1", "boot_id": "b", "pid_namespace": 1}, "pid": 1, "start_ticks": 1}


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "1", "null", "{}", '{"tag": "a/b"}', "[" * 100_000, "\x00",
     '{"tag": 1, "owner": {}, "since": 1, "renewed": {}}',
     '{"tag": "a/b", "owner": {}, "since": 1e400, "renewed": {"boot_id": "b", "epoch_s": 1}}'],
)  # fmt: skip
def test_a_damaged_lease_of_a_host(content: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "host-lease.json"
    path.write_text(content)
    for call in (
        lambda: host_lease.take(str(tmp_path), "s/r", OWNER),
        lambda: host_lease.release(str(tmp_path), "s/r"),
        lambda: host_lease.holder(str(tmp_path)),
    ):
        with pytest.raises(StudyError, match=f"rm {path}"):
            call()
    path.unlink()
    assert host_lease.take(str(tmp_path), "s/r", OWNER) is None


@pytest.mark.parametrize("kind", ["link", "FIFO"])
def test_a_lease_of_a_host_that_is_no_file(kind: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path, victim = tmp_path / "host-lease.json", tmp_path / "victim"
    host_lease.take(str(tmp_path), "s/r", OWNER)
    victim.write_text(path.read_text())
    path.unlink()
    if kind == "link":
        path.symlink_to(victim)
    else:
        os.mkfifo(path)
    with pytest.raises(StudyError, match=f"rm {path}"):
        host_lease.holder(str(tmp_path))
    assert json.loads(victim.read_text())["tag"] == "s/r"
