"""HBase and clients of a YCSB trial as fakes, which record what is done in order."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.configuration import PLAIN
from density_study.cluster.model.host import Disk
from density_study.cluster.model.store import default_store
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.state.journal import Journal
from density_study.workloads.ycsb import workload
from density_study.workloads.ycsb.mixes import Mix
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming import warm_up
from density_study.workloads.ycsb.warming.warmth import LEAST_SERVED, Look
from density_study.workloads.ycsb.workload import YcsbWorkload

PLACES = {"servers": ["w1:16020", "w2:16020"], "regions": [1, 0, 1]}
"""Of the regions of a table whose snapshot is taken."""


class World:
    """A fake of HBase and the clients that records the actions in order."""

    def __init__(self, folder: Path) -> None:
        self.acts: list[str] = []
        self.every_verb: list[tuple[str, ...]] = []
        self.commands: list[tuple[str, ...]] = []
        self.journal = Journal(folder / "journal.jsonl")
        self.looks = 9
        self.served = 0
        (folder / "e").touch()  # what each client writes to standard error
        self.build(folder, pid=1)

    def build(self, folder: Path, pid: int) -> None:
        endpoints = Endpoints({"regionserver.http": {"w1": "a", "w2": "b"}})
        disk = Disk("/data", "flash")
        worker = Node("w1", "here", "127.0.0.1", ("worker",), 4096, 2, disk, regionservers=1)
        cluster = SimpleNamespace(
            site=SimpleNamespace(root=folder),
            processes=(ProcessId("w1", "regionserver-1", pid, 77),),
            endpoints=endpoints,
            topology=SimpleNamespace(
                client="c1",
                clients=("c1",),
                workers=(worker,),
                hosts=(SimpleNamespace(name="here", cores=2),),
                replication=1,
                jit="full",
                existing=None,
                configuration=PLAIN,
                store=default_store(),
                regionservers_per_node=1,
            ),
        )
        record = SimpleNamespace(root=folder, raw=folder / "raw")
        self.bench: Any = SimpleNamespace(cluster=cluster, record=record, journal=self.journal,
                                          at=lambda path, node=None: path)  # fmt: skip

    def table_tool(
        self, _: Any, __: str, *verbs: tuple[str, ...], more_s: float = 0.0
    ) -> list[dict[str, Any]]:
        self.acts += [verb[0] for verb in verbs if verb[0] != "state"]
        self.verbs = verbs
        self.every_verb += verbs
        return [{"places": PLACES} if verb[0] == "snapshot" else {} for verb in verbs]

    def warm_up_clients(
        self, _: Any, commands: Any, __: float, ___: str, enough: Any, **____: Any
    ) -> tuple[Any, ...]:
        """A warm-up ends by itself, or when `enough` returns true: then it is called until it
        does."""
        self.acts += [command.name for _, command in commands]
        self.commands += [command.arguments for _, command in commands]
        ends = any(enough() for _ in range(self.looks))
        return tuple(SimpleNamespace(exit_code=None if ends else 0, stderr="e") for _ in commands)

    def look(self, *_: Any) -> Look:
        self.served += LEAST_SERVED["full"]
        return Look({"w1": 7.5, "w2": 8.0}, {"w1": self.served, "w2": self.served})

    def trial(self, mix: Mix, **knobs: Any) -> list[str]:
        return self.run(case(mix, **knobs))

    def run(self, test_case: YcsbTestCase) -> list[str]:
        """Run one test case; return the actions in order, with the measured window as 'WINDOW'."""
        self.acts.clear()
        prepared = YcsbWorkload().prepare(self.bench, test_case)
        self.acts.append("WINDOW")
        YcsbWorkload().run(self.bench, test_case)
        YcsbWorkload().collect(self.bench, test_case, prepared)
        return self.acts[: self.acts.index("WINDOW") + 1]


def case(mix: Mix, **knobs: Any) -> YcsbTestCase:
    timed = {} if mix == "load" else {"duration_s": 20.0, "warm_up_s": 5.0}
    fixed: dict[str, Any] = {"records": 1000, "threads": 4, "warm_up_daemons_s": 9.0}
    return YcsbTestCase(mix=mix, **{**fixed, **timed, **knobs})


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path)

    def command(_: Any, __: Any, ___: Any, name: str, arguments: tuple[str, ...]) -> Any:
        return SimpleNamespace(name=name, arguments=arguments)

    def run_clients(_: Any, commands: Any, *__: Any, **___: Any) -> tuple[Any, ...]:
        world.acts += [command.name for _, command in commands]
        world.commands += [command.arguments for _, command in commands]
        return tuple(SimpleNamespace(exit_code=0, stderr="e") for _ in commands)

    monkeypatch.setattr(workload, "table_tool", world.table_tool)
    monkeypatch.setattr(workload, "_command", command)
    monkeypatch.setattr(workload, "run_clients", run_clients)
    monkeypatch.setattr(warm_up, "run_clients", world.warm_up_clients)
    monkeypatch.setattr(warm_up, "look_at", world.look)
    monkeypatch.setattr(workload, "faults_of_all", lambda *_: ())
    return world
