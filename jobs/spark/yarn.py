"""Spark options for the YARN of a cluster that the project built. Pure: starts nothing."""

from __future__ import annotations

import socket
from pathlib import Path

import pyspark

from density_study.analysis.tables.storage import NAMENODES
from density_study.cluster.model.cluster import CLUSTER, Cluster, read_cluster
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.memory import CONTAINER_MIB
from density_study.cluster.model.topology import Topology
from density_study.jobs.spark.python_archive import PYTHON
from density_study.jobs.spark.session import LOOPBACK, Engine

AM_HEAP_MIB = 256
# YARN container of the ApplicationMaster, which in client mode only requests executors.
AM_MIB = 512
# Half is heap (Spark needs at least 450 MiB); the other half is for Python, Arrow and the JVM itself.
EXECUTOR_MIN_MIB = 1024
EXECUTOR_MAX_MIB = 8192
EXECUTOR_MAX_CORES = 4  # YARN's default limit of cores per container


def standing_cluster(build: Path) -> Cluster:
    """The cluster in the folder of a build. InputError if the build has no cluster."""
    try:
        return read_cluster(build)
    except (OSError, ValueError) as error:
        raise InputError(
            f"this build has no cluster: {error}",
            str(build / CLUSTER),
            "name the folder of a build with a running cluster: runs/<study>/<run-id>/builds/<build>.",
        ) from error


def yarn_engine(cluster: Cluster, python_archive: Path) -> Engine:
    """Spark on the cluster's YARN with the driver on this machine, sized by the nodes' container limits
    only. InputError if they are too small."""
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
        # The nodes run on this machine and find Spark's jars in its Python environment.
        options["spark.yarn.jars"] = f"local:{Path(pyspark.__file__).parent}/jars/*"
    options |= {f"spark.yarn.appMasterEnv.{name}": value for name, value in anywhere.items()}
    options |= {f"spark.executorEnv.{n}": value for n, value in (anywhere | known).items()}
    environment = {"HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf, **known}
    return Engine(options, environment, f"./python/{PYTHON}", address)


def _executors(topology: Topology) -> dict[str, str]:
    """One executor per worker node, as large as the smallest node's container limit minus the
    ApplicationMaster, with the node's share of its host's cores."""
    workers = topology.workers
    smallest_mib = min(worker.container_mib for worker in workers)
    room_mib = (smallest_mib - AM_MIB) // CONTAINER_MIB * CONTAINER_MIB
    if room_mib < EXECUTOR_MIN_MIB:
        raise InputError(
            f"YARN has {smallest_mib} MiB per node; Spark needs {EXECUTOR_MIN_MIB + AM_MIB} MiB.",
            f"topology {topology.name!r}",
            "use a study with more memory per host, or with fewer VMs per host.",
        )
    size_mib = min(room_mib, EXECUTOR_MAX_MIB)
    on_host = {w.host: sum(other.host == w.host for other in workers) for w in workers}
    cores = min(max(1, worker.cores // on_host[worker.host]) for worker in workers)
    return {
        "spark.executor.instances": str(len(workers)),
        "spark.executor.cores": str(min(cores, EXECUTOR_MAX_CORES)),
        "spark.executor.memory": f"{size_mib // 2}m",
        "spark.executor.memoryOverhead": f"{size_mib - size_mib // 2}m",
    }


def driver_address(topology: Topology) -> str:
    """Address of this machine that the cluster's nodes can reach: the source of the route to the master."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((topology.master.address, 9))  # sends nothing
        return str(probe.getsockname()[0])
