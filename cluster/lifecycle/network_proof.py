"""What the network of a build does, measured between its nodes before any daemon starts.

Each machine sends to the next one, the last one to the first. A proof says whether a setting holds, does not
hold, or could not be measured; the verdict on trials follows from it (`analysis/validity/rules.toml`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

from density_study.cluster.machine import network_probe
from density_study.cluster.machine.packet_cpus import cpu_of_interrupt
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.network import Network
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command, Transport
from density_study.cluster.state.journal import Journal

RATE_TOLERANCE, RATE_AIM = 0.05, 0.02
"""What is accepted, and what ends the attempts."""
STEERED_LEAST = 90.0
"""Percent of packets or interrupts that the named CPUs process; those of other programs are included."""
DELAY_TOLERANCE, DELAY_MORE_MS = 0.1, 1.0
LOST_DATAGRAMS = 2000
_SIGMAS = 4.0
_ATTEMPTS = 3
_TIMEOUT_S = 60.0
Reading = Mapping[str, Any]


@dataclass(frozen=True)
class Proof:
    """One setting that the variant declares for its network (None: it declares nothing), and its measured
    value. `holds` is None if it could not be measured; `why` is the reason."""

    what: str
    declared: float | None
    measured: float | None
    unit: str
    holds: bool | None
    why: str = ""

    @property
    def error(self) -> float:
        """Relative, of a measured value; 0 where nothing is declared."""
        return abs((self.measured or 0.0) / self.declared - 1) if self.declared else 0.0


def prove_network(
    site: Site, topology: Topology, transport: Transport, journal: Journal
) -> dict[str, Any]:
    """Measure the network between all pairs of machines, and return the disclosure: settings declared,
    interfaces, and under `measured` the worst result of each setting."""
    found: dict[str, Proof] = {}
    for sender, receiver in _pairs(topology):
        for what, proof in _pair(site, topology, transport, sender, receiver).items():
            found[what] = min(found.get(what, proof), proof, key=_goodness)
    changed = journal.intents("set-network", site.tag)
    return {
        "declared": topology.variant.network.declared(),
        "interfaces": {intent.host: intent.former["device"] for intent in changed},
        "measured": [asdict(proof) for proof in found.values()],
    }


def as_declared(network: Network) -> dict[str, Any]:
    """What `prove_network` returns, for a simulated network: every setting holds."""
    proofs = [replace(one, measured=one.declared, holds=True) for one in proofs_of(network, {})]
    return {
        "declared": network.declared(),
        "interfaces": {},
        "measured": [asdict(proof) for proof in proofs],
    }


def _goodness(proof: Proof) -> tuple[int, float]:
    """First whether it holds, then how close it is to what is declared; of a plain measurement its value."""
    rank = {False: 0, None: 1, True: 2}[proof.holds]
    return rank, -proof.error if proof.declared else proof.measured or 0.0


def _pairs(topology: Topology) -> list[tuple[Node, Node]]:
    nodes = list({node.address: node for node in reversed(topology.nodes)}.values())[::-1]
    return list(zip(nodes, (*nodes[1:], *nodes[:1]), strict=True)) if len(nodes) > 1 else []


def _pair(
    site: Site, topology: Topology, transport: Transport, sender: Node, receiver: Node
) -> Mapping[str, Proof]:
    """The best of a few attempts, as other programs disturb a short measurement."""
    best: dict[str, Proof] = {}
    for attempt in range(_ATTEMPTS):
        folder = site.root / "logs" / "network" / f"{sender.name}-{receiver.name}-{attempt + 1}"
        try:
            reading = _measure(folder, topology, transport, sender, receiver)
        except (StudyError, TimeoutError, OSError, ValueError) as error:
            reading, why = {}, f"{sender.name} to {receiver.name}: {error}"
        else:
            why = ""
        for proof in proofs_of(topology.variant.network, reading, why):
            best[proof.what] = max(best.get(proof.what, proof), proof, key=_goodness)
        if all(proof.holds for proof in best.values()) and best["rate"].error <= RATE_AIM:
            break
    return best


def _measure(
    folder: Path, topology: Topology, transport: Transport, sender: Node, receiver: Node
) -> Reading:
    network = topology.variant.network
    place = (receiver.address, str(topology.base_port))
    avoided = ",".join(map(str, network.rps))
    datagrams = LOST_DATAGRAMS if network.loss_percent else 0
    senders = ",".join(map(str, network.xps))
    wanted = (avoided, str(network.mtu or 0), str(datagrams), senders)
    followed = "1" if network.rfs else "0"
    running = []
    ends = ((receiver, ("receive", *place)), (sender, ("send", *place, *wanted)))
    for node, words in ends:
        argv = (*transport.python(node), "-m", network_probe.__name__, *words, followed)
        out = folder / f"{words[0]}.out"
        err = folder / f"{words[0]}.err"
        command = Command("network-probe", argv)
        running.append((node, transport.start(node, command, out, err), out, err))
    reading: dict[str, Any] = {}
    try:
        for node, process, out, err in running:
            code = transport.wait(process, _TIMEOUT_S)
            transport.fetch(node, out, out)
            transport.fetch(node, err, err)
            if code != 0:
                raise ValueError(err.read_text(errors="replace").strip()[-200:])
            reading |= json.loads(out.read_text())
    finally:
        for _, process, _, _ in running:
            transport.stop(process, 0.0)
    return reading


def proofs_of(network: Network, reading: Reading, why: str = "") -> Iterator[Proof]:
    """Pure. An empty `reading`: it could not be measured, because of `why`."""
    rate = reading.get("mbit_s")
    asked = network.rate_mbit_s
    yield _proof("rate", asked, rate, "Mbit/s", why, RATE_TOLERANCE * (asked or 0.0))
    if network.mtu is not None:
        # what the route says, if a datagram of that size arrived
        largest = network.mtu - network_probe.DATAGRAM_HEADERS
        size = reading.get("mtu") if reading.get("largest") == largest else 0
        yield _proof("mtu", network.mtu, size if reading else None, "byte", why)
    if network.rps:
        yield _steered(network.rps, reading.get("packets_by_cpu", {}), why)
    if network.queues is not None:
        yield _proof("queues", network.queues, reading.get("queues"), "count", why)
    if network.xps:
        yield _transmitted(network, reading.get("by_queue", {}), why)
    if network.rfs:
        shares = reading.get("followed", {}).values()
        yield _share("followed", min(shares, default=None), why)
    if network.irq_affinity:
        yield _interrupted(network.irq_affinity, reading.get("interrupts", {}), why)
    if network.coalesce:
        shown = reading.get("coalescing", {})
        holding = sum(shown.get(name) == value for name, value in network.coalesce)
        yield _proof("coalesced", len(network.coalesce), holding if shown else None, "count", why)
    if network.delay_ms is not None:
        trip, least = reading.get("round_trip_ms"), 2 * network.delay_ms
        tolerance = DELAY_TOLERANCE * least + DELAY_MORE_MS
        yield _proof("round_trip", least, trip, "ms", why, tolerance)
    if network.loss_percent is not None:
        yield _lost(network.loss_percent, reading, why)


def _proof(
    what: str, asked: float | None, seen: float | None, unit: str, why: str, tolerance: float = 0.0
) -> Proof:
    holds = True if asked is None else None if seen is None else abs(seen - asked) <= tolerance
    return Proof(what, asked, seen if seen is None else round(seen, 3), unit, holds, why)


def _steered(cpus: Sequence[int], packets: Mapping[str, int], why: str) -> Proof:
    """JSON has made text of the CPUs' numbers."""
    total = sum(packets.values())
    named = sum(count for cpu, count in packets.items() if int(cpu) in cpus)
    return _share("steered", 100.0 * named / total if total else None, why)


