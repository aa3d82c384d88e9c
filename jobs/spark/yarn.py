"""The analysis on the YARN of a cluster that the project built. Pure: starts nothing."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.clients.spark_on_yarn import driver_address, spark_options
from density_study.cluster.model.cluster import CLUSTER, Cluster, read_cluster
from density_study.cluster.model.errors import InputError
from density_study.jobs.spark.python_archive import PYTHON
from density_study.jobs.spark.session import Engine
from density_study.workloads.tables.storage import NAMENODES


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
    """Spark on the cluster's YARN with the driver on this machine, and Python in an archive. InputError if
    the nodes' containers are too small."""
    points = cluster.endpoints
    conf = str(cluster.site.root.absolute() / "conf" / "client")
    known = {NAMENODES: f"{points.one('namenode.rpc')}={points.one('namenode.http')}"}
    archive = {"spark.archives": f"{python_archive.absolute().as_uri()}#python"}
    environment = {"HADOOP_CONF_DIR": conf, "YARN_CONF_DIR": conf, **known}
    address = driver_address(cluster.topology)
    return Engine(
        spark_options(cluster, known) | archive, environment, f"./python/{PYTHON}", address
    )
