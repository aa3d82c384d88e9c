"""The limit of a warm-up follows from the cluster and the data, and suffices for what it waits for."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.host import Disk
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.warming.warm_up import limit_s
from density_study.workloads.ycsb.warming.warmth import LEAST_SERVED
from tests.support.topologies import local


def cluster(hosts: int, servers: int, cores: int = 64, drives: int = 12) -> Any:
    """`servers` workers on each host, which share its drives."""
    disks = tuple(Disk(f"/data/{number}", "hdd") for number in range(max(1, drives // servers)))
    (worker,) = local(1).workers
    workers = [
        replace(worker, name=f"w{host}-{number}", host=f"h{host}", cores=cores // servers,
                memory_mib=240_000 // servers, disk=disks[0], more_disks=disks[1:])
        for host in range(hosts)
        for number in range(servers)
    ]  # fmt: skip
    topology = replace(local(1), nodes=tuple(workers))
    addresses = {worker.name: "a:1" for worker in workers}
    endpoints = Endpoints({"regionserver.http": addresses})
    return SimpleNamespace(topology=topology, endpoints=endpoints)


def limit(records: int, where: Any) -> float:
    test_case = YcsbTestCase(
        mix="c", records=records, threads=8, duration_s=60.0, until_steady=True
    )
    return limit_s(test_case, where)


@pytest.mark.parametrize("servers", [1, 2, 4, 8])
def test_a_cold_cache_of_nine_hosts_with_heads_fills_within_the_limit(servers: int) -> None:
    """198 million rows are 283 GB in 12 x 9 drives of 100 reads/s, in blocks of 64 KiB."""
    fills_s = 283_000 * 16 / (108 * 100)
    assert limit(198_000_000, cluster(9, servers)) > 2 * fills_s


def test_a_larger_table_has_longer_up_to_the_memory() -> None:
    one, ten, hundred = (limit(n * 100_000_000, cluster(9, 1)) for n in (1, 10, 100))
    assert one < ten
    assert ten * 10 > hundred


def test_servers_that_share_cores_have_longer() -> None:
    assert limit(1000, cluster(1, 8, cores=8)) < limit(1000, cluster(1, 64, cores=8))


def test_each_server_on_one_drive_can_serve_enough() -> None:
    assert limit(1000, cluster(1, 1, drives=1)) > LEAST_SERVED["full"] / 100


def test_an_existing_cluster_whose_hosts_nobody_knows_has_a_limit() -> None:
    given = SimpleNamespace(
        topology=SimpleNamespace(workers=(), jit="full"),
        endpoints=Endpoints({"regionserver.http": {"a": "a:1"}}),
    )
    assert limit(1000, given) > LEAST_SERVED["full"] / 100
