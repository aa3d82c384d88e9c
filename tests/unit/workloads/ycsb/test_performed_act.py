"""An act is carried out beside the clients: its span is noted, its failure fails the trial."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from density_study.cluster.model.cluster import Cluster, Endpoints, Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.state.journal import Journal
from density_study.cluster.stores.answers import Seen
from density_study.workloads.base.fault import Fault
from density_study.workloads.base.workload import RecordFolder, TrialContext
from density_study.workloads.ycsb.act_under_load import performing, steps
from density_study.workloads.ycsb.act_under_load.performing import PerformedAct
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.topologies import blueprint, local

TOPOLOGY = local(2)
VICTIMS = tuple(ProcessId(f"w{n}", "regionserver-1", 10 + n, 1) for n in (1, 2))


class Transport:
    """Every program ends at once with `code`, after it printed `text`."""

    same_kernel = True

    def __init__(self, text: str = "", code: int = 0) -> None:
        self.text, self.code = text, code
        self.done: list[tuple[str, Any]] = []

    def start(self, node: object, command: Command, out: Path, err: Path) -> ProcessId:
        self.done.append(("start", command))
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(self.text)
        err.write_text("the reason")
        return ProcessId("c1", command.name, 99, 1)

    def serve(self, node: Any, command: Command, *_: Path) -> ProcessId:
        self.done.append(("serve", (node.name, command.name)))
        return ProcessId(node.name, command.name, 77, 1)

    def wait(self, *_: object) -> int:
        return self.code

    def stop(self, process: ProcessId, *_: float) -> None:
        self.done.append(("stop", (process.node, process.name)))

    def put(self, node: Any, text: str, path: Path) -> None:
        self.done.append(("put", (path, text)))

    def fetch(self, *_: object) -> None:
        pass


@pytest.fixture
def act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PerformedAct]:
    def made(name: str, transport: Transport) -> PerformedAct:
        servers = {f"{one.node}/{one.name}": f"{one.node}:1" for one in VICTIMS}
        services: Any = {"regionserver.http": servers, "namenode.http": {"m/n": "m:1"}}
        nowhere = Path("/")
        cluster = Cluster(
            site=Site(tmp_path / "b1", "s/r/b1"),
            topology=TOPOLOGY,
            endpoints=Endpoints(services),
            processes=(*VICTIMS, ProcessId("w1", "datanode", 5, 1)),
            hadoop_home=nowhere,
            java_home=nowhere,
            client_java_home=nowhere,
            disclosure={},
        )
        journal = Journal(tmp_path / "journal.jsonl")
        context = TrialContext(cluster, transport, RecordFolder(tmp_path), journal)  # type: ignore[arg-type]
        monkeypatch.setattr(performing, "tool_command", lambda *words: Command(words[1], words[2:]))
        monkeypatch.setattr(steps, "rendering_of", lambda _: blueprint(TOPOLOGY))
        monkeypatch.setattr(steps, "POLL_S", 0.01)
        fault = Fault(act=name, at_s=1)
        case = YcsbTestCase(mix="a", records=1, threads=1, duration_s=2, fault=fault)
        return PerformedAct(context, case)

    return made


def test_the_span_of_a_tool_is_that_of_its_commands(act: Callable[..., PerformedAct]) -> None:
    transport = Transport('{"verb": "x", "seconds": 2.5, "result": {}}\n')
    performed = act("major-compaction", transport)
    performed.begin()
    performed.finish()
    (seen,) = performed.context.injected
    assert seen.what == "major compaction" and seen.until_epoch_s is not None
    assert seen.until_epoch_s - seen.epoch_s == pytest.approx(2.5)
    ((_, command),) = transport.done
    assert command.argv[0][:2] == ("flush-compact-settle", "--table")


def test_a_tool_that_fails_fails_the_trial(act: Callable[..., PerformedAct]) -> None:
    performed = act("snapshot", Transport(code=1))
    performed.begin()
    with pytest.raises(StudyError, match="snapshot: this failed: the reason"):
        performed.finish()


def test_servers_are_restarted_one_after_the_other_and_their_end_is_no_surprise(
    act: Callable[..., PerformedAct], monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = Transport()
    looks: list[str] = []

    def check(_: object, address: str, *__: object) -> Callable[[], Seen]:
        def look() -> Seen:
            looks.append(address)
            return Seen(looks.count(address) > 1, "not yet")

        return look

    monkeypatch.setattr(steps, "jmx_check", check)
    monkeypatch.setattr(steps, "store_of", lambda _: _Ready())
    performed = act("rolling-restart", transport)
    performed.begin()
    performed.finish()
    assert transport.done == [
        ("stop", ("w1", "regionserver-1")), ("serve", ("w1", "regionserver-1")),
        ("stop", ("w2", "regionserver-1")), ("serve", ("w2", "regionserver-1")),
    ]  # fmt: skip
    assert looks == ["w1:1", "w1:1", "w2:1", "w2:1"]
    assert {(one.node, one.name) for one in performed.context.injected} == {
        (one.node, one.name) for one in VICTIMS
    }


def test_stop_waits_for_the_step_under_way_and_begins_no_other(
    act: Callable[..., PerformedAct], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that is stopped here would come back while the next trial is measured."""
    entered = threading.Event()

    class Slow(Transport):
        def stop(self, process: ProcessId, *_: float) -> None:
            entered.set()
            time.sleep(0.3)
            super().stop(process)

    monkeypatch.setattr(steps, "jmx_check", lambda *_: lambda: Seen(True, "it answers"))
    monkeypatch.setattr(steps, "store_of", lambda _: _Ready())
    transport = Slow()
    performed = act("rolling-restart", transport)
    performed.stop()  # before it began
    performed = act("rolling-restart", transport)
    performed.begin()
    assert entered.wait(10)
    performed.stop()
    assert transport.done == [
        ("stop", ("w1", "regionserver-1")), ("serve", ("w1", "regionserver-1")),
    ]  # fmt: skip


