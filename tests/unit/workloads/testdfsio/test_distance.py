"""HDFS bytes by distance, from two readings of the DataNodes' counters."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.topology import Topology
from density_study.workloads.testdfsio.distance import UNKNOWN, Sent, bytes_by_distance, read_sent
from tests.support.topologies import local

GB = 10**9


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


@pytest.mark.parametrize(
    ("hosts", "rack", "remote"),
    [
        (("a", "b", "c"), 0, 2 * GB),
        (("a", "a", "a"), 2 * GB, 0),
        (("a", "a", "b"), None, None),  # w1 has neighbours on its host and on another one
    ],
)
def test_local_rack_and_remote(
    hosts: tuple[str, ...], rack: int | None, remote: int | None
) -> None:
    found = bytes_by_distance(placed(*hosts), START, END, 10 * GB)
    assert found == {"sent": 10 * GB, "local": 8 * GB, "rack": rack, "remote": remote}


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
    assert bytes_by_distance(topology, before, after, asked) == UNKNOWN


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
