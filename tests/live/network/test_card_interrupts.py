"""Interrupts of this machine's network card are moved to another CPU for a moment, and back."""

from __future__ import annotations

import os
import socket
import time
from collections import Counter

import pytest

from density_study.cluster.lifecycle.network_proof import proofs_of
from density_study.cluster.machine import network_link, packet_cpus
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import Network

pytestmark = pytest.mark.timeout(60)
GROUP = ("239.255.77.1", 9)
"""Of multicast, to which nobody listens; with a lifetime of one hop its packets stay on the link."""
PACKETS, PACE_S, SETTLING = 200, 0.002, 20


@pytest.fixture
def card() -> str:
    if os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("no interrupt was moved: needs root, and two CPUs")
    for device in sorted(path.name for path in packet_cpus.SYS.iterdir()):
        try:
            packet_cpus.check(device, Network(irq_affinity=(0,)))
        except InputError:
            continue
        return device
    pytest.skip("no interrupt was moved: this machine has no card whose interrupts may be moved")


def send(device: str, count: int) -> None:
    """Each packet raises an interrupt when it is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        out.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        for _ in range(count):
            out.sendto(b".", GROUP)
            time.sleep(PACE_S)


def counted(device: str) -> dict[str, Counter[str]]:
    """While packets are sent, with the keys that a probe's JSON has."""
    send(device, SETTLING)  # the kernel moves an interrupt when it comes
    before = packet_cpus.interrupts_by_cpu(device)
    send(device, PACKETS)
    after = packet_cpus.interrupts_by_cpu(device)
    return {
        str(number): Counter({str(cpu): count - before[number][cpu] for cpu, count in one.items()})
        for number, one in after.items()
    }


def test_interrupts_come_to_the_cpu_named_and_are_put_back(card: str) -> None:
    first = network_link.state(card, Network(irq_affinity=(0,)).declared())
    seen: set[str] = set()
    try:
        for cpus in ((1,), (0,), (1, 0)):
            network = Network(irq_affinity=cpus)
            network_link.apply(card, network.declared())
            found = counted(card)
            print(card, cpus, found)
            (proof,) = (
                one for one in proofs_of(network, {"interrupts": found}) if one.what != "rate"
            )
            assert proof.holds is True, proof
            seen |= {cpu for one in found.values() for cpu, count in one.items() if count > 50}
    finally:
        network_link.restore(first)
    assert network_link.changed(first) == []
    assert seen == {"0", "1"}


def test_an_interface_without_interrupts_is_refused() -> None:
    with pytest.raises(InputError, match="lo has no interrupts of its own"):
        packet_cpus.check("lo", Network(irq_affinity=(0,)))