def _share(what: str, percent: float | None, why: str) -> Proof:
    """A proof of a share that should be 100 %."""
    return _proof(what, 100.0, percent, "percent", why, 100.0 - STEERED_LEAST)


def _interrupted(cpus: Sequence[int], counts: Mapping[str, Mapping[str, int]], why: str) -> Proof:
    """The share of a card's interrupts that came to the CPU whose turn it was."""
    turns = cpu_of_interrupt([int(number) for number in counts], cpus)
    total = sum(sum(by_cpu.values()) for by_cpu in counts.values())
    right = sum(counts[str(number)].get(str(cpu), 0) for number, cpu in turns.items())
    return _share("interrupted", 100.0 * right / total if total else None, why)


def _transmitted(network: Network, packets: Mapping[str, Sequence[int]], why: str) -> Proof:
    """The share of packets that left by the queue of their CPU, for the CPU with the smallest share."""
    shares = []
    for place, cpu in enumerate(network.xps):
        sent = packets.get(str(cpu), ())
        if not sum(sent) or len(sent) != network.queues:
            return _share("transmitted", None, why)
        shares.append(100.0 * sent[place % network.queues] / sum(sent))
    return _share("transmitted", min(shares), why)


def _lost(percent: float, reading: Reading, why: str) -> Proof:
    sent = reading.get("sent", 0)
    lost = 100.0 * (1 - reading["datagrams"] / sent) if sent else None
    share = percent / 100
    tolerance = 100.0 * _SIGMAS * sqrt(share * (1 - share) / sent) if sent else 0.0
    return _proof("lost", percent, lost, "percent", why, tolerance)
