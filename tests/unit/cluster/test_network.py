"""Networks of nodes: command lines, masks, and what measurements prove. Nothing is changed here."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from density_study.cluster.lifecycle.network_proof import proofs_of, prove_network
from density_study.cluster.machine import as_root, packet_cpus
from density_study.cluster.machine.equality import kernel_files
from density_study.cluster.machine.network_link import disciplines
from density_study.cluster.machine.packet_cpus import flows_of_queue, mask, transmit_masks
from density_study.cluster.machine.softnet import by_cpu
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.network import UNCHANGED, Network, network_of
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, ProcessId
from density_study.cluster.model.variant import Variant
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.state.journal import Journal
from tests.support.topologies import local

WAITS = (("adaptive-rx", 0), ("rx-usecs", 50))
FULL = Network(100.0, "htb", 9000, (0, 1), 2, 1.5, 0.1, (1, 0), 4096, (1, 0), WAITS)
READING: dict[str, Any] = {
    "mbit_s": 99.0, "mtu": 9000, "largest": 8972, "packets_by_cpu": {"0": 50, "1": 45, "2": 5}, "queues": 2,
    "round_trip_ms": 3.1, "sent": 2001, "datagrams": 1998, "by_queue": {"0": [10, 190], "1": [200, 0]},
    "coalescing": {"rx-usecs": 50, "rx-frames": 64, "adaptive-rx": 0},
    "followed": {"0": 99.0, "1": 95.0}, "interrupts": {"38": {"0": 1, "1": 9}, "39": {"0": 90, "1": 0}},
}  # fmt: skip


@pytest.mark.parametrize("network", [UNCHANGED, FULL, Network(rps=(3,)), Network(100.0)])
def test_what_a_network_declares_makes_it_again(network: Network) -> None:
    assert network_of(network.declared()) == network


def test_nothing_is_declared_of_a_network_that_is_left_as_it_is() -> None:
    assert UNCHANGED.declared() == {}
    assert disciplines(Network(mtu=9000, rps=(1,)), "eth0") == []


def words(network: Network) -> list[str]:
    return [" ".join(argv) for argv in disciplines(network, "eth0")]


def test_a_rate_has_a_burst_that_lasts_two_milliseconds() -> None:
    replace = "tc qdisc replace dev eth0"
    assert words(Network(100.0)) == [
        f"{replace} root handle d5: tbf rate 100000000bit burst 32768 latency 50ms"
    ]
    assert words(Network(1000.0, "htb")) == [
        f"{replace} root handle d5: htb default 1",
        "tc class replace dev eth0 parent d5: classid d5:1 htb rate 1000000000bit "
        "ceil 1000000000bit burst 250000 cburst 250000",
    ]


def test_delay_and_loss_are_of_one_discipline() -> None:
    netem = "tc qdisc replace dev eth0 root handle d5: netem limit 100000"
    assert words(Network(delay_ms=0.5)) == [f"{netem} delay 0.5ms"]
    assert words(Network(delay_ms=1.0, loss_percent=0.1)) == [f"{netem} delay 1ms loss 0.1%"]


def test_cpus_send_by_the_queues_in_turn() -> None:
    network = Network(queues=2, xps=(3, 1, 0))
    assert words(network) == ["tc qdisc replace dev eth0 root handle d5: mq"]
    assert transmit_masks(network) == {"tx-0": "9", "tx-1": "2"}


def test_a_cpu_of_which_nothing_was_counted_is_unknown() -> None:
    (found,) = (one for one in proofs_of(FULL, {**READING, "by_queue": {"0": [0, 200]}})
                if one.what == "transmitted")  # fmt: skip
    assert found.holds is None


@pytest.mark.parametrize(
    ("cpus", "text"), [((0,), "1"), ((0, 1), "3"), ((31,), "80000000"), ((32, 1), "1,00000002"),
                       ((64,), "1,00000000,00000000")]
)  # fmt: skip
def test_a_mask_has_groups_of_32_cpus(cpus: tuple[int, ...], text: str) -> None:
    assert mask(cpus) == text


def holds(network: Network, **changed: Any) -> dict[str, bool | None]:
    return {proof.what: proof.holds for proof in proofs_of(network, {**READING, **changed})}


def test_a_network_as_declared_holds() -> None:
    every = ("rate", "mtu", "steered", "queues", "transmitted", "followed", "interrupted",
             "coalesced", "round_trip", "lost")  # fmt: skip
    whole = dict.fromkeys(every, True)
    assert holds(FULL) == whole
    assert holds(UNCHANGED) == {"rate": True}  # there is nothing to hold


@pytest.mark.parametrize(
    ("what", "changed"),
    [
        ("rate", {"mbit_s": 94.9}),
        ("rate", {"mbit_s": 105.1}),
        ("mtu", {"largest": 1472}),  # a switch dropped the long one
        ("mtu", {"mtu": 9216}),
        ("steered", {"packets_by_cpu": {"0": 5, "1": 84, "2": 11}}),
        ("queues", {"queues": 1}),
        ("transmitted", {"by_queue": {"0": [21, 179], "1": [200, 0]}}),
        ("followed", {"followed": {"0": 89.0, "1": 99.0}}),
        ("interrupted", {"interrupts": {"38": {"0": 90, "1": 0}, "39": {"0": 0, "1": 90}}}),
        ("coalesced", {"coalescing": {"rx-usecs": 50, "adaptive-rx": 1}}),
        ("round_trip", {"round_trip_ms": 1.5}),  # delayed in one direction alone
        ("round_trip", {"round_trip_ms": 4.5}),
        ("lost", {"datagrams": 1900}),
    ],
)
def test_what_differs_does_not_hold(what: str, changed: dict[str, Any]) -> None:
    found = holds(FULL, **changed)
    assert found.pop(what) is False
    assert set(found.values()) == {True}


def test_what_was_not_measured_is_unknown_and_never_holds() -> None:
    found = {proof.what: proof for proof in proofs_of(FULL, {}, "a to b: no answer")}
    assert {proof.holds for proof in found.values()} == {None}
    assert {proof.why for proof in found.values()} == {"a to b: no answer"}
    assert {proof.what: proof.holds for proof in proofs_of(UNCHANGED, {}, "why")} == {"rate": True}


def test_what_was_not_counted_of_flows_and_interrupts_is_unknown() -> None:
    found = holds(FULL, followed={}, interrupts={"38": {"0": 0, "1": 0}}, coalescing={})
    assert {found[one] for one in ("followed", "interrupted", "coalesced")} == {None}


def written(_: str, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    assert verb == "write"
    for file, text in zip(words[::2], words[1::2], strict=True):
        Path(file).write_text(text)
    return as_root.run("true")


class Machine:
    """Files of a machine, as /sys and /proc show them: two queues and a card with two interrupts."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.table = folder / "proc" / "rps_sock_flow_entries"
        self.queues = folder / "net" / "eth0" / "queues"
        self.irqs = folder / "irq"
        self.programs: list[str] = []
        card = folder / "pci" / "0000:00:03.0"
        (card / "msi_irqs").mkdir(parents=True)
        for number, handled in ((37, False), (38, True), (39, True)):
            (card / "msi_irqs" / str(number)).write_text("msi")
            (self.irqs / str(number) / ("by-driver" if handled else "")).mkdir(parents=True)
            (self.irqs / str(number) / "smp_affinity_list").write_text("0-1")
        for queue in ("rx-0", "rx-1"):
            (self.queues / queue).mkdir(parents=True)
            (self.queues / queue / "rps_cpus").write_text("00000000")
            (self.queues / queue / "rps_flow_cnt").write_text("0")
        (folder / "net" / "eth0" / "device").symlink_to(card)
        self.table.parent.mkdir()
        self.table.write_text("0")
        patch.setattr(packet_cpus, "FLOW_TABLE", self.table)
        patch.setattr(packet_cpus, "SYS", folder / "net")
        patch.setattr(packet_cpus, "IRQS", self.irqs)
        patch.setattr(kernel_files, "as_root", written)  # the files are this user's
        patch.setattr(packet_cpus, "may_not", lambda *_: "")
        patch.setattr(packet_cpus.os, "cpu_count", lambda: 2)
        patch.setattr(packet_cpus, "_programs", lambda: self.programs)

    def texts(self) -> dict[str, str]:
        there = (self.table, *self.queues.glob("rx-*/*"), *self.irqs.glob("*/smp_affinity_list"))
        return {f"{file.parent.name}/{file.name}": file.read_text() for file in there}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


