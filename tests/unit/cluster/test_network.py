"""Networks of nodes: command lines, masks, and what measurements prove. Nothing is changed here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.lifecycle.network_proof import proofs_of
from density_study.cluster.machine.network_link import disciplines, mask
from density_study.cluster.machine.softnet import by_cpu
from density_study.cluster.model.network import UNCHANGED, Network, network_of

FULL = Network(100.0, "htb", 9000, (0, 1), 2, 1.5, 0.1)
READING: dict[str, Any] = {
    "mbit_s": 99.0, "mtu": 9000, "largest": 8972, "packets_by_cpu": {"0": 50, "1": 45, "2": 5}, "queues": 2,
    "round_trip_ms": 3.1, "sent": 2001, "datagrams": 1998,
}  # fmt: skip


@pytest.mark.parametrize("network", [UNCHANGED, FULL, Network(steer=(3,)), Network(100.0)])
def test_what_a_network_declares_makes_it_again(network: Network) -> None:
    assert network_of(network.declared()) == network


def test_nothing_is_declared_of_a_network_that_is_left_as_it_is() -> None:
    assert UNCHANGED.declared() == {}
    assert disciplines(Network(mtu=9000, steer=(1,)), "eth0") == []


def words(network: Network) -> list[str]:
    return [" ".join(argv) for argv in disciplines(network, "eth0")]


def test_a_rate_has_a_burst_that_lasts_two_milliseconds() -> None:
    replace = "/usr/sbin/tc qdisc replace dev eth0"
    assert words(Network(100.0)) == [
        f"{replace} root handle d5: tbf rate 100000000bit burst 32768 latency 50ms"
    ]
    assert words(Network(1000.0, "htb")) == [
        f"{replace} root handle d5: htb default 1",
        "/usr/sbin/tc class replace dev eth0 parent d5: classid d5:1 htb rate 1000000000bit "
        "ceil 1000000000bit burst 250000 cburst 250000",
    ]


def test_delay_and_loss_are_of_one_discipline() -> None:
    netem = "/usr/sbin/tc qdisc replace dev eth0 root handle d5: netem limit 100000"
    assert words(Network(delay_ms=0.5)) == [f"{netem} delay 0.5ms"]
    assert words(Network(delay_ms=1.0, loss_percent=0.1)) == [f"{netem} delay 1ms loss 0.1%"]


@pytest.mark.parametrize(
    ("cpus", "text"), [((0,), "1"), ((0, 1), "3"), ((31,), "80000000"), ((32, 1), "1,00000002"),
                       ((64,), "1,00000000,00000000")]
)  # fmt: skip
def test_a_mask_has_groups_of_32_cpus(cpus: tuple[int, ...], text: str) -> None:
    assert mask(cpus) == text


def holds(network: Network, **changed: Any) -> dict[str, bool | None]:
    return {proof.what: proof.holds for proof in proofs_of(network, {**READING, **changed})}


def test_a_network_as_declared_holds() -> None:
    whole = dict.fromkeys(("rate", "mtu", "steered", "queues", "round_trip", "lost"), True)
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


def test_packets_of_each_cpu_as_kernels_show_them(tmp_path: Path) -> None:
    file = tmp_path / "softnet_stat"
    new = "0000001f 00000002 00000003 " + "00000000 " * 6 + "00000004 00000000 00000000 {:08x}\n"
    file.write_text(new.format(1) + new.format(3))  # CPUs 0 and 2 are off
    counted = {"packets": 31, "dropped": 2, "squeezed": 3, "steered": 4}
    assert by_cpu(file) == {1: counted, 3: counted}
    old = "0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n"
    file.write_text(old * 2)
    assert by_cpu(file)[1] == {"packets": 10, "dropped": 0, "squeezed": 0}
