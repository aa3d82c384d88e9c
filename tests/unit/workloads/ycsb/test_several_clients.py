"""Several clients: their start barrier, their shares of the load, and their nodes."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import ProcessId
from density_study.cluster.model.variant import Variant
from density_study.cluster.render.rendered import owner
from density_study.cluster.stores.store import render
from density_study.workloads.base.barrier import GO, LEAD_S, READY, Waiting, start_together
from density_study.workloads.base.values import ClientRun, Turns
from density_study.workloads.execution.trial import window_of
from density_study.workloads.study.study_file import parse_study
from density_study.workloads.ycsb.imported import ImportedYcsb
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART
from tests.support.topologies import blueprint, layout_of, physical

AHEAD_S = {"h1": 3600.0, "h2": -2.5}
NODES = [Node(f"c{n}", f"h{n}", f"192.0.2.{n}", ("client",), 600, 2) for n in (1, 2)]
CLIENTS = [(node, ProcessId(node.name, f"ycsb-{n}", n, n)) for n, node in enumerate(NODES, 1)]
RUN = YcsbTestCase(mix="c", records=1000, threads=5, clients=2, duration_s=20.0, warm_up_s=3.0,
                  warm_up_client_s=8.0)  # fmt: skip


def test_the_table_of_trials_counts_the_threads_of_all_clients() -> None:
    """Others write down those of a client."""
    imported = ImportedYcsb(mix="c", threads=4, clients=3)
    unknown = ImportedYcsb(mix="c", clients=3)
    assert [one.table_row()["threads"] for one in (RUN, imported, unknown)] == [5, 12, None]


class Clients:
    """Clients whose host clocks are ahead by AHEAD_S. `late`: looks until they are ready."""

    same_kernel = False

    def __init__(self, late: int = 2, dead: tuple[ProcessId, ...] = ()) -> None:
        self.late, self.died = late, dead
        self.told_ms: dict[str, int] = {}

    def fetch(self, node: Node, path: Path, to: Path) -> None:
        assert path.name.endswith(READY)
        self.late -= 1
        if self.late >= 0:
            raise FileNotFoundError
        to.write_text("ready\n")

    def dead(self, processes: Any) -> list[ProcessId]:
        return list(self.died)

    def act(self, node: Node, name: str) -> float:
        assert name == "clock"
        return time.time() + AHEAD_S[node.host]

    def put(self, node: Node, text: str, path: Path) -> None:
        assert path.name == f"ycsb-{node.name[1]}-{GO}" and text.endswith("\n")
        self.told_ms[node.host] = int(text)


def context(transport: Clients) -> Any:
    return SimpleNamespace(transport=transport, timeout_scale=1.0, check_daemons=lambda: None)


def test_every_client_gets_the_same_moment_by_its_own_clock(tmp_path: Path) -> None:
    transport = Clients()
    go_s = start_together([Waiting(context(transport), CLIENTS, tmp_path)], 5.0)
    assert 0 < go_s - time.time() <= LEAD_S
    for host, told_ms in transport.told_ms.items():
        assert told_ms / 1000 - AHEAD_S[host] == pytest.approx(go_s, abs=0.05)
    assert set(transport.told_ms) == set(AHEAD_S)


def test_a_client_that_ends_or_never_comes_is_named_and_nobody_starts(tmp_path: Path) -> None:
    gone = Clients(late=99, dead=(CLIENTS[1][1],))
    with pytest.raises(StudyError, match="ycsb-2 on node c2 ended before"):
        start_together([Waiting(context(gone), CLIENTS, tmp_path)], 5.0)
    slow = Clients(late=10**6)
    with pytest.raises(StudyError, match="ycsb-1 on node c1 was not ready within 0 s"):
        start_together([Waiting(context(slow), CLIENTS, tmp_path)], 0.0)
    assert gone.told_ms == slow.told_ms == {}


def test_threads_target_and_operations_are_totals() -> None:
    paced = RUN.model_copy(update={"target_ops_s": 101.0})
    given = [client_arguments(paced, f"/r/ycsb-{n}-", n) for n in (1, 2)]
    for flag, total in (("-threads", 5), ("-target", 101)):
        assert sum(int(words[words.index(flag) + 1]) for words in given) == total
    assert "client.barrier=/r/ycsb-2-" in given[1]


def test_one_client_has_no_barrier() -> None:
    alone = RUN.model_copy(update={"clients": 1})
    words = client_arguments(alone, "/r/ycsb-1-")
    assert not any(word.startswith(("client.barrier", "client.number")) for word in words)
    assert words[words.index("-threads") + 1] == "5"


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("threads", {"threads": 1}),
        ("records", {"records": 1}),
        ("latency_at", {"target_ops_s": 1.0}),
    ],
)
def test_a_load_that_cannot_be_divided_is_refused(key: str, change: dict[str, Any]) -> None:
    RUN.check_topology(physical())
    with pytest.raises(InputError, match="cannot be divided among 2 clients") as caught:
        RUN.model_copy(update=change).check_topology(physical())
    assert caught.value.where == key


def _run(begin_s: float | None, start_s: float, end_s: float) -> ClientRun:
    return ClientRun(name="ycsb-1", node="c1", argv=(), exit_code=0, stdout="o", stderr="e",
                     start_epoch_s=start_s, end_epoch_s=end_s, begin_epoch_s=begin_s)  # fmt: skip


def test_the_window_is_the_time_in_which_all_clients_run() -> None:
    runs = [_run(130.0, 100.0, 151.0), _run(130.0, 101.0, 150.0)]
    window = window_of(runs, RUN)
    assert (window.start_epoch_s, window.end_epoch_s) == (122.0, 150.0)
    load = YcsbTestCase(mix="load", records=1000, threads=4, clients=2)
    assert window_of(runs, load).start_epoch_s == 130.0
    assert window_of(runs, load).end_epoch_s == 151.0  # it lasts until its last row
    alone = window_of([_run(None, 100.0, 151.0)], RUN)
    assert (alone.start_epoch_s, alone.end_epoch_s) == (100.0, 151.0)
    turns = Turns(beside="t", own=((4.0, 12.0), (20.0, 32.0)))
    assert window_of([_run(130.0, 100.0, 175.0)], RUN, turns) == window


def test_a_study_has_clients_on_every_host_with_the_role() -> None:
    text = QUICKSTART.read_text()
    one = parse_study(text, "q.yaml").study
    hosts = tuple(
        one.hosts[0].model_copy(update={"name": name, "roles": (*roles, "client")})
        for name, roles in (("h1", ("master", "worker")), ("h2", ()), ("h3", ("worker",)))
    )
    several = one.model_copy(update={"hosts": hosts}).test_cases()
    assert {s.clients for s in several if isinstance(s, YcsbTestCase)} == {3}
    assert {s.clients for s in one.test_cases() if isinstance(s, YcsbTestCase)} == {1}
    dfsio = [
        [s.id for s in found if not isinstance(s, YcsbTestCase)]
        for found in (several, one.test_cases())
    ]
    assert dfsio[0] == dfsio[1] != []


def test_every_client_host_has_a_node_with_a_configuration_of_its_own() -> None:
    big, *workers = physical().hosts
    hosts = (
        replace(big, roles=("master", "client"), memory_mib=8192),
        *(replace(host, roles=("worker", "client")) for host in workers),
    )
    layout = layout_of("physical")
    (placed,) = place(hosts, [Variant(0, 1, "flash")], layout)
    assert [(node.name, node.host) for node in placed.clients] == [
        ("c1", "big"), ("c2", "h1"), ("c3", "h2"),
    ]  # fmt: skip
    assert placed.client == placed.clients[0]
    files = render(blueprint(placed)).files
    assert "/c1/tmp" in files["client/core-site.xml"]
    assert "/c3/tmp" in files["nodes/c3/core-site.xml"]
    assert "nodes/c1/core-site.xml" not in files
    assert owner("nodes/c3/core-site.xml", placed) == placed.clients[2]
    one = files["client/hbase-site.xml"].replace("/c1/", "/c3/")
    assert one == files["nodes/c3/hbase-site.xml"]