EVERY_CPU = Network(rfs=4096, irq_affinity=(1, 0), rps=(1,))
"""More than a level may have."""


def test_flows_and_interrupts_are_set_read_back_and_restored(machine: Machine) -> None:
    before = machine.texts()
    files = packet_cpus.wanted("eth0", EVERY_CPU)
    former = packet_cpus.read(files)
    packet_cpus.write(files)
    queue = {"rps_cpus": "2", "rps_flow_cnt": "2048"}
    assert machine.texts() == {
        "proc/rps_sock_flow_entries": "4096",
        **{f"rx-{number}/{name}": text for number in (0, 1) for name, text in queue.items()},
        "37/smp_affinity_list": "0-1",  # of no driver
        "38/smp_affinity_list": "1",
        "39/smp_affinity_list": "0",
    }
    words = ("packet steering", "flow steering", "table of flows", "CPU of an interrupt")
    assert set(packet_cpus.changed(former)) == set(words)
    for _ in range(2):
        packet_cpus.restore(former)
        assert packet_cpus.changed(former) == []
        assert machine.texts() == before


def test_a_file_of_an_interface_that_is_gone_has_nothing_of_ours(machine: Machine) -> None:
    former = packet_cpus.read(packet_cpus.wanted("eth0", Network(rfs=4096)))
    for file in machine.queues.glob("rx-*/*"):
        file.unlink()
    assert packet_cpus.changed(former) == []
    packet_cpus.restore(former)


