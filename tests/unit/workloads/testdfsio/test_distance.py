"""HDFS bytes by distance, from two readings of the DataNodes' counters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.clients.hdfs import Block
from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.topology import Topology
from density_study.workloads.testdfsio.distance import (
    UNKNOWN,
    Nearest,
    Sent,
    bytes_by_distance,
    nearest_replicas,
    read_sent,
)
from density_study.workloads.testdfsio.output.history import Attempt, parse_history
from tests.support.topologies import local

GB = 10**9
SAMPLES = Path(__file__).parents[3] / "samples"


def placed(*hosts: str, shared: bool = False) -> Topology:
    """One worker for each name of a host."""
    base = local(len(hosts))
    workers = iter(hosts)
    nodes = []
    for number, node in enumerate(base.nodes):
        host = next(workers) if "worker" in node.roles else "m"
        address = "10.0.0.1" if shared else f"10.0.0.{number}"
        nodes.append(replace(node, host=host, address=address))
    return replace(base, nodes=tuple(nodes))


def sent(**by_node: tuple[int, int]) -> Sent:
    return {name: {"read": a, "to_others": b} for name, (a, b) in by_node.items()}


START = sent(w1=(5 * GB, 2 * GB), w2=(0, 0), w3=(0, 0))
END = sent(w1=(8 * GB, 3 * GB), w2=(4 * GB, 1 * GB), w3=(3 * GB, 0))


def never() -> Nearest:
    raise AssertionError("the counters tell it")


@pytest.mark.parametrize(
    ("hosts", "rack", "remote"), [(("a", "b", "c"), 0, 2 * GB), (("a", "a", "a"), 2 * GB, 0)]
)
def test_local_rack_and_remote(hosts: tuple[str, ...], rack: int, remote: int) -> None:
    found = bytes_by_distance(placed(*hosts), START, END, 10 * GB, never)
    assert found == {"sent": 10 * GB, "local": 8 * GB, "rack": rack, "remote": remote}


@pytest.mark.parametrize(
    ("nearest", "rack", "remote"),
    [
        (Nearest(local=40, rack=2, remote=8), GB * 2 // 5, GB * 8 // 5),
        (Nearest(local=16, rack=0, remote=4), 0, 2 * GB),
        (Nearest(local=10, rack=0, remote=10), None, None),  # the counters say that 80 % are local
        (None, None, None),
    ],
)
def test_places_divide_what_the_counters_of_several_nodes_on_several_hosts_do_not(
    nearest: Nearest | None, rack: int | None, remote: int | None
) -> None:
    found = bytes_by_distance(placed("a", "a", "b"), START, END, 10 * GB, lambda: nearest)
    assert found == {"sent": 10 * GB, "local": 8 * GB, "rack": rack, "remote": remote}


def attempt(file: str, host: str) -> Attempt:
    said = f"finished {file} ::host = vm"
    return Attempt(f"a-{file}", f"t-{file}", "map", 1, 2, "SUCCEEDED", host, said)


def test_a_map_reads_from_the_nearest_replica() -> None:
    topology = placed("a", "a", "b")
    w1, w2, w3 = (node.address for node in topology.workers)
    files = {
        "test_io_0": [Block(1, (), (w1, w3)), Block(10, (), (w2, w3))],
        "test_io_1": [Block(100, (), (w1, w2)), Block(1000, (), (w3,))],
    }
    maps = [attempt("test_io_0", w1), attempt("test_io_1", w3)]
    assert nearest_replicas(topology, maps, files) == Nearest(local=1001, rack=10, remote=100)
    assert nearest_replicas(topology, [attempt("test_io_0", "other")], files) is None
    assert nearest_replicas(topology, [attempt("test_io_7", w1)], files) is None
    assert nearest_replicas(topology, [replace(maps[0], last_words="")], files) is None


def test_the_history_says_which_file_a_map_read() -> None:
    text = (SAMPLES / "TestDFSIO-3.4.2_write.jhist").read_bytes()
    (job,) = parse_history(text, "f").rows
    said = sorted(one.last_words for one in job.maps)
    assert said[0] == "finished test_io_0 ::host = vm" and len(said) == job.total_maps


@pytest.mark.parametrize(
    ("topology", "before", "after", "asked"),
    [
        (placed("a", "b", "c"), None, END, GB),
        (placed("a", "b", "c"), START, None, GB),
        (placed("a", "b", "c"), END, START, GB),  # a DataNode restarted
        (placed("a", "b", "c"), START, sent(w1=(9 * GB, 0)), GB),  # one did not answer
        (placed("a", "b", "c"), START, END, 20 * GB),  # the others bypassed the DataNodes
        (placed("a", "a", "a", shared=True), START, END, 10 * GB),  # all look local
    ],
)
def test_what_the_counters_do_not_show_is_unknown(
    topology: Topology, before: Sent | None, after: Sent | None, asked: int
) -> None:
    assert bytes_by_distance(topology, before, after, asked, never) == UNKNOWN


def cluster(**daemons: str) -> Any:
    return SimpleNamespace(endpoints=Endpoints({"jmx": daemons}))


DAEMONS = {"w1/datanode": "h1:9864", "w1/regionserver-1": "h1:1", "m1/namenode": "m:9870"}


def test_only_datanodes_are_asked() -> None:
    bean = {"BytesRead": 7, "RemoteBytesRead": 3, "BytesWritten": 9}
    asked: list[str] = []

    def fetch(url: str) -> Any:
        asked.append(url)
        return {"beans": [bean]}

    assert read_sent(cluster(**DAEMONS), fetch) == sent(w1=(7, 3))
    assert len(asked) == 1 and asked[0].startswith("http://h1:9864/jmx?")


@pytest.mark.parametrize("answer", [{}, {"beans": []}, {"beans": [{"BytesRead": 1}]}, OSError()])
def test_one_datanode_without_an_answer_makes_all_unknown(answer: Any) -> None:
    def fetch(_: str) -> Any:
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert read_sent(cluster(**DAEMONS), fetch) is None
