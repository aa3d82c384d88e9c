"""All variants of a study use the same hardware of each host: drives, cores, memory, queues, I/O threads.

Otherwise the study is refused, or a claim about its variants is obstructed.
"""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from density_study.analysis.findings.unequal_hosts import unequal_hosts
from density_study.cluster.model.dividing.drives import MAX_DATA_DISKS, dealt_drives
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import Disk, Host
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.variant import Variant
from tests.known_answers.hardware import Machine, different, used

DENSITIES = st.lists(
    st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16]), min_size=2, max_size=4, unique=True
)
MACHINES = st.builds(
    Machine,
    numa_nodes=st.sampled_from([1, 2, 4, 8]),
    cores_per_node=st.sampled_from([4, 6, 8, 12, 16, 32]),
    threads=st.sampled_from([1, 2]),
    memory_mib=st.integers(8 * 1024, 2 * 1024 * 1024),
    drives=st.integers(1, 24),
    policy=st.sampled_from(["all", "pinned"]),
).filter(lambda machine: machine.cores * machine.threads <= 256)


@given(MACHINES, DENSITIES)
def test_variants_use_equal_hardware_or_no_claim_is_made(
    machine: Machine, densities: list[int]
) -> None:
    try:
        topologies = machine.topologies(densities)
        found = [used(topology, machine.cpus) for topology in topologies]
    except InputError:
        return  # refused
    for a, b in combinations(range(len(densities)), 2):
        obstacles = unequal_hosts(topologies[a], topologies[b])
        unequal = different(found[a], found[b])
        assert len(unequal) <= len(obstacles), (unequal, obstacles)
        # each guest has a queue: only more guests than CPUs have more of them than the host has
        assert not unequal or max(densities) > machine.cores * machine.threads
    for one in found:
        assert len(one.drives) == machine.drives
        assert (one.shared_cores, one.strewn) == (0, 0)
        if machine.policy == "pinned":
            assert len(one.cpus) == machine.cores * machine.threads
            assert len(one.numa) == machine.numa_nodes


@given(st.integers(1, 24), st.integers(1, 24), st.sampled_from(Isolation))
def test_drives_are_dealt_out_evenly_at_every_density(
    drives: int, nodes: int, isolation: Isolation
) -> None:
    """Each node has as many as any other and each drive carries as many; of its own, where they divide."""
    disks = [Disk(f"/data/{number}", "flash") for number in range(drives)]
    host = Host("h", "192.0.2.1", 8, 2**14, tuple(disks))
    variant = Variant(nodes, 1, "flash")
    try:
        dealt = dealt_drives(disks, variant, [variant], host, isolation)
    except InputError:
        assert isolation is Isolation.VM
        return
    assert len({len(own) for own in dealt}) == 1
    carried = [sum(own.count(disk) for own in dealt) for disk in disks]
    assert len(set(carried)) == 1 and carried[0] > 0
    assert all(len(set(own)) == len(set(dealt[0])) for own in dealt)
    if drives % nodes == 0:
        assert [len(set(own)) for own in dealt] == [drives // nodes] * nodes
        assert len({disk for own in dealt for disk in own}) == drives
    assert isolation is not Isolation.VM or len(dealt[0]) <= MAX_DATA_DISKS
    firsts = [sum(own[0] == disk for own in dealt) for disk in disks]
    assert max(firsts) <= -(-nodes // drives)  # what is no data is spread, too
