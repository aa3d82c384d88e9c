"""A deed is done once while the clients run, at its time, and its victim's death is no surprise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.state.journal import Journal
from density_study.workloads.base import client_run
from density_study.workloads.base.client_run import Deed, run_clients
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.workload import RecordFolder, TrialContext
from density_study.workloads.ycsb.fault_under_load import injection
from density_study.workloads.ycsb.fault_under_load.injection import killing
from density_study.workloads.ycsb.fault_under_load.processes import victims_of
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import local
from tests.unit.workloads.stepped_time import SteppedTime, stepped

SERVERS = (
    ProcessId("w1", "regionserver", 11, 1),
    ProcessId("w2", "regionserver", 12, 1),
    ProcessId("w2", "datanode", 13, 1),
)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SteppedTime:
    return stepped(monkeypatch, client_run, injection)


class Transport:
    """Clients that run for a while, and daemons that die when they are stopped."""

    def __init__(self, clock: SteppedTime, runs_s: float) -> None:
        self.clock = clock
        self.runs_s = runs_s
        self.began_s = 0.0
        self.stopped: list[tuple[ProcessId, float]] = []
        self.said: dict[str, str] = {}

    def fetch(self, _: Any, path: Path, to: Path) -> None:
        if path.name not in self.said:
            raise FileNotFoundError(path)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(self.said[path.name])

    def start(self, *_: Any) -> ProcessId:
        self.began_s = self.clock.monotonic()
        return ProcessId("c1", "ycsb-1", 99, 1)

    def wait(self, _: ProcessId, timeout_s: float) -> int:
        left_s = self.began_s + self.runs_s - self.clock.monotonic()
        self.clock.sleep(max(0.0, min(left_s, timeout_s)))
        if left_s > timeout_s:
            raise TimeoutError
        return 0

    def stop(self, process: ProcessId, grace_s: float = 10.0) -> None:
        assert process.name == "ycsb-1"

    def act(self, _: Any, name: str, processes: list[list[Any]]) -> None:
        assert name == "kill"
        after_s = self.clock.monotonic() - self.began_s
        self.stopped += [(ProcessId(*process), after_s) for process in processes]

    def dead(self, processes: Any) -> list[ProcessId]:
        return [one for one in processes if one in [victim for victim, _ in self.stopped]]

    def collect(self, *_: Any) -> None:
        pass


class Cluster:
    topology = local()
    processes = SERVERS

    class site:  # noqa: N801  an attribute of the real one
        root: Path
        tag = "made/b1"


def context(folder: Path, transport: Transport) -> TrialContext:
    journal = Journal(folder / "journal.jsonl")
    Cluster.site.root = folder / "b1"
    return TrialContext(Cluster(), transport, RecordFolder(folder), journal)  # type: ignore[arg-type]


def test_the_last_server_is_killed_at_its_time(tmp_path: Path, clock: SteppedTime) -> None:
    transport = Transport(clock, runs_s=1.2)
    at = context(tmp_path, transport)
    fault = Fault(kill="regionserver", at_s=0.3)
    test_case = YcsbTestCase(
        mix="a",
        records=1,
        threads=1,
        duration_s=2,
        warm_up_s=0.1,
        warm_up_client_s=0.2,
        fault=fault,
    )
    command = (at.cluster.topology.client, Command("ycsb-1", ()))
    (run,) = run_clients(at, [command], 60.0, deed=killing(at, test_case, fault))
    assert run.exit_code == 0
    ((victim, when_s),) = transport.stopped
    assert victim == SERVERS[1]
    assert when_s == pytest.approx(0.6, abs=0.001)
    (injected,) = at.injected
    assert (injected.kill, injected.node, injected.name) == ("regionserver", "w2", "regionserver")
    assert injected.epoch_s - run.start_epoch_s == pytest.approx(0.6, abs=0.001)
    at.check_daemons()  # its death is expected
    transport.stopped.append((SERVERS[2], 0.0))
    with pytest.raises(
        StudyError, match=r"datanode on w2 died\. Remedy"
    ):  # killed, and said nothing
        at.check_daemons()
    transport.said = {"datanode.log": "1 INFO all is well\n2 ERROR the disk is full\n3 INFO bye\n"}
    with pytest.raises(
        StudyError, match=r"died: 2 ERROR the disk is full \(logs/w2/datanode.log\)"
    ):
        at.check_daemons()
    transport.said["datanode.out"] = (
        "Terminating due to java.lang.OutOfMemoryError: Java heap space\n\n"
    )
    with pytest.raises(
        StudyError, match=r"OutOfMemoryError: Java heap space \(logs/w2/datanode.out\)"
    ):
        at.check_daemons()


def test_a_deed_that_is_not_due_is_not_done(tmp_path: Path, clock: SteppedTime) -> None:
    done: list[int] = []
    at = context(tmp_path, Transport(clock, runs_s=0.1))
    command = (at.cluster.topology.client, Command("ycsb-1", ()))
    run_clients(at, [command], 60.0, deed=Deed(lambda: done.append(1), 5.0, 0.0))
    assert done == []


def test_a_cluster_without_the_daemon_is_named(tmp_path: Path, clock: SteppedTime) -> None:
    with pytest.raises(StudyError, match="no process of a nodemanager"):
        victims_of(context(tmp_path, Transport(clock, 0.1)), Fault(kill="nodemanager", at_s=1))


def test_a_node_loses_all_its_daemons_at_once(tmp_path: Path, clock: SteppedTime) -> None:
    at = context(tmp_path, transport := Transport(clock, 0.1))
    fault = Fault(kill="node", at_s=1)
    assert victims_of(at, fault) == (SERVERS[2], SERVERS[1])
    test_case = YcsbTestCase(mix="a", records=1, threads=1, duration_s=2, fault=fault)
    killing(at, test_case, fault).do()
    assert {victim for victim, _ in transport.stopped} == {SERVERS[1], SERVERS[2]}
    assert len({when_s for _, when_s in transport.stopped}) == 1
    assert {(one.kill, one.node) for one in at.injected} == {("node", "w2")}
    at.check_daemons()
