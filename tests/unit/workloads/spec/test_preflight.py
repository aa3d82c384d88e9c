"""What this machine lacks is found before anything is started."""

from __future__ import annotations

import socket
from collections import namedtuple
from pathlib import Path

import psutil
import pytest

from cluster.model.errors import InputError
from cluster.model.host import Disk, Host
from tests.support.drafts import study
from workloads.planning import preflight as checked
from workloads.planning.plan import Plan, make_plan
from workloads.planning.preflight import disk_need_mib, preflight
from workloads.spec.study import Study

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def no_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checked, "ensure_software", lambda: None)


def planned(tmp_path: Path, **overrides: object) -> tuple[Study, Plan]:
    made = study(**{"stack.base_port": 27000, **overrides})
    roles = ("master", "worker", "client")
    host = Host("here", "127.0.0.1", 2, 6144, (Disk(str(tmp_path), "flash"),), roles)  # type: ignore[arg-type]
    return made, make_plan(made, [host])


def test_a_machine_that_has_all_of_it_passes(tmp_path: Path) -> None:
    preflight(*planned(tmp_path), tmp_path)


def test_a_port_that_is_taken_is_named_with_its_remedy(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", 27003))
        taken.listen()
        with pytest.raises(InputError) as caught:
            preflight(*planned(tmp_path), tmp_path)
    assert "27003" in str(caught.value)
    assert "base_port" in str(caught.value)


def test_too_little_free_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = psutil.virtual_memory()._replace(available=2**30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(InputError, match="1024 MiB are free") as caught:
        preflight(*planned(tmp_path), tmp_path)
    assert "'here'" in caught.value.where


def test_less_disk_than_the_study_will_write_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, plan = planned(tmp_path)
    monkeypatch.setattr(checked.shutil, "disk_usage", lambda _: Usage(0, 0, 100 * 2**20))
    with pytest.raises(InputError) as caught:
        preflight(made, plan, tmp_path)
    assert f"up to {disk_need_mib(made)} MiB; 100 MiB are free" in caught.value.what
    assert str(tmp_path) in caught.value.where


def test_the_need_follows_the_largest_data_of_each_workload() -> None:
    small = [{"testdfsio": {"modes": ["write"], "files": 1, "file_size": "1 MiB"}}]
    large = [{"testdfsio": {"modes": ["write", "read"], "files": 4, "file_size": "1 GiB"}}]
    grown = disk_need_mib(study(workloads=large)) - disk_need_mib(study(workloads=small))
    assert grown == 4096 - 1
