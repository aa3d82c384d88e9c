"""hbase-site.xml."""

from __future__ import annotations

from cluster.model.topology import Node
from cluster.render.blueprint import Blueprint

SPLIT_POLICY = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy"
"""Tables are pre-split; a split inside a measuring window would be part of the number."""
BLOCK_CACHE_FRACTION = 0.4
MEMSTORE_FRACTION = 0.4
"""Of a RegionServer's heap, as HBase's defaults: said here because density changes the heap."""


def hbase_site(blueprint: Blueprint, node: Node) -> dict[str, str]:
    properties = {**_common(blueprint), "hbase.tmp.dir": f"{blueprint.data(node)}/hbase"}
    if "master" in node.roles:
        properties |= _master(blueprint, node)
    if "worker" in node.roles:
        properties |= _regionserver(blueprint, node)
    return properties


def starts_with_hdfs(blueprint: Blueprint) -> dict[str, str]:
    """For the HMaster alone, on its command line, so that it can start together with HDFS."""
    return {
        # A NameNode that is not there yet ends an HMaster at once, unless it is to try again.
        "dfs.client.retry.policy.enabled": "true",
        "dfs.client.retry.policy.spec": f"{blueprint.beat_ms(200)},500",  # every 200 ms, 500 times
        # How often it looks whether HDFS has left safe mode; 10 s by default.
        "hbase.server.thread.wakefrequency": blueprint.beat_ms(500),
    }


def regionserver_ports(blueprint: Blueprint, node: Node, index: int) -> dict[str, str]:
    """What differs between the RegionServers of one node; given on the command line."""
    ports = blueprint.ports
    return {
        "hbase.regionserver.port": str(ports.port(node, f"regionserver-{index}.rpc")),
        "hbase.regionserver.info.port": str(ports.port(node, f"regionserver-{index}.http")),
    }


def zoo_cfg(blueprint: Blueprint) -> str:
    """A single ZooKeeper server on the master."""
    master = blueprint.topology.master
    lines = (
        "tickTime=2000",
        f"dataDir={blueprint.data(master)}/zookeeper",
        f"clientPort={blueprint.ports.port(master, 'zookeeper.client')}",
        f"clientPortAddress={master.address}",
        "admin.enableServer=false",
        "maxClientCnxns=0",
    )
    return "".join(f"{line}\n" for line in lines)


def _common(blueprint: Blueprint) -> dict[str, str]:
    master, ports = blueprint.topology.master, blueprint.ports
    return {
        "hbase.cluster.distributed": "true",
        "hbase.rootdir": f"hdfs://{ports.address(master, 'namenode.rpc')}/hbase",
        "hbase.zookeeper.quorum": master.address,
        "hbase.zookeeper.property.clientPort": str(ports.port(master, "zookeeper.client")),
        "hbase.wal.provider": blueprint.wal_provider,
        "hbase.wal.storage.policy": "NONE",  # HDFS's own, which follows the medium
        "hbase.regionserver.region.split.policy": SPLIT_POLICY,
        "dfs.replication": str(blueprint.topology.replication),
    }


def _master(blueprint: Blueprint, node: Node) -> dict[str, str]:
    ports = blueprint.ports
    servers = sum(worker.regionservers for worker in blueprint.topology.workers)
    return {
        "hbase.master.hostname": node.address,
        "hbase.master.ipc.address": node.address,
        "hbase.master.port": str(ports.port(node, "hmaster.rpc")),
        "hbase.master.info.bindAddress": node.address,
        "hbase.master.info.port": str(ports.port(node, "hmaster.http")),
        # Begin as soon as every RegionServer has reported, instead of after a fixed time.
        "hbase.master.wait.on.regionservers.mintostart": str(servers),
        "hbase.master.wait.on.regionservers.maxtostart": str(servers),
        "hbase.master.wait.on.regionservers.interval": "100",
        "hbase.master.wait.on.regionservers.timeout": "100",
    }


def _regionserver(blueprint: Blueprint, node: Node) -> dict[str, str]:
    return {
        "hbase.regionserver.hostname": node.address,
        "hbase.regionserver.ipc.address": node.address,
        "hbase.regionserver.info.bindAddress": node.address,
        "hfile.block.cache.size": str(BLOCK_CACHE_FRACTION),
        "hbase.regionserver.global.memstore.size": str(MEMSTORE_FRACTION),
        # The master gives no region to a server before its first report, one interval after it came.
        "hbase.regionserver.msginterval": blueprint.beat_ms(250),
    }
