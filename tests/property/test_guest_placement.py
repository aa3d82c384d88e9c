"""Properties of every guest placement: memory within the host, an address each,
replicas on different hosts."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from density_study.cluster.model.dividing.memory_shares import workers_mib
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host, VcpuPolicy, VmHost
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.memory import GUEST_OS_MIB, worker_minimum_mib
from density_study.cluster.model.placement import place
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.libvirt.guests import vcpus
from tests.support.topologies import layout_of

LAYOUT = layout_of("libvirt", replication=2)
ANY = [Variant(1, 1, "flash")]
"""Any variant of the project's own configuration reserves as much for the master."""
DENSITIES = st.lists(st.integers(1, 6), min_size=1, max_size=3, unique=True)


@st.composite
def hosts(draw: st.DrawFn) -> list[Host]:
    count, drives = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    memory_mib, reserve_mib = draw(st.integers(6000, 65536)), draw(st.integers(1, 2048))
    policy: VcpuPolicy = draw(st.sampled_from(["all", "pinned"]))
    together = draw(st.booleans())

    def host(name: str, number: int, *roles: str) -> Host:
        addresses = tuple(f"192.0.2.{number * 10 + guest}" for guest in range(8))
        vms = VmHost("qemu:///system", addresses, "192.0.2.0/24", reserve_mib=reserve_mib,
                     bridge="br0", vcpus=policy)  # fmt: skip
        disks = tuple(Disk(f"/data/{drive}", "flash") for drive in range(drives))
        return Host(name, f"198.51.100.{number}", 60, memory_mib, disks, roles, vms=vms)  # type: ignore[arg-type]

    workers = [host(f"h{number}", number, "worker") for number in range(1, count + 1)]
    if together:
        return [host("m", 20, "master", "client"), *workers]
    return [host("m", 20, "master"), host("c", 21, "client"), *workers]


def placed(owned: list[Host], vms: list[int]) -> tuple[Topology, ...]:
    densities = [
        Variant(0, 1, "flash"),
        Variant(0, max(vms), "flash"),
        *(Variant(vm, 1, "flash") for vm in vms),
    ]
    try:
        return place(owned, densities, LAYOUT)
    except InputError:
        assume(False)
        raise


@given(hosts(), DENSITIES)
def test_guests_and_the_reserve_fit_into_each_hosts_memory(
    owned: list[Host], vms: list[int]
) -> None:
    for topology in placed(owned, vms):
        system_mib = GUEST_OS_MIB if topology.isolation is Isolation.VM else 0
        for host in owned:
            assert host.vms is not None
            guests = [node for node in topology.nodes if node.host == host.name]
            used_mib = sum(node.memory_mib + system_mib for node in guests)
            assert used_mib <= host.memory_mib - host.vms.reserve_mib
            shares = {node.memory_mib for node in guests if "worker" in node.roles}
            assert len(shares) <= 1  # evenly
        for node in topology.workers:
            assert node.memory_mib >= worker_minimum_mib(node.regionservers) + node.container_mib


@given(hosts(), DENSITIES)
def test_hardware_of_hosts_is_constant_from_the_bare_host_to_the_densest(
    owned: list[Host], vms: list[int]
) -> None:
    topologies = placed(owned, vms)
    for host in (owned_host for owned_host in owned if "worker" in owned_host.roles):
        containers, memory = set(), set()
        for topology in topologies:
            guests = [node for node in topology.workers if node.host == host.name]
            containers.add(sum(node.container_mib for node in guests))
            system_mib = GUEST_OS_MIB if topology.isolation is Isolation.VM else 0
            sum_mib = sum(node.memory_mib + system_mib for node in guests)
            memory.add(workers_mib(host, ANY) - len(guests) < sum_mib <= workers_mib(host, ANY))
        assert len(containers) == 1 and memory == {True}


@given(hosts(), DENSITIES)
def test_every_guest_has_its_own_address_and_the_cores_of_its_policy(
    owned: list[Host], vms: list[int]
) -> None:
    for topology in placed(owned, vms):
        if topology.isolation is Isolation.HOST:
            assert topology.provider.name == "physical"
            assert {n.address for n in topology.workers} <= {host.address for host in owned}
            continue
        assert topology.provider.name == "libvirt"
        addresses = [node.address for node in topology.nodes]
        assert len(set(addresses)) == len(addresses)
        for host in owned:
            assert host.vms is not None
            guests = [node for node in topology.workers if node.host == host.name]
            assert {node.address for node in guests} <= set(host.vms.addresses)
            for index, node in enumerate(guests):
                cores = vcpus(host.vms.vcpus, host.cores, index, len(guests), "h", ())
                assert node.cores == cores.count


@given(hosts(), DENSITIES)
def test_two_replicas_always_fit_on_two_hosts(owned: list[Host], vms: list[int]) -> None:
    worker_hosts = [host.name for host in owned if "worker" in host.roles]
    assume(len(worker_hosts) > 1)
    for topology in placed(owned, vms):
        on = Counter(node.host for node in topology.workers)
        assert set(on) == set(worker_hosts)
        # Equal numbers on each: no host may get a block's second replica for lack of another.
        assert len(set(on.values())) == 1


def test_too_few_addresses_or_too_little_memory_are_refused_with_the_host() -> None:
    def host(memory_mib: int, addresses: int) -> Host:
        pool = tuple(f"192.0.2.{number}" for number in range(10, 10 + addresses))
        vms = VmHost("qemu:///system", pool, "192.0.2.0/24", reserve_mib=1024)
        roles = ("master", "worker", "client")
        return Host("h", "198.51.100.1", 8, memory_mib, (Disk("/d", "flash"),), roles, vms=vms)

    layout, two = layout_of("libvirt"), [Variant(2, 1, "flash")]
    assert len(place([host(16384, 3)], two, layout)[0].nodes) == 3
    with pytest.raises(InputError, match=r"need more than 2 address\(es\)"):
        place([host(16384, 2)], two, layout)
    with pytest.raises(InputError, match="reserved for the host, its master and its client"):
        place([host(3000, 3)], two, layout)
    with pytest.raises(InputError, match="cannot hold 2 worker nodes") as caught:
        place([host(5000, 3)], two, layout)
    assert "the host, master and client" in caught.value.what