def test_a_file_that_shows_something_else_afterwards_is_an_error(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_files, "as_root", lambda *_: as_root.run("true"))
    with pytest.raises(StudyError, match="shows 0 after 4096 was written"):
        packet_cpus.write({str(machine.table): "4096"})


def refusal(network: Network, device: str = "eth0") -> str:
    with pytest.raises(InputError) as caught:
        packet_cpus.check_kernel(network)
        packet_cpus.check(device, network)
    return caught.value.what


def test_a_machine_that_can_follow_and_move_interrupts_is_not_refused(machine: Machine) -> None:
    before = machine.texts()
    packet_cpus.check_kernel(EVERY_CPU)
    packet_cpus.check("eth0", EVERY_CPU)
    assert machine.texts() == before


def test_the_right_to_write_is_asked_for_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A card has hundreds of files."""
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(packet_cpus, "may_not", lambda *words: asked.append(words) or "")
    packet_cpus.check("eth0", EVERY_CPU)
    assert [words[:2] for words in asked] == [("set-network", "write")]


def test_what_a_machine_cannot_do_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = Network(irq_affinity=(1,))
    assert "eth1 has no interrupts of its own" in refusal(moved, "eth1")
    assert "no CPU 2, only 0 to 1" in refusal(Network(irq_affinity=(2,)))
    machine.programs.append("irqbalance")
    assert "irqbalance runs" in refusal(moved)
    (machine.irqs / "39" / "smp_affinity_list").chmod(0o444)
    assert "the kernel itself places interrupt 39 of eth0" in refusal(moved)
    follows = Network(rfs=4096)
    machine.table.write_text("32768")
    assert "is 32768: another program uses" in refusal(follows)
    machine.table.unlink()
    assert "this is a network namespace" in refusal(follows)
    monkeypatch.setattr(packet_cpus.os, "cpu_count", lambda: 1)
    assert "with one CPU" in refusal(follows)
    monkeypatch.setattr(packet_cpus, "may_not", lambda *argv: f"no {argv[-1]}")
    (machine.irqs / "39" / "smp_affinity_list").chmod(0o644)
    machine.programs.clear()
    assert "no " in refusal(Network(irq_affinity=(0,)))


def test_a_virtual_card_has_the_interrupts_of_the_pci_function_that_carries_it(
    machine: Machine, tmp_path: Path
) -> None:
    virtual, bus = tmp_path / "pci" / "0000:00:03.0" / "virtio2", tmp_path / "bus" / "virtio"
    for folder in (virtual, bus, tmp_path / "net" / "eth2"):
        folder.mkdir(parents=True)
    (virtual / "subsystem").symlink_to(bus)
    (tmp_path / "net" / "eth2" / "device").symlink_to(virtual)
    assert packet_cpus.interrupts("eth2") == packet_cpus.interrupts("eth0") == [38, 39]
    assert packet_cpus.interrupts("lo") == []


def test_interrupts_of_each_cpu_as_the_kernel_shows_them(machine: Machine, tmp_path: Path) -> None:
    file = tmp_path / "interrupts"
    file.write_text(
        "           CPU0       CPU3\n 37:  5  5  PCI-MSIX  virtio2-config\n"
        " 38:          0      72586  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n"
        " 39:      45966          0  PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0\n"
        "NMI:          0          0  Non-maskable interrupts\nERR:          0\n"
    )
    found = packet_cpus.interrupts_by_cpu("eth0", file)
    assert found == {38: {0: 0, 3: 72586}, 39: {0: 45966, 3: 0}}
    file.write_text("")
    assert packet_cpus.interrupts_by_cpu("eth0", file) == {38: {}, 39: {}}


@pytest.mark.parametrize(
    ("flows", "queues", "each"), [(4096, 1, 4096), (4096, 3, 2048), (256, 64, 4)]
)
def test_queues_share_the_flows(flows: int, queues: int, each: int) -> None:
    assert flows_of_queue(flows, queues) == each


def test_packets_of_each_cpu_as_kernels_show_them(tmp_path: Path) -> None:
    file = tmp_path / "softnet_stat"
    new = "0000001f 00000002 00000003 " + "00000000 " * 6 + "00000004 00000000 00000000 {:08x}\n"
    file.write_text(new.format(1) + new.format(3))  # CPUs 0 and 2 are off
    counted = {"packets": 31, "dropped": 2, "squeezed": 3, "steered": 4}
    assert by_cpu(file) == {1: counted, 3: counted}
    old = "0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
    file.write_text(old * 2)
    assert by_cpu(file)[1] == {"packets": 10, "dropped": 0, "squeezed": 0}


class Scripted:
    """A transport whose receivers report the next of these rates; None: the program fails."""

    def __init__(self, **rates: list[float | None]) -> None:
        self.rates = rates
        self.codes: list[int] = []
        self.sent: list[tuple[str, ...]] = []

    def python(self, node: Node) -> tuple[str, ...]:
        return ("python3",)

    def start(self, node: Node, command: Command, stdout: Path, stderr: Path) -> ProcessId:
        receives = "receive" in command.argv
        rate = self.rates[node.name].pop(0) if receives else 0.0
        self.sent += [] if receives else [command.argv]
        stdout.parent.mkdir(parents=True, exist_ok=True)
        stdout.write_text(json.dumps({"mbit_s": rate} if receives else {"mtu": 1500}))
        stderr.write_text("no route")
        self.codes.append(1 if rate is None else 0)
        return ProcessId(node.name, command.name, len(self.codes) - 1, 0)

    def wait(self, process: ProcessId, timeout_s: float) -> int:
        return self.codes[process.pid]

    def fetch(self, node: Node, path: Path, to: Path) -> None: ...

    def stop(self, process: ProcessId, grace_s: float) -> None: ...


def proved(folder: Path, **rates: list[float | None]) -> tuple[dict[str, Any], Scripted]:
    """Of three machines, one of which has two nodes; each machine receives from the one before it."""
    names = {"m1": "192.0.2.1", "c1": "192.0.2.1", "w1": "192.0.2.2", "w2": "192.0.2.3"}
    nodes = tuple(Node(name, name, address, (), 0, 1) for name, address in names.items())
    limited = Network(100.0)
    topology = Topology(
        "t",
        provider_named("physical"),
        (),
        nodes,
        Isolation.HOST,
        Variant(0, 1, "flash", network=limited),
        1,
    )
    transport = Scripted(**rates)
    journal = Journal(folder / "journal.jsonl")
    site = Site(folder, "s/r/b1")
    found = prove_network(site, topology, transport, journal)  # type: ignore[arg-type]
    (rate,) = found["measured"]
    return rate, transport


def test_every_machine_sends_to_the_next_and_the_worst_pair_counts(tmp_path: Path) -> None:
    rate, transport = proved(tmp_path, w1=[99.0], w2=[100.2], m1=[98.5])
    assert (rate["measured"], rate["holds"]) == (98.5, True)
    assert [argv[4] for argv in transport.sent] == ["192.0.2.2", "192.0.2.3", "192.0.2.1"]


def test_a_pair_has_three_attempts_until_it_is_within_two_percent(tmp_path: Path) -> None:
    rate, transport = proved(tmp_path, w1=[96.0, None, 97.0], w2=[99.0], m1=[90.0, 99.5])
    assert (rate["measured"], rate["holds"]) == (97.0, True)  # 3 % off holds, but is tried again
    assert len(transport.sent) == 6


def test_a_pair_that_does_not_answer_makes_a_network_unknown_unless_another_is_wrong(
    tmp_path: Path,
) -> None:
    rate, _ = proved(tmp_path / "a", w1=[99.0], w2=[None] * 3, m1=[99.0])
    assert (rate["measured"], rate["holds"]) == (None, None)
    assert rate["why"] == "w1 to w2: no route"
    rate, _ = proved(tmp_path / "b", w1=[80.0] * 3, w2=[None] * 3, m1=[99.0])
    assert (rate["measured"], rate["holds"]) == (80.0, False)


def test_records_of_earlier_versions_are_read() -> None:
    """Their keys were called steer, transmit and follow."""
    adapter = TypeAdapter(Topology)
    now = replace(local(2), variant=replace(local(2).variant, network=Network(rps=(1,), rfs=4096)))
    value = adapter.dump_python(now, mode="json")
    old = {"rps": "steer", "xps": "transmit", "rfs": "follow"}
    value["network"] = {old.get(name, name): one for name, one in value["network"].items()}
    assert adapter.validate_python(value) == now
    assert network_of({"steer": [1], "follow": 4096}) == now.variant.network
