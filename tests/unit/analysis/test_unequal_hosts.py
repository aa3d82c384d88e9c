"""What two variants use unequally of their hosts stands in the way of a claim about density or disks."""

from __future__ import annotations

from dataclasses import replace

from density_study.analysis.findings.unequal_hosts import moved_along, unequal_hosts
from density_study.cluster.model.configuration import BlockCache, Configuration, Jvm
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.store import Store, store_named
from density_study.cluster.model.topology import Topology
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.study.study_file import read_study
from tests.support.drafts import QUICKSTART, host
from tests.support.topologies import with_variant

PLAN = make_plan(read_study(QUICKSTART).study, [host()])
ONE, TWO = (PLAN.topologies[f"v{n}-flash"] for n in (1, 2))


def on_bare_host(topology: Topology) -> Topology:
    return replace(topology, isolation=Isolation.HOST)


def test_what_moves_along_is_disclosed() -> None:
    """A cache takes its memory from the heap, and clients of guests are guests."""
    cache = with_variant(ONE, configuration=Configuration(block_cache=BlockCache("off-heap", 64)))
    (heap,) = moved_along(ONE, cache)
    assert heap.startswith("heap of a RegionServer: ") and heap.endswith(" MiB")
    assert moved_along(ONE, ONE) == moved_along(ONE, TWO) == ()
    guests = replace(TWO, isolation=Isolation.VM)
    assert moved_along(on_bare_host(ONE), guests) == ("each client: on its host -> in a VM",)


def with_memory(topology: Topology, mib: int) -> Topology:
    return replace(
        topology,
        nodes=tuple(
            replace(n, memory_mib=mib) if "worker" in n.roles else n for n in topology.nodes
        ),
    )


def test_equal_drives_and_heaps_are_no_obstacle() -> None:
    assert unequal_hosts(ONE, TWO) == ()


def test_more_drives_are_an_obstacle() -> None:
    def second(topology: Topology) -> Topology:
        nodes = []
        for node in topology.nodes:
            disk = replace(node.disk, path="/data/2") if node.disk else None
            nodes.append(replace(node, more_disks=(disk,) if disk else ()))
        return replace(topology, nodes=tuple(nodes))

    assert unequal_hosts(ONE, second(TWO)) == ("1 and 2 drives of the hosts",)
    assert unequal_hosts(second(ONE), second(TWO)) == ()
    others = with_variant(second(TWO), disk_type="hdd")
    assert unequal_hosts(ONE, others) == ("1 and 2 drives of the hosts",)
    assert unequal_hosts(second(ONE), others) == ()  # of the types that are compared


def test_a_store_that_writes_to_one_folder_uses_more_drives_with_more_nodes() -> None:
    def on_two_drives(topology: Topology, store: Store) -> Topology:
        disks = [replace(topology.workers[0].disks[0], path=f"/data/{n}") for n in (1, 2)]
        nodes = [n for n in topology.nodes if "worker" not in n.roles]
        for index, node in enumerate(topology.workers):
            own, other = disks[index % 2], disks[1 - index % 2]
            nodes.append(replace(node, disk=own, more_disks=(other,), regionservers=0))
        return with_variant(replace(topology, nodes=tuple(nodes)), store=store)

    redis, cassandra = store_named("redis-cluster"), store_named("cassandra")
    both = [on_two_drives(topology, redis) for topology in (ONE, TWO)]
    assert unequal_hosts(*both) == ("1 and 2 drives of the hosts",)
    assert unequal_hosts(*(on_two_drives(one, cassandra) for one in (ONE, TWO))) == ()


def test_heaps_on_both_sides_of_compressed_pointers_are_an_obstacle() -> None:
    (found,) = unequal_hosts(with_memory(ONE, 60_000), with_memory(TWO, 30_000))
    assert "only one is below 32 GiB" in found
    assert unequal_hosts(with_memory(ONE, 90_000), with_memory(TWO, 60_000)) == ()
    small = [
        beside_a_large_host(with_memory(one, mib)) for one, mib in ((ONE, 60_000), (TWO, 30_000))
    ]
    assert unequal_hosts(*small) == (found,)
    zgc = {"configuration": Configuration(jvm={"regionserver": Jvm(collector="ZGC")})}
    assert unequal_hosts(*(with_variant(one, **zgc) for one in small)) == ()  # it compresses none


def beside_a_large_host(topology: Topology) -> Topology:
    large = replace(topology.workers[0], name="large", host="large", memory_mib=120_000)
    return replace(topology, nodes=(*topology.nodes, large))
