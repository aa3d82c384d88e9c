"""The key `client`: heap, collector and connections of a load generator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.memory import client_heap_mib
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.study.study_file import read_study
from density_study.workloads.ycsb.client_spec import Client
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.support.drafts import QUICKSTART, host, ycsb_study

TOPOLOGY = make_plan(read_study(QUICKSTART).study, [host()]).topologies["v1-flash"]
TEST_CASE = YcsbTestCase(mix="c", records=1000, threads=8, duration_s=10.0)


@pytest.mark.parametrize(
    ("host_gib", "heap_mib"), [(6, 512), (8, 512), (24, 1536), (128, 8192), (512, 8192)]
)
def test_the_heap_follows_the_hosts_memory(host_gib: int, heap_mib: int) -> None:
    assert client_heap_mib(1024 * host_gib) == heap_mib


def heap(client: Client, clients: int, host_gib: int = 256) -> int:
    topology = replace(
        TOPOLOGY, hosts=tuple(replace(one, memory_mib=1024 * host_gib) for one in TOPOLOGY.hosts)
    )
    return client.heap_mib(topology, topology.client, clients)


def test_clients_of_one_host_share_it() -> None:
    assert heap(Client(), 1) == 8192
    assert heap(Client(), 4) == (8192 - 3 * 160) // 4
    assert heap(Client(), 64) == 128  # each needs some
    assert heap(Client(heap="2 GiB"), 4) == 2048  # type: ignore[arg-type]


def test_the_heap_has_a_fixed_size_and_a_collector_for_all_cores() -> None:
    flags = Client().memory_flags(TOPOLOGY, TOPOLOGY.client, 1)
    assert flags == ("-Xms512m", "-Xmx512m", "-XX:+UseParallelGC")
    zgc = Client(collector="ZGC").memory_flags(TOPOLOGY, TOPOLOGY.client, 1)
    assert zgc[-1] == "-XX:+UseZGC"


def test_only_what_differs_from_the_defaults_is_a_knob() -> None:
    assert "client.heap" not in TEST_CASE.unnamed_knobs()
    own = TEST_CASE.model_copy(update={"client": Client(heap="1 GiB", connections=4)})  # type: ignore[arg-type]
    knobs = {"client.heap": "1024 MiB", "client.connections": 4}
    assert own.unnamed_knobs() | knobs == own.unnamed_knobs()


def test_connections_are_given_to_hbases_client() -> None:
    own = TEST_CASE.model_copy(update={"client": Client(connections=4)})
    assert "hbase.connections=4" in client_arguments(own, "/r/")
    assert not [word for word in client_arguments(TEST_CASE, "/r/") if "hbase.connections" in word]


def test_a_study_names_it() -> None:
    (test_case, *_) = [
        s for s in ycsb_study("client: {heap: 2 GiB}").test_cases() if isinstance(s, YcsbTestCase)
    ]
    assert test_case.client == Client(heap="2 GiB")  # type: ignore[arg-type]


@pytest.mark.parametrize("more", ["{heap: much}", "{collector: Epsilon}", "{connections: 0}", "4"])
def test_what_cannot_be_is_refused(more: str) -> None:
    with pytest.raises(InputError, match="client"):
        ycsb_study(f"client: {more}")


@pytest.mark.parametrize("as_json", [False, True])
def test_a_plan_and_a_record_can_be_read_again(as_json: bool) -> None:
    """A study that gave the heap could be planned, and its plan not be read."""
    own = TEST_CASE.model_copy(update={"client": Client(heap="1 GiB")})  # type: ignore[arg-type]
    written = own.model_dump_json() if as_json else own.model_dump()
    read = YcsbTestCase.model_validate_json if as_json else YcsbTestCase.model_validate
    assert read(written) == own  # type: ignore[operator]
