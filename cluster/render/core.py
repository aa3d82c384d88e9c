"""core-site.xml: what HDFS, YARN, HBase and the clients share."""

from __future__ import annotations

from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint


def core_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = _common(blueprint, node)
    if "master" in node.roles:
        properties |= _rack_site(blueprint, node)
    if node.roles == ("client",):
        properties |= _client_site()
    return properties


def racks(blueprint: Blueprint) -> str:
    """Which rack an address is in: hosts are racks, so that HDFS spreads replicas over hosts first."""
    lines = {f"{node.address} /{node.host}" for node in blueprint.topology.workers}
    return "".join(f"{line}\n" for line in sorted(lines))


def _common(blueprint: Blueprint, node: Node) -> dict[str, str]:
    master = blueprint.topology.master
    return {
        "fs.defaultFS": f"hdfs://{blueprint.ports.address(master, 'namenode.rpc')}",
        "hadoop.tmp.dir": f"{blueprint.data(node)}/tmp",
        # Daemons start together and look for each other: ask often instead of once a second.
        "ipc.client.connect.retry.interval": "200",
        "ipc.client.connect.max.retries": "100",
        "io.file.buffer.size": "65536",
        "hadoop.security.authentication": "simple",
        "hadoop.http.staticuser.user": "study",
    }


def _client_site() -> dict[str, str]:
    """A client is started when all daemons answer: what refuses it for five seconds is gone. Slowness is not
    refused but waited for, by other settings. Containers of its jobs inherit this by job.xml."""
    return {"ipc.client.connect.max.retries": "25"}


def _rack_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    return {
        "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
        "net.topology.table.file.name": f"{blueprint.places.conf_of(node)}/racks",
    }
