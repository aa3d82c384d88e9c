"""Analyse a run with its records and tables at a URI, and with Spark on YARN: for data too large for here."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from density_study.cluster.clients.spark_on_yarn import driver_address, spark_options
from density_study.cluster.lifecycle.running_clusters import require_yarn
from density_study.cluster.model.cluster import CLUSTER, Cluster, read_cluster
from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import why_unread
from density_study.jobs.run_folder import require_inside
from density_study.jobs.spark.python_archive import PYTHON, ensure_python_archive
from density_study.jobs.spark.session import Engine, start_spark, stop, use
from density_study.workloads.tables.storage import NAMENODES, copy_missing, place

log = logging.getLogger(__name__)

YARN = "yarn"


@dataclass(frozen=True)
class AnalysisTarget:
    """master: `yarn`, or a local master (`local[2]`). build: for `yarn`, the folder of a build with a
    running cluster. store: URI with a folder per run (see `run_place`); None: the cluster's HDFS for
    `yarn`, else the run's own folder. conf: Spark options, which override ours."""

    master: str
    build: Path | None = None
    store: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


def analyse_elsewhere(run_root: Path, where: AnalysisTarget) -> None:
    """Copy the missing records of the run to the store, build the tables there, and write the report to
    the run's own folder.

    InputError before anything starts; StudyError if Spark or the filesystem fails.
    """
    if where.store is not None and "://" not in where.store:
        raise InputError(
            f"{where.store!r} is a folder of this machine; executors on other hosts cannot read it.",
            "--store",
            "use a URI, for example hdfs://namenode:port/folder or s3a://bucket/folder.",
        )
    engine, store = _engine(where)
    require_inside(run_root)
    use(replace(engine, options={**engine.options, **_with_event_log(where.conf, run_root)}))
    start_spark()  # in parallel with the copying and the imports
    data = run_place(store, run_root) if store is not None else None
    if data is not None:
        copied = copy_missing(run_root / "records", data / "records")
        log.info("Copied %d files of the records to %s", copied, data)
    from density_study.jobs import pipeline

    try:
        pipeline.analyse(run_root, data)
    finally:
        stop()


def _with_event_log(conf: Mapping[str, str], run_root: Path) -> Mapping[str, str]:
    """Write event logs to the run's folder, unless the user names another folder."""
    if conf.get("spark.eventLog.enabled") != "true" or "spark.eventLog.dir" in conf:
        return conf
    folder = run_root.absolute() / "spark-events"
    folder.mkdir(exist_ok=True)
    return {**conf, "spark.eventLog.dir": folder.as_uri()}


def run_place(store: str, run_root: Path) -> Path:
    """<store>/<study>/<run-id>, with records/ and tables/. Reading one run, or all runs of a study, never
    lists the folders of other studies."""
    study, run = run_root.absolute().parts[-2:]
    return place(f"{store.rstrip('/')}/{study}/{run}")


def _engine(where: AnalysisTarget) -> tuple[Engine, str | None]:
    if where.master != YARN:
        return Engine({"spark.master": where.master}), where.store
    if where.build is None:
        raise InputError(
            "no cluster is named, and no running cluster was found.",
            "--cluster",
            "name the folder of a build with a running cluster: runs/<study>/<run-id>/builds/<build>.",
        )
    cluster = standing_cluster(where.build)
    require_yarn(where.build, cluster)
    own = f"hdfs://{cluster.endpoints.one('namenode.rpc')}/study/runs"
    return yarn_engine(cluster, ensure_python_archive()), where.store or own


def standing_cluster(build: Path) -> Cluster:
    """The cluster in the folder of a build. InputError if the build has no cluster."""
    try:
        return read_cluster(build)
    except (OSError, ValueError) as error:
        raise InputError(
            f"this build has no cluster: {why_unread(error)}.",
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
