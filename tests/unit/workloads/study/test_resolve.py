"""`auto` resolves to this machine's resources; unavailable resources are refused, with a remedy."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from density_study.cluster.machine import disk_type
from density_study.cluster.machine.disk_type import Probe, probe
from density_study.cluster.model.errors import InputError
from density_study.cluster.providers.ssh import examined
from density_study.workloads.planning.resolve import resolve_hosts
from density_study.workloads.study.study import Study
from tests.support.drafts import study

HERE = {"name": "here", "memory": "2 GiB", "roles": ["master", "worker", "client"]}


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The probe's result: milliseconds per random read."""
    latency = {"ms": 0.1}
    monkeypatch.setattr(examined, "probe", lambda folder: Probe(str(folder), latency["ms"], 10))
    return latency


def host(**keys: object) -> Study:
    return study(hosts=[{**HERE, **keys}])


def test_auto_resolves_to_this_machines_resources(tmp_path: Path, probed: dict[str, float]) -> None:
    resolved = resolve_hosts(host(memory="auto"), tmp_path)[0]
    assert resolved.cores == len(os.sched_getaffinity(0))
    assert resolved.memory_mib == int(psutil.virtual_memory().total // 2**20 * 0.5)
    assert resolved.disks[0].path == str(tmp_path) and resolved.disks[0].disk_type == "flash"


@pytest.mark.parametrize(
    ("ms", "disk_type", "message"),
    [
        (
            0.1,
            "hdd",
            "declares hdd, but a random 4 KiB read took 0.10 ms, which is typical of flash",
        ),
        (
            9.0,
            "flash",
            "declares flash, but a random 4 KiB read took 9.00 ms, which is typical of hdd",
        ),
        (1.5, "auto", "neither flash nor hdd"),
    ],
)
def test_a_disk_that_contradicts_its_disk_type_is_refused_with_the_figure(
    tmp_path: Path, probed: dict[str, float], ms: float, disk_type: str, message: str
) -> None:
    probed["ms"] = ms
    with pytest.raises(InputError, match=message):
        resolve_hosts(host(disks=[{"disk_type": disk_type}]), tmp_path)


@pytest.mark.parametrize(
    ("took_ms", "disk_type", "found", "probes"),
    [
        ([0.1], "auto", "flash", 1),
        ([9.0], "hdd", "hdd", 1),
        ([1.6, 0.4], "auto", "flash", 2),
        ([9.0, 5.0, 0.4], "flash", "flash", 3),
        ([9.0, 7.0, 8.0, 9.0], "auto", "hdd", 4),
        ([9.0, 1.7, 8.0, 9.0], "flash", "flash", 4),  # undecided: as declared
    ],
)
def test_a_busy_disk_is_probed_again_and_its_fastest_probe_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, took_ms: list[float], disk_type: str, found: str,
    probes: int,
) -> None:  # fmt: skip
    left = list(took_ms)
    monkeypatch.setattr(examined, "probe", lambda folder: Probe(str(folder), left.pop(0), 10))
    resolved = resolve_hosts(host(disks=[{"disk_type": disk_type}]), tmp_path)[0]
    assert resolved.disks[0].disk_type == found
    assert len(took_ms) - len(left) == probes


def test_too_many_cores_too_much_memory_or_a_relative_disk_are_refused(
    tmp_path: Path, probed: dict[str, float]
) -> None:
    for keys, key in [
        ({"cores": 4000}, ("hosts", 0, "cores")),
        ({"memory": "60 TiB"}, ("hosts", 0, "memory")),
        ({"disks": [{"path": "data"}]}, ("hosts", 0, "disks", 0, "path")),
    ]:
        with pytest.raises(InputError) as caught:
            resolve_hosts(host(**keys), tmp_path)  # type: ignore[arg-type]
        assert caught.value.key == key


def test_the_probe_reads_the_disk_and_leaves_no_file(tmp_path: Path) -> None:
    latency = probe(tmp_path, seconds=0.05)
    assert latency.reads > 0 and latency.random_4k_read_ms > 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_probed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> list[float]:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(disk_type, "_random_reads", refuse)
    with pytest.raises(InputError, match="Invalid argument") as caught:
        probe(tmp_path)
    assert str(tmp_path) in caught.value.where
    assert list(tmp_path.iterdir()) == []
