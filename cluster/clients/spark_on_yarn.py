"""Spark options for the YARN of a cluster that the project built. Pure: starts nothing, imports no Spark."""

from __future__ import annotations

import os
import socket
from collections import Counter
from collections.abc import Mapping
from importlib.util import find_spec
from math import ceil
from pathlib import Path, PurePath

from density_study.cluster.clients.launchers import client_conf
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.extras import need
from density_study.cluster.model.memory import CLIENT_HEAP_MIB
from density_study.cluster.model.topology import AnyTopology, Placed, Topology
from density_study.cluster.model.transport import Transport
from density_study.cluster.providers.provider import node_paths

LOOPBACK = "127.0.0.1"
AM_HEAP_MIB = 256
# YARN container of the ApplicationMaster, which in client mode only requests executors.
AM_MIB = 512
# Half is heap (Spark needs at least 450 MiB); the other half is for Python, Arrow and the JVM itself.
EXECUTOR_MIN_MIB = 1024
EXECUTOR_CORE_MIB = 4096
"""At most, for each core of an executor."""
EXECUTOR_MAX_CORES = 4  # YARN's default limit of cores per container


def spark_home() -> Path:
    """Spark in this machine's Python environment. InputError if it is not installed."""
    need("Spark on YARN", "spark")
    spec = find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent


def spark_options(cluster: Cluster, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Client mode, sized by the nodes' container limits only. more: variables of the executors. InputError if
    the containers are too small."""
    local = driver_address(cluster.topology) == LOOPBACK
    anywhere = {"JAVA_HOME": str(cluster.java_home)} | (
        {"SPARK_LOCAL_IP": LOOPBACK} if local else {}
    )
    options = {
        "spark.master": "yarn",
        "spark.submit.deployMode": "client",
        "spark.yarn.stagingDir": f"hdfs://{cluster.endpoints.one('namenode.rpc')}/study/spark",
        "spark.yarn.am.memory": f"{AM_HEAP_MIB}m",
        "spark.yarn.am.memoryOverhead": f"{AM_MIB - AM_HEAP_MIB}m",
        "spark.yarn.maxAppAttempts": "1",
        "spark.dynamicAllocation.enabled": "false",
        "spark.authenticate": "true",  # YARN hands the secret to the executors
        **executors(cluster.topology),
    }
    if cluster.topology.provider.here:
        # The nodes find Spark's jars in this machine's Python environment.
        options["spark.yarn.jars"] = f"local:{spark_home()}/jars/*"
    options |= {f"spark.yarn.appMasterEnv.{name}": value for name, value in anywhere.items()}
    options |= {f"spark.executorEnv.{n}": v for n, v in (anywhere | dict(more or {})).items()}
    return options


def spark_submit(
    cluster: Cluster, transport: Transport, events: Path, more: Mapping[str, str] | None = None
) -> tuple[tuple[str, ...], dict[str, str]]:
    """How a command line of spark-submit begins, which the program follows, and its environment. The driver
    works on the client node, on this machine, in `driver_folder`. `events`: the folder of its event log."""
    node, home, folder = cluster.topology.client, spark_home(), driver_folder(cluster)
    options = spark_options(cluster) | {
        "spark.driver.memory": f"{CLIENT_HEAP_MIB}m",
        "spark.driver.host": node.address,
        "spark.driver.bindAddress": node.address,
        "spark.ui.enabled": "false",
        "spark.local.dir": str(folder),
        # a container has no other place to write to
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.absolute().as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        **(more or {}),
    }
    conf = str(client_conf(cluster))
    env = {
        "HADOOP_CONF_DIR": conf,
        "YARN_CONF_DIR": conf,
        "JAVA_HOME": str(cluster.java_home),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": node.address,
        "TMPDIR": str(folder),
        "PYSPARK_PYTHON": transport.python(node)[0],
        "PATH": os.defpath,
    }
    named = (word for name, value in options.items() for word in ("--conf", f"{name}={value}"))
    return (str(home / "bin" / "spark-submit"), *named), env


def driver_folder(cluster: Cluster) -> PurePath:
    """In the client node's own directory, which tear-down removes."""
    places = node_paths(cluster.site, cluster.topology)
    return places.data[cluster.topology.client.name] / "tmp"


def executors(topology: AnyTopology) -> dict[str, str]:
    """Executors of equal size on each worker node, as many as use its share of its host's cores: or Spark
    would get more of a host with more nodes. They fill the smallest node's containers beside the
    ApplicationMaster's, where YARN then has no room for those of others. InputError if that is too little."""
    if not isinstance(topology, Topology):
        raise InputError(
            "the size of the nodes of an existing cluster is not known.",
            f"topology {topology.name!r}",
            "use the YARN of a cluster that a study builds.",
        )
    workers, step_mib = topology.workers, topology.variant.sizing.container_mib
    smallest_mib = min(worker.container_mib for worker in workers)
    am_mib = ceil(AM_MIB / step_mib) * step_mib  # as YARN rounds it
    room_mib = (smallest_mib - am_mib) // step_mib * step_mib
    if room_mib < EXECUTOR_MIN_MIB:
        raise InputError(
            f"YARN has {smallest_mib} MiB per node; Spark needs {EXECUTOR_MIN_MIB + am_mib} MiB.",
            f"topology {topology.name!r}",
            "use a study with more memory per host, or with fewer VMs per host.",
        )
    on_host = Counter(worker.host for worker in workers)
    of_node = {
        host.name: max(1, host.cores // max(1, on_host[host.name])) for host in topology.hosts
    }
    share = min(min(worker.cores, of_node[worker.host]) for worker in workers)
    cores = min(share, EXECUTOR_MAX_CORES)
    on_node = min(share // cores, room_mib // (ceil(EXECUTOR_MIN_MIB / step_mib) * step_mib))
    size_mib = min(room_mib // on_node // step_mib * step_mib, cores * EXECUTOR_CORE_MIB)
    return {
        "spark.executor.instances": str(on_node * len(workers)),
        "spark.executor.cores": str(cores),
        "spark.executor.memory": f"{size_mib // 2}m",
        "spark.executor.memoryOverhead": f"{size_mib - size_mib // 2}m",
    }


def driver_address(topology: Placed) -> str:
    """Address of this machine that the cluster's nodes can reach: the source of the route to the master."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((topology.master.address, 9))  # sends nothing
        return str(probe.getsockname()[0])
