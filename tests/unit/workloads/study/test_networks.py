"""`factors.network`: named levels; what cannot be had is refused by name before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import UNCHANGED, Network
from density_study.workloads.planning.plan import make_plan
from density_study.workloads.planning.resolve import planned_hosts
from density_study.workloads.study.factors.network import NETWORK
from density_study.workloads.study.study import Study
from density_study.workloads.study.study_file import parse_study

BASE = """
study: s
provider: PROVIDER
hosts:
  - {name: here, memory: 6 GiB, roles: [master, worker, client]}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1]
"""
TWO_HOSTS = """
study: s
provider: physical
ssh: {user: study}
hosts:
  - {name: a, address: 192.0.2.1, cores: 2, memory: 6 GiB, roles: [master, client],
     disks: [{path: /mnt, disk_type: flash}]}
  - {name: b, address: 192.0.2.2, cores: 2, memory: 6 GiB, roles: [worker],
     disks: [{path: /mnt, disk_type: flash}]}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [0]
"""
GUESTS = """
study: s
provider: libvirt
ssh: {user: study}
hosts:
  - {name: h1, address: 192.0.2.11, cores: 8, memory: 16 GiB, roles: [master, worker, client],
     disks: [{path: /data/a, disk_type: flash}]}
vms: {network: 192.0.2.0/24, addresses: 192.0.2.100-192.0.2.120, bridge: br0}
workloads: [{ycsb: {records: [1000], mixes: [load, c], threads: [8]}}]
factors:
  vms_per_host: [1]
