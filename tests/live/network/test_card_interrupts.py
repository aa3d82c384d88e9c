"""Interrupts of this machine's network card are moved to another CPU for a moment, and back."""

from __future__ import annotations

import os
import time

import pytest

from density_study.cluster.machine import network_link, packet_cpus
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.network import Network

pytestmark = pytest.mark.timeout(60)
SETTLED_S, COUNTED_S = 1.0, 3.0


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


def test_interrupts_come_to_the_cpu_named_and_are_put_back(card: str) -> None:
    numbers = packet_cpus.interrupts(card)
    first = network_link.state(card, Network(irq_affinity=(0,)).declared())
    try:
        for cpus in ((1,), (0,), (1, 0)):
            settings = Network(irq_affinity=cpus).declared()
            network_link.apply(card, settings)
            turns = packet_cpus.cpu_of_interrupt(numbers, cpus)
            for number, cpu in turns.items():
                shown = packet_cpus.IRQS / str(number) / "smp_affinity_list"
                assert shown.read_text().strip() == str(cpu)
            time.sleep(SETTLED_S)  # the kernel moves an interrupt when it comes
            before = packet_cpus.interrupts_by_cpu(card)
            time.sleep(COUNTED_S)
            after = packet_cpus.interrupts_by_cpu(card)
            elsewhere = sum(
                count - before[number][cpu]
                for number, counts in after.items()
                for cpu, count in counts.items()
                if cpu != turns[number]
            )
            total = sum(sum(one.values()) for one in after.values())
            total -= sum(sum(one.values()) for one in before.values())
            print(f"{card} {cpus}: {total} interrupts, {elsewhere} of them elsewhere")
            assert elsewhere <= len(numbers)
    finally:
        network_link.restore(first)
    assert network_link.changed(first) == []


def test_an_interface_without_interrupts_is_refused() -> None:
    with pytest.raises(InputError, match="lo has no interrupts of its own"):
        packet_cpus.check("lo", Network(irq_affinity=(0,)))