def test_a_step_that_hangs_when_its_act_is_broken_off_is_journalled(
    act: Callable[..., PerformedAct], monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, freed = threading.Event(), threading.Event()

    class Hung(Transport):
        def stop(self, process: ProcessId, *_: float) -> None:
            entered.set()
            freed.wait(10)

    monkeypatch.setattr(steps, "store_of", lambda _: _Ready())
    for name in ("STOP_S", "READY_S"):
        monkeypatch.setattr(performing, name, 0.01)
    performed = act("rolling-restart", Hung())
    performed.begin()
    assert entered.wait(10)
    performed.stop()
    freed.set()
    (said,) = performed.context.journal.read()
    assert (said["event"], said["act"]) == ("act-not-over", "rolling-restart")


def test_a_second_snapshot_of_a_build_replaces_the_first(act: Callable[..., PerformedAct]) -> None:
    """HBase refuses a snapshot whose name is taken."""
    transport = Transport()
    performed = act("snapshot", transport)
    (before,), (tool,) = performed.act.before, performed.act.tool
    assert (before[0], tool[0]) == ("forget", "snapshot") and before[1:] == tool[1:]


class _Ready:
    def readiness(self, *_: object) -> list[object]:
        return []


def test_a_datanode_leaves_by_the_namenodes_configuration(
    act: Callable[..., PerformedAct], monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = Transport()
    monkeypatch.setattr(steps, "hadoop_command", lambda *words: Command("act-refresh", words[2:]))
    monkeypatch.setattr(steps, "run_client", lambda *_: None)
    monkeypatch.setattr(steps, "require_success", lambda *_: None)
    seen = iter([(0, 1), (0, 1), (1, 0)])

    def check(_: object, __: str, bean: str, judge: Any, expected: int) -> Callable[[], Seen]:
        def look() -> Seen:
            done, leaving = next(seen)
            return judge(  # type: ignore[no-any-return]
                {"NumDecomLiveDataNodes": done, "NumDecommissioningDataNodes": leaving}, expected
            )

        return look

    monkeypatch.setattr(steps, "jmx_check", check)
    performed = act("decommission", transport)
    began_s = time.time()
    performed.begin()
    performed.finish()
    (span,) = performed.context.injected
    assert span.until_epoch_s is not None and next(seen, None) is None
    assert began_s <= span.epoch_s <= span.until_epoch_s <= time.time()
    (excludes, address), (site, text) = (what for _, what in transport.done)
    assert address.strip().rpartition(":")[2].isdigit()
    found = {one.findtext("name"): one.findtext("value") for one in ET.fromstring(text)}
    assert found["dfs.hosts.exclude"] == str(excludes) and "dfs.replication" in found
    assert site.name == "hdfs-site.xml"