"""
ALL = (
    "[default, {rate: 100 Mbit/s}, {rate: 1 Gbit/s, shaper: htb, mtu: 9000}, {rps: [1, 0]}, {queues: 2}, "
    "{delay: 1 ms, loss: 0.1%}, {queues: 2, xps: [1, 0]}, {rfs: 32768}]"
)


def study(network: str, provider: str = "container", base: str = BASE) -> Study:
    text = f"{base.replace('PROVIDER', provider)}  network: {network}\n"
    return parse_study(text, "s.yaml").study


def test_levels_are_named_by_what_they_set() -> None:
    factors = study(ALL).factors
    assert factors.of(NETWORK) == {
        "default": UNCHANGED,
        "rate-100mbit": Network(100.0),
        "rate-1000mbit-htb-mtu-9000": Network(1000.0, "htb", 9000),
        "rps-0-1": Network(rps=(0, 1)),
        "queues-2": Network(queues=2),
        "delay-1ms-loss-0.1pc": Network(delay_ms=1.0, loss_percent=0.1),
        "queues-2-xps-1-0": Network(queues=2, xps=(1, 0)),
        "rfs-32768": Network(rfs=32768),
    }
    assert factors.levels("network") == tuple(factors.of(NETWORK))


def test_each_level_is_a_variant_that_declares_what_it_sets(tmp_path: Path) -> None:
    plan = make_plan(study(ALL), planned_hosts(study(ALL), tmp_path))
    variants = plan.topologies
    assert [one.variant.network for one in variants.values()] == list(
        study(ALL).factors.of(NETWORK).values()
    )
    assert [one.levels["network"] for one in variants.values()] == list(
        study(ALL).factors.of(NETWORK)
    )
    said = [
        {key: value for key, value in variant.declared.items() if key.startswith("network.")}
        for variant in variants.values()
    ]
    assert said[:4] == [
        {},
        {"network.rate_mbit_s": "100.0", "network.shaper": "tbf"},
        {"network.rate_mbit_s": "1000.0", "network.shaper": "htb", "network.mtu": "9000"},
        {"network.rps": "[0, 1]"},
    ]


@pytest.mark.parametrize(
    ("network", "key", "says"),
    [
        ("{rate: 100}", "[0].rate", "has no unit"),
        ("{rate: 1 Mbit/s}", "[0].rate", "not between 10 Mbit/s and 400 Gbit/s"),
        ("{rate: 100 MiB}", "[0].rate", "not a quantity in Mbit/s"),
        ("{mtu: 100}", "[0].mtu", "it must be 1,280 or more"),
        ("{mtu: 65535}", "[0].mtu", "it must be 9,216 or less"),
        ("{rps: []}", "[0].rps", "give 1 or more"),
        ("{rps: [1, 1]}", "[0].rps", "duplicate CPU"),
        ("{delay: 2 s}", "[0].delay", "longer than 100 ms"),
        ("{rate: 1 Gbit/s, delay: 1 ms}", "[0].rate", "write rate in a level of its own"),
        ("{loss: 60%}", "[0].loss", "above 50%"),
        ("{shaper: htb}", "[0].shaper", "add rate"),
        ("{}", "[0]", "name at least one of rate"),
        ("{irq_affinity: [1]}", "[0].irq_affinity", "veth pair of a container has no interrupts"),
        ("{irq_affinity: [1, 1]}", "[0].irq_affinity", "duplicate CPU"),
        ("{rfs: many}", "[0].rfs", "a whole number"),
        ("{rfs: 1000}", "[0].rfs", "write 512 or 1024"),
        ("{rfs: 64}", "[0].rfs", "it must be 256 or more"),
        ("{rfs: 4096, rps: [1]}", "[0].rfs", "write a level for each"),
        ("{xps: [1, 0]}", "[0].xps", "add queues, from 2 to that number"),
        ("{queues: 3, xps: [1, 0]}", "[0].xps", "names 2 CPUs"),
        ("{queues: 2, xps: [1, 1]}", "[0].xps", "duplicate CPU"),
        ("{queues: 2, xps: [1, 0], loss: 1%}", "[0].xps", "without rate, delay and loss"),
        (
            "{coalesce: {rx-usecs: 50}}",
            "[0].coalesce",
            "veth pair of a container has no interrupts",
        ),
        ("{coalesce: {}}", "[0].coalesce", "give 1 or more"),
        ("{coalesce: {rx_usecs: 50}}", "[0].coalesce", "not a name of `ethtool -c`"),
        ("{coalesce: {rx-usecs: on}}", "[0].coalesce.rx-usecs", "rx-usecs is a number, not on"),
        ("{coalesce: {adaptive-rx: 1}}", "[0].coalesce.adaptive-rx", "is on or off, not 1"),
        ("fast", "[0]", "write 'default', not 'fast'"),
        ("{rate: 100 Mbit/s}, {rate: 0.1 Gbit/s}", "", "duplicate network: 'rate-100mbit'"),
    ],
)
def test_faulty_levels_are_refused(network: str, key: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        study(f"[{network}]")
    assert says in caught.value.what
    assert f"key factors.network{key}" in caught.value.where


def test_a_study_has_a_network_only_where_nodes_have_interfaces() -> None:
    assert study("[{rate: 1 Gbit/s}]", base=TWO_HOSTS).factors.levels("network")
    with pytest.raises(
        InputError, match="loopback interface of this machine; use provider container"
    ):
        study("[default]", "local")
    moved = study("[default, {irq_affinity: [1, 0]}]", base=TWO_HOSTS).factors.of(NETWORK)
    assert moved["irq-1-0"] == Network(irq_affinity=(1, 0))
    waits = study("[{coalesce: {rx-usecs: 50, adaptive-rx: off}}]", base=TWO_HOSTS).factors.of(
        NETWORK
    )
    assert waits == {
        "coalesce-adaptive-rx-0-rx-usecs-50": Network(
            coalesce=(("adaptive-rx", 0), ("rx-usecs", 50))
        )
    }
    with pytest.raises(InputError, match="queues of a network card are not changed") as caught:
        study("[default, {queues: 2}]", base=TWO_HOSTS)
    assert "key factors.network[1].queues" in caught.value.where
    with pytest.raises(InputError, match="queues of a guest's card are not changed"):
        study("[{queues: 2}]", "libvirt", GUESTS)
    guests = study("[{rfs: 4096, mtu: 1400}, {irq_affinity: [1]}]", "libvirt", GUESTS)
    assert guests.factors.levels("network") == ("mtu-1400-rfs-4096", "irq-1")
    with pytest.raises(InputError, match="has another network than its nodes"):
        study("[default]", "libvirt", GUESTS.replace("[1]", "[0, 1]"))
    with pytest.raises(InputError, match="the bare host"):
        study("[default]", base=BASE.replace("[1]", "[0, 1]"))
    one = TWO_HOSTS[: TWO_HOSTS.index("  - {name: b")] + TWO_HOSTS[TWO_HOSTS.index("workloads") :]
    with pytest.raises(InputError, match="one host talks to itself by loopback"):
        study("[default]", base=one.replace("[master, client]", "[master, worker, client]"))
