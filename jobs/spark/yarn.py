"""Spark on the YARN of a cluster that the project built: what is set, and nothing that acts."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pyspark

from analysis.tables.storage import NAMENODES
from cluster.model.cluster import Cluster, cluster_from_json
from cluster.model.errors import InputError
from cluster.model.memory import CONTAINER_MIB
from cluster.model.topology import Topology
from jobs.spark.engine import LOOPBACK, Engine
from jobs.spark.python_archive import PYTHON

AM_HEAP_MIB = 256
AM_MIB = 512
"""YARN's container of the ApplicationMaster: in client mode it does nothing but ask for executors."""
EXECUTOR_LEAST_MIB = 1024
"""Half is heap: Spark starts none below 450 MiB. The other half is Python's, Arrow's and the JVM's own."""
EXECUTOR_MOST_MIB = 8192
EXECUTOR_MOST_CORES = 4
"""YARN's own limit of cores a container, where a cluster does not say another."""


def standing_cluster(build: Path) -> Cluster:
    """The cluster of a build's folder. InputError if none came up there."""
    path = build / "cluster.json"
    try:
        return cluster_from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(
            f"no cluster came up here: {error}",
            str(path),
            "name the folder of a build whose cluster stands: runs/<study>/<run-id>/builds/<build>.",
        ) from error


def yarn_engine(cluster: Cluster, python_archive: Path) -> Engine:
    """Spark on the cluster's YARN, the driver here; sized by the containers its nodes may have, and
    by nothing else. InputError if they are too small."""
    topology, points = cluster.topology, cluster.endpoints
    address = driver_address(topology)
    conf = str(cluster.site.root.absolute() / "conf" / "client")
    anywhere = {"JAVA_HOME": str(cluster.java_home)}
    if address == LOOPBACK:
        anywhere["SPARK_LOCAL_IP"] = LOOPBACK
    known = {NAMENODES: f"{points.namenode_rpc}={points.namenode_http}"}
    options = {
        "spark.master": "yarn",
        "spark.submit.deployMode": "client",
        "spark.yarn.stagingDir": f"hdfs://{points.namenode_rpc}/study/spark",
        "spark.yarn.am.memory": f"{AM_HEAP_MIB}m",
        "spark.yarn.am.memoryOverhead": f"{AM_MIB - AM_HEAP_MIB}m",
        "spark.yarn.maxAppAttempts": "1",
        "spark.archives": f"{python_archive.absolute().as_uri()}#python",
        "spark.dynamicAllocation.enabled": "false",
        **_executors(topology),
    }
    if address == LOOPBACK:
        # the nodes are this machine's: they have Spark's jars where it has them
        options["spark.yarn.jars"] = f"local:{Path(pyspark.__file__).parent}/jars/*"
    options |= {f"spark.yarn.appMasterEnv.{name}": value for name, value in anywhere.items()}
    options |= {f"spark.executorEnv.{n}": value for n, value in (anywhere | known).items()}
    environment = {"HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf, **known}
    return Engine(options, environment, f"./python/{PYTHON}", address)


def _executors(topology: Topology) -> dict[str, str]:
    """One executor a worker node, as large as the smallest node's containers allow beside the
    ApplicationMaster's, with the node's share of its host's cores."""
    workers = topology.workers
    smallest_mib = min(worker.container_mib for worker in workers)
    room_mib = (smallest_mib - AM_MIB) // CONTAINER_MIB * CONTAINER_MIB
    if room_mib < EXECUTOR_LEAST_MIB:
        raise InputError(
            f"its nodes give YARN {smallest_mib} MiB each; Spark needs {EXECUTOR_LEAST_MIB + AM_MIB}.",
            f"topology {topology.name!r}",
            "build it from a study whose hosts have more memory, or fewer VMs each.",
        )
    size_mib = min(room_mib, EXECUTOR_MOST_MIB)
    on_host = {w.host: sum(other.host == w.host for other in workers) for w in workers}
    cores = min(max(1, worker.cores // on_host[worker.host]) for worker in workers)
    return {
        "spark.executor.instances": str(len(workers)),
        "spark.executor.cores": str(min(cores, EXECUTOR_MOST_CORES)),
        "spark.executor.memory": f"{size_mib // 2}m",
        "spark.executor.memoryOverhead": f"{size_mib - size_mib // 2}m",
    }


def driver_address(topology: Topology) -> str:
    """This machine's address as the cluster's nodes reach it: of the route to the master."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((topology.master.address, 9))  # sends nothing
        return str(probe.getsockname()[0])
