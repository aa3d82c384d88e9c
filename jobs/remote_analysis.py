"""A run analysed where its data outgrow this machine: records and tables at a URI, Spark on YARN."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from analysis.tables.storage import copy_missing, place
from cluster.lifecycle.running_clusters import require_yarn
from cluster.model.errors import InputError
from jobs import preload
from jobs.run_folder import require_inside
from jobs.spark.engine import Engine
from jobs.spark.python_archive import ensure_python_archive
from jobs.spark.session import stop, use
from jobs.spark.yarn import standing_cluster, yarn_engine

log = logging.getLogger(__name__)

YARN = "yarn"


@dataclass(frozen=True)
class AnalysisTarget:
    """master: `yarn`, or one of Spark's own on this machine (`local[2]`). build: the folder of the
    build whose cluster stands, for `yarn`. store: URI below which every run has its folder (see
    `run_place`); None: of `yarn` the cluster's HDFS, else the run's own folder. conf: options of
    Spark's, which win over ours."""

    master: str
    build: Path | None = None
    store: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)


def analyse_elsewhere(run_root: Path, where: AnalysisTarget) -> None:
    """Copy to the store what it lacks of the run's records, make the tables there, and the report
    in the run's own folder.

    InputError before anything is started; StudyError if Spark or the filesystem fails.
    """
    if where.store is not None and "://" not in where.store:
        raise InputError(
            f"{where.store!r} is a folder of this machine, which executors elsewhere cannot read.",
            "--store",
            "name a URI: hdfs://namenode:port/folder, s3a://bucket/folder.",
        )
    engine, store = _engine(where)
    require_inside(run_root)
    use(replace(engine, options={**engine.options, **_with_event_log(where.conf, run_root)}))
    preload.start_spark()  # beside the copying and the imports
    data = run_place(store, run_root) if store is not None else None
    if data is not None:
        copied = copy_missing(run_root / "records", data / "records")
        log.info("%d files of the records were copied to %s", copied, data)
    from jobs import pipeline

    try:
        pipeline.analyse(run_root, data)
    finally:
        stop()


def _with_event_log(conf: Mapping[str, str], run_root: Path) -> Mapping[str, str]:
    """An event log goes to the run's folder, unless the user names another."""
    if conf.get("spark.eventLog.enabled") != "true" or "spark.eventLog.dir" in conf:
        return conf
    folder = run_root.absolute() / "spark-events"
    folder.mkdir(exist_ok=True)
    return {**conf, "spark.eventLog.dir": folder.as_uri()}


def run_place(store: str, run_root: Path) -> Path:
    """<store>/<study>/<run-id>, with records/ and tables/ in it: to read a run, or all runs of a
    study, nobody looks at another study's folder, however many there are."""
    study, run = run_root.absolute().parts[-2:]
    return place(f"{store.rstrip('/')}/{study}/{run}")


def _engine(where: AnalysisTarget) -> tuple[Engine, str | None]:
    if where.master != YARN:
        return Engine({"spark.master": where.master}), where.store
    if where.build is None:
        raise InputError(
            "which cluster's YARN is not said, and none that the project built stands.",
            "--cluster",
            "name the folder of a build whose cluster stands: runs/<study>/<run-id>/builds/<build>.",
        )
    cluster = standing_cluster(where.build)
    require_yarn(where.build, cluster)
    own = f"hdfs://{cluster.endpoints.namenode_rpc}/study/runs"
    return yarn_engine(cluster, ensure_python_archive()), where.store or own
