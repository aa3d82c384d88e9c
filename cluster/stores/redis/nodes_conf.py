"""nodes.conf of Redis Cluster: every node and its slots, known before the first one starts. Pure."""

from __future__ import annotations

import hashlib

from density_study.cluster.model.topology import Node
from density_study.cluster.render.blueprint import Blueprint

NODES_CONF = "nodes.conf"
SLOTS = 16384
"""For every cluster: a key's slot is its CRC16 modulo this."""


def slots(nodes: int) -> list[range]:
    """The slots of each node: equal parts, since keys are hashed."""
    first = [number * SLOTS // nodes for number in range(nodes + 1)]
    return [range(*first[number : number + 2]) for number in range(nodes)]


def nodes_conf(blueprint: Blueprint, node: Node) -> str:
    """As a node that restarts finds it: nothing has to meet, and no slot is assigned by a command."""
    workers, ports = blueprint.topology.workers, blueprint.ports
    lines = []
    for epoch, (worker, own) in enumerate(zip(workers, slots(len(workers)), strict=True), 1):
        address = f"{ports.address(worker, 'redis')}@{ports.port(worker, 'redis.bus')}"
        flags = "myself,master" if worker == node else "master"
        identity = hashlib.sha256(f"{blueprint.tag}/{worker.name}".encode()).hexdigest()[:40]
        lines.append(
            f"{identity} {address} {flags} - 0 0 {epoch} connected {own.start}-{own.stop - 1}\n"
        )
    return "".join((*lines, f"vars currentEpoch {len(workers)} lastVoteEpoch 0\n"))
