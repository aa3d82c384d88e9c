"""hdfs-site.xml."""

from __future__ import annotations

from cluster.model.host import Medium
from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint

RACK_FAULT_TOLERANT = (
    "org.apache.hadoop.hdfs.server.blockmanagement.BlockPlacementPolicyRackFaultTolerant"
)
"""A rack is a host: replicas go to as many hosts as there are, before two go to one."""
STORAGE: dict[Medium, tuple[str, str]] = {"flash": ("SSD", "ALL_SSD"), "hdd": ("DISK", "HOT")}
"""A medium's storage type, and the policy that places blocks there."""


def hdfs_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = _common(blueprint)
    if "master" in node.roles:
        properties |= _namenode(blueprint, node)
    if "worker" in node.roles:
        properties |= _datanode(blueprint, node)
    return properties


def _common(blueprint: Blueprint) -> dict[str, str]:
    master = blueprint.topology.master
    return {
        "dfs.namenode.rpc-address": blueprint.ports.address(master, "namenode.rpc"),
        "dfs.namenode.http-address": blueprint.ports.address(master, "namenode.http"),
        "dfs.replication": str(blueprint.topology.replication),
        # A throw-away cluster of one user: requests over HTTP need no identity.
        "dfs.permissions.enabled": "false",
        # Needs the native library on every node; arms must match, so no arm has it.
        "dfs.client.read.shortcircuit": "false",
    }


def _namenode(blueprint: Blueprint, node: Node) -> dict[str, str]:
    topology = blueprint.topology
    spread = len({worker.host for worker in topology.workers}) > 1
    return {
        **({"dfs.block.replicator.classname": RACK_FAULT_TOLERANT} if spread else {}),
        "dfs.storage.default.policy": STORAGE[topology.medium][1],
        "dfs.namenode.name.dir": f"file://{blueprint.data(node)}/namenode",
        # Out of safe mode means: every DataNode is there. HBase waits for that.
        "dfs.namenode.safemode.min.datanodes": str(len(topology.workers)),
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
    }


def _datanode(blueprint: Blueprint, node: Node) -> dict[str, str]:
    ports = blueprint.ports
    kind = STORAGE[blueprint.topology.medium][0]
    return {
        "dfs.datanode.data.dir": ",".join(
            f"[{kind}]file://{data}/datanode" for data in blueprint.places.data_of(node)
        ),
        "dfs.datanode.address": ports.address(node, "datanode.data"),
        "dfs.datanode.ipc.address": ports.address(node, "datanode.ipc"),
        "dfs.datanode.http.address": ports.address(node, "datanode.http"),
        "dfs.datanode.http.internal-proxy.port": str(ports.port(node, "datanode.proxy")),
        "dfs.datanode.hostname": node.address,
    }
