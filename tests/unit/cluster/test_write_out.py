"""Dirty pages are written out on every machine at once, for as long as their number allows."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.clients import page_caches as module
from density_study.cluster.clients.cold_reads import evict_blocks
from density_study.cluster.clients.write_out import begin_write_out, one_per_kernel, write_out
from density_study.cluster.machine import page_cache
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MIB
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, ProcessId
from tests.support.topologies import local


def on_hosts(*hosts: str, isolation: Isolation = Isolation.HOST) -> Topology:
    base = local(len(hosts))
    names = iter(hosts)
    nodes = (replace(n, host=next(names)) if "worker" in n.roles else n for n in base.nodes)
    return replace(base, isolation=isolation, nodes=tuple(nodes))


class Machines:
    """A transport to machines whose syncs take `seconds` of a clock that only waiting moves."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, unwritten_mib: int, *seconds: float
    ) -> None:
        self.now_s, self.unwritten, self.started = 100.0, unwritten_mib * MIB, []  # type: ignore[var-annotated]
        self._takes = list(seconds)
        self._ends: dict[ProcessId, float] = {}
        self.slices: list[float] = []
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now_s)

    def act(self, node: Node, name: str) -> int:
        assert name == "unwritten-bytes"
        return self.unwritten

    def python(self, node: Node) -> tuple[str, ...]:
        return ("python3",)

    def start(self, node: Node, command: Command, out: Path, err: Path) -> ProcessId:
        process = ProcessId(node.name, command.name, len(self.started), 0)
        self.started.append(node.name)
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("a") as file:  # as real transports do
            file.write(f"{self._takes[process.pid]}\n")
        self._ends[process] = self.now_s + self._takes[process.pid]
        return process

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        self.slices.append(timeout_s)
        end_s = self._ends[process]
        if end_s > self.now_s + timeout_s:
            self.now_s += timeout_s
            raise TimeoutError
        self.now_s = max(self.now_s, end_s)
        return 0

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        pass


def cluster(topology: Topology) -> Any:
    return SimpleNamespace(topology=topology, site=SimpleNamespace(root=Path("b1")))


def test_the_slowest_machine_counts_and_all_begin_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machines: Any = Machines(monkeypatch, 300, 12.5, 70.0, 3.0)
    writing = begin_write_out(cluster(on_hosts("a", "b", "c")), machines, tmp_path, 1.0)
    assert machines.now_s == 100.0 and machines.started == ["w1", "w2", "w3"]
    assert writing.unwritten_bytes == 3 * 300 * MIB
    assert writing.seconds() == 70.0
    assert machines.now_s == 170.0
    assert max(machines.slices) <= 5.0  # over SSH, one call may take a minute


def test_the_last_of_several_in_one_trial_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machines: Any = Machines(monkeypatch, 300, 2.0, 9.0)
    write_out(cluster(on_hosts("a")), machines, tmp_path, 1.0)  # before the trial
    assert begin_write_out(cluster(on_hosts("a")), machines, tmp_path, 1.0).seconds() == 9.0


@pytest.mark.parametrize(("dirty_mib", "seconds", "known"), [
    (0, 59.0, True), (0, 61.0, False),
    (50_000, 5_000.0, True), (50_000, 11_000.0, False),  # 49 GiB at 5 MiB/s: nearly three hours
])  # fmt: skip
def test_the_limit_follows_from_the_dirty_bytes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dirty_mib: int, seconds: float, known: bool
) -> None:
    machines: Any = Machines(monkeypatch, dirty_mib, seconds)
    writing = begin_write_out(cluster(on_hosts("a")), machines, tmp_path, 1.0)
    assert writing.seconds() == (seconds if known else None)


def test_emulated_guests_have_longer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machines: Any = Machines(monkeypatch, 0, 600.0)
    assert begin_write_out(cluster(on_hosts("a")), machines, tmp_path, 12.0).seconds() == 600.0


def test_before_a_trial_pages_that_stay_in_memory_are_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machines: Any = Machines(monkeypatch, 100, 900.0)
    with pytest.raises(StudyError, match=r"100 MiB .* within 80 s"):
        write_out(cluster(on_hosts("a")), machines, tmp_path, 1.0)


@pytest.mark.parametrize(
    ("isolation", "machines"),
    [(Isolation.VM, 3), (Isolation.CONTAINER, 2), (Isolation.PROCESS, 2), (Isolation.HOST, 2)],
)
def test_pages_are_counted_once_for_each_kernel(isolation: Isolation, machines: int) -> None:
    assert len(one_per_kernel(on_hosts("a", "a", "b", isolation=isolation))) == machines


@pytest.mark.parametrize("seconds", [100.0, 2000.0])
def test_dropping_a_large_cache_may_take_longer_than_a_call(
    seconds: float, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    machines: Any = Machines(monkeypatch, 0, seconds, 1.0)
    topology = on_hosts("a", "b")
    site = SimpleNamespace(root=tmp_path / "b1", tag="s/r/b1")
    there: Any = SimpleNamespace(topology=topology, site=site)
    if seconds > 1800:
        with pytest.raises(StudyError, match="within 1800 s"):
            evict_blocks(there, machines, tmp_path, 1.0)
    else:
        assert evict_blocks(there, machines, tmp_path, 1.0) == 101
        assert max(machines.slices) <= 5.0


def test_the_program_drops_block_files(tmp_path: Path) -> None:
    for name, size in (("blk_1", 5), ("blk_2", 2), ("other", 9)):
        (tmp_path / name).write_bytes(b"x" * size)
    argv = [sys.executable, "-m", page_cache.__name__, "evict", str(tmp_path)]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "7\n"


def test_the_program_prints_how_long_it_took() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", page_cache.__name__], capture_output=True, text=True, check=True
    )
    assert 0 <= float(ran.stdout) < 60
