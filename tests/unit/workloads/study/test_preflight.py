"""Preflight detects missing resources of this machine before the run starts."""

from __future__ import annotations

import socket
from collections import namedtuple
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from density_study.cluster.lifecycle import needed
from density_study.cluster.lifecycle.needed import check_one_java
from density_study.cluster.model.errors import FaultsError, InputError, faults_of
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.ssh import acting
from density_study.cluster.stack import Java
from density_study.cluster.stack.machine_software import ThisMachine
from density_study.workloads.planning import preflight as checked
from density_study.workloads.planning.plan import Plan, make_plan
from density_study.workloads.planning.preflight import Check, disk_need_mib, preflight
from density_study.workloads.planning.room import RECORD_MIB
from density_study.workloads.study.study import Study
from tests.support.drafts import study
from tests.support.topologies import physical

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def no_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needed, "ensure_software", lambda *_, **_here: None)


def planned(tmp_path: Path, **overrides: object) -> tuple[Study, Plan]:
    small_study = study(**{"stack.base_port": 27000, **overrides})
    roles = ("master", "worker", "client")
    host = Host("here", "127.0.0.1", 2, 6144, (Disk(str(tmp_path), "flash"),), roles)  # type: ignore[arg-type]
    return small_study, make_plan(small_study, [host])


def test_a_machine_with_all_resources_passes(tmp_path: Path) -> None:
    preflight(*planned(tmp_path), tmp_path, "s/r")


@pytest.mark.usefixtures("shared_network")
def test_a_port_in_use_is_named_with_its_remedy(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", 27003))
        listener.listen()
        with pytest.raises(InputError) as caught:
            preflight(*planned(tmp_path), tmp_path, "s/r")
    assert "27003" in str(caught.value)
    assert "base_port" in str(caught.value)


def test_too_little_free_memory_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = psutil.virtual_memory()._replace(available=2**30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(InputError, match="1024 MiB are free") as caught:
        preflight(*planned(tmp_path), tmp_path, "s/r")
    assert all("'here'" in fault.where for fault in faults_of(caught.value))


def test_all_faults_are_named_to_whom_no_checklist_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked.shutil, "disk_usage", lambda _: Usage(0, 0, 100 * 2**20))
    monkeypatch.setattr(
        checked, "dool_path", Mock(side_effect=InputError("none.", "dool", "get it."))
    )
    shown: list[Check] = []
    with pytest.raises(InputError) as caught:
        preflight(*planned(tmp_path), tmp_path, "s/r", shown.append)
    with pytest.raises(FaultsError, match=r"100 MiB are free.*dool: none\."):
        preflight(*planned(tmp_path), tmp_path, "s/r")
    assert [caught.value] == [one.fault for one in shown if one.fault][:1]


def test_too_little_disk_space_for_the_study_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_study, plan = planned(tmp_path)
    monkeypatch.setattr(checked.shutil, "disk_usage", lambda _: Usage(0, 0, 100 * 2**20))
    with pytest.raises(InputError) as caught:
        preflight(small_study, plan, tmp_path, "s/r")
    # one disk, which holds the run's folder too
    need_mib = disk_need_mib(small_study) + RECORD_MIB * len(plan.trials)
    assert f"up to {need_mib} MiB there; 100 MiB are free" in caught.value.what
    assert str(tmp_path) in caught.value.where


def test_the_disk_need_follows_the_largest_data_of_each_workload() -> None:
    small = [{"testdfsio": {"modes": ["write"], "files": 1, "file_size": "1 MiB"}}]
    large = [{"testdfsio": {"modes": ["write", "read"], "files": 4, "file_size": "1 GiB"}}]
    grown = disk_need_mib(study(workloads=large)) - disk_need_mib(study(workloads=small))
    assert grown == 4096 - 1


def test_a_kernel_without_pressure_stall_information_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = planned(tmp_path, **{"monitor.also": ["pressure"]})
    monkeypatch.setattr(acting, "HOST_COMMANDS", {"pressure": lambda: ""})
    preflight(*asking, tmp_path, "s/r")
    monkeypatch.setattr(acting, "HOST_COMMANDS", {"pressure": lambda: "Operation not supported"})
    preflight(*planned(tmp_path), tmp_path, "s/r")  # nobody asked for it
    with pytest.raises(InputError, match="psi=1") as caught:
        preflight(*asking, tmp_path, "s/r")
    assert "Operation not supported" in str(caught.value)


def test_a_host_without_energy_counters_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = planned(tmp_path, **{"monitor.also": ["energy"]})
    monkeypatch.setattr(acting, "HOST_COMMANDS", {"energy": lambda: "Permission denied"})
    with pytest.raises(InputError, match="has no energy: Permission denied"):
        preflight(*asking, tmp_path, "s/r")


@pytest.mark.parametrize(("guests", "fits"), [("17.0.21", True), ("21.0.5", False)])
def test_guests_have_the_bare_hosts_release_of_java(
    guests: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {"physical": "17.0.15", "libvirt": guests}

    class Found(ThisMachine):
        def __init__(self, topology: Topology) -> None:
            self.version = versions[topology.provider.name]

        def java(self, feature: int | None = None) -> Java:
            return Java(Path("/jdk"), self.version)

    monkeypatch.setattr(needed, "software_of", Found)
    both = (
        replace(physical(), name="v0-flash"),
        replace(physical(), provider=provider_named("libvirt")),
    )
    if fits:
        check_one_java(both)
        return
    with pytest.raises(InputError, match=r"different releases of Java: 17\.0\.15 .*, 21\.0\.5"):
        check_one_java(both)
