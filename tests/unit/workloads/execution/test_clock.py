"""A trial records clock offsets of hosts before and after, and aligns samples with the
controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import SeveralError, StudyError
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.state.journal import Journal
from density_study.workloads.base import clock as clock_module
from density_study.workloads.base.clock import read_clock
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.execution import monitoring
from density_study.workloads.execution.monitoring import Monitors
from density_study.workloads.record.record import Record
from tests.support.drafts import draft
from tests.support.topologies import physical
from tests.unit.workloads.stepped_time import SteppedTime, stepped

PERIOD_S = 0.2


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SteppedTime:
    return stepped(monkeypatch, clock_module, monitoring)


def test_of_slow_and_fast_answers_the_fast_one_counts(clock: SteppedTime) -> None:
    delays = iter((0.2, 0.002, *(0.1 for _ in range(6))))

    def ask() -> float:
        answer = clock.time() + 1.0  # returned at once; the way back is slow
        clock.sleep(next(delays))
        return answer

    reading = read_clock(ask)
    assert reading.error_s < 0.05
    assert abs(reading.offset_s - 1.0) <= reading.error_s + 0.001


@pytest.mark.parametrize("ahead_s", (1.0, -1.0, 3600.0))
def test_the_error_bounds_the_offset_in_both_directions(clock: SteppedTime, ahead_s: float) -> None:
    def slow_there() -> float:
        clock.sleep(0.02)
        return clock.time() + ahead_s

    reading = read_clock(slow_there)
    assert abs(reading.offset_s - ahead_s) <= reading.error_s + 0.001


class FakeTransport:
    """Every host clock is `ahead_s` ahead of the controller's clock."""

    same_kernel = False

    def __init__(self, clock: SteppedTime, ahead_s: float) -> None:
        self.clock = clock
        self.ahead_s = ahead_s
        self.seen_s: list[float] = []

    def clock_s(self) -> float:
        return self.clock.time() + self.ahead_s

    def act(self, node: Node, name: str, *_: Any) -> Any:
        if name == "make-folder":
            return None
        if name == "tail":
            # the file states its time of inspection, by the clock of its host
            now_s = self.clock_s()
            self.seen_s.append(now_s - now_s % PERIOD_S)
            return f"{self.seen_s[-1]:.6f},\n"
        assert name == "clock"
        return self.clock_s()

    def start(self, node: Node, *_: Any) -> ProcessId:
        return ProcessId(node.name, "monitor", 1, 1)

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        raise FileNotFoundError

    def alive(self, process: ProcessId) -> bool:
        return True

    def at(self, node: Node, path: Path) -> Path:
        return path

    def python(self, node: Node) -> tuple[str, ...]:
        return ("python3",)

    def stop(self, process: ProcessId) -> None: ...


def watch(tmp_path: Path, clock: SteppedTime, ahead_s: float) -> tuple[Monitors, FakeTransport]:
    record = Record.open(tmp_path, draft("t"))
    transport, topology = FakeTransport(clock, ahead_s), physical()
    cluster = Cluster.__new__(Cluster)
    object.__setattr__(cluster, "topology", topology)
    object.__setattr__(cluster, "site", type("Site", (), {"tag": "m"}))
    context = TrialContext(cluster, transport, record, Journal(tmp_path / "journal.jsonl"))
    return Monitors(context, PERIOD_S, {"ticking": lambda *_: Command("ticking", ())}), transport


@pytest.mark.parametrize("ahead_s", (0.0, 1.0, -1.0, -40.0))
def test_offsets_of_all_hosts_are_recorded_before_and_after(
    tmp_path: Path, clock: SteppedTime, ahead_s: float
) -> None:
    monitors, _ = watch(tmp_path, clock, ahead_s)
    monitors.start()
    monitors.stop(None)
    assert [offset.host for offset in monitors.clock] == ["big", "h1", "h2"]
    for offset in monitors.clock:
        assert offset.before_s == pytest.approx(ahead_s, abs=0.001)
        assert offset.after_s == pytest.approx(ahead_s, abs=0.001)
        assert "error at most" in offset.method


def test_without_monitors_the_offsets_are_recorded_too(tmp_path: Path, clock: SteppedTime) -> None:
    """A trial that measures monitor overhead: its client times still refer to the controller's
    clock."""
    watched, transport = watch(tmp_path, clock, 1.0)
    monitors = Monitors(watched._context, PERIOD_S, {})
    monitors.start()
    assert monitors.stop(clock.time()) == () and transport.seen_s == []
    assert [offset.before_s for offset in monitors.clock] == pytest.approx([1.0] * 3, abs=0.001)


@pytest.mark.parametrize("ahead_s", (30.0, -30.0))
def test_the_watch_ends_when_samples_cover_the_window_by_the_controllers_clock(
    tmp_path: Path, clock: SteppedTime, ahead_s: float
) -> None:
    """A clock ahead would end the watch too early; a clock behind would make it wait in vain."""
    monitors, transport = watch(tmp_path, clock, ahead_s)
    monitors.start()
    end_s = clock.time() + 0.3
    monitors.stop(end_s)
    assert end_s <= transport.seen_s[-1] - ahead_s + 0.001 < end_s + 2 * PERIOD_S


@pytest.mark.parametrize("fails", ["stop", "act"])
def test_a_monitor_that_cannot_be_stopped_keeps_no_other_running(
    tmp_path: Path, clock: SteppedTime, fails: str
) -> None:
    """Else they would still sample during the next trials of the build."""
    monitors, transport = watch(tmp_path, clock, 0.0)
    monitors._kinds = dict.fromkeys(("one", "two"), lambda *_: Command("ticking", ()))
    monitors.start()
    stopped: list[str] = []

    def fail(node: Node | ProcessId, *_: Any) -> Any:
        if isinstance(node, ProcessId):
            stopped.append(node.node)
        raise StudyError("no.", str(node), "none.")

    setattr(transport, fails, fail)
    if fails == "act":
        transport.stop = lambda process: stopped.append(process.node)  # type: ignore[method-assign]
    with pytest.raises(SeveralError if fails == "stop" else StudyError):
        monitors.stop(clock.time())
    assert len(stopped) == 6, stopped


@pytest.mark.parametrize("alive", [False, True])
def test_monitors_that_write_nothing_are_named(
    alive: bool, tmp_path: Path, clock: SteppedTime
) -> None:
    monitors, transport = watch(tmp_path, clock, 0.0)
    monitors._kinds = dict.fromkeys(("one", "two"), lambda *_: Command("ticking", ()))
    act = transport.act
    transport.act = lambda *of: "" if of[1] == "tail" else act(*of)  # type: ignore[method-assign]
    transport.alive = lambda process: alive  # type: ignore[method-assign]
    with pytest.raises(SeveralError) as caught:
        monitors.start()
    assert len(caught.value.faults) == 6, "two on each of three hosts"
    assert caught.value.faults[1].what == "monitor two wrote no sample."
