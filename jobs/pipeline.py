"""The analysis of a run, in four stages. Needs the run's folder alone; no cluster, no network.

Each stage reads what the one before wrote and replaces its own tables whole, so that a stage, or all
of them, can be repeated at any time and gives the same again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial, reduce
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from analysis import tables
from analysis.store import read_table, write_table
from analysis.tables import Table
from cluster.journal import Journal
from jobs import (
    ahead,
    bring_up_times,
    checks,
    latency,
    latency_curves,
    price_performance,
    rate_series,
    setting_metrics,
    steadiness,
    store,
    throughput,
    utilization,
)
from jobs import ingest as ingesting
from jobs.published import page_of, point_to_newest
from jobs.run_folder import require_inside
from jobs.run_job import Inputs, read_inputs
from jobs.session import spark_session, tune


class Job(Protocol):
    """A module that makes rows of its TABLE out of INPUTS."""

    @property
    def __name__(self) -> str: ...

    @property
    def TABLE(self) -> Table: ...  # noqa: N802  a constant of the module

    @property
    def INPUTS(self) -> Sequence[Table]: ...  # noqa: N802

    def transform(self, inputs: Inputs) -> DataFrame: ...


METRIC_JOBS: tuple[Job, ...] = (utilization, latency, throughput)
SERIES_JOBS: tuple[Job, ...] = (rate_series, latency_curves, steadiness, bring_up_times)
SETTING_JOBS: tuple[Job, ...] = (setting_metrics, price_performance)
AT_ONCE = 2
"""While Spark computes one job's table it plans the next one's; tasks at once stay as many as cores."""


def analyse(run_root: Path, data: Path | None = None) -> Path:
    """All four stages. Returns the path of the report.

    data: the folder or URI that holds records/ and tables/, where it is not the run's own folder;
    of a URI the journal and the report stay in the run's folder.
    """
    make_tables(run_root, data)
    return publish(run_root, data)


def make_tables(run_root: Path, data: Path | None = None) -> None:
    """The first three stages in one process: what happened within trials is found while the verdicts
    are, for which it does not wait."""
    ahead.begin()
    ingest(run_root, data)
    at = data or run_root
    spark = _session(at)
    with ThreadPoolExecutor(1) as aside:
        series = aside.submit(_write_all, spark, at, SERIES_JOBS, at_once=1)
        validate(run_root, data)
        with _stage(run_root, "measure"):
            _write_all(spark, at, SETTING_JOBS)
            series.result()


def ingest(run_root: Path, data: Path | None = None) -> None:
    """Records to typed tables; lines that no parser understands to the quarantine."""
    with _stage(run_root, "ingest"):
        ingesting.ingest(spark_session, data or run_root)


def validate(run_root: Path, data: Path | None = None) -> None:
    """Numbers of every trial that ran, one row of checks made of them and of the records, and Great
    Expectations' verdict on it. Numbers come first: a client is bound, and a read cold, by them."""
    # Great Expectations takes seconds to import: while Spark computes, this process waits
    validity = Thread(target=import_module, args=("analysis.validity",), daemon=True)
    with _stage(run_root, "validate"):
        validity.start()
        at = data or run_root
        spark = _session(at)
        _write(spark, at, *METRIC_JOBS)
        _write(spark, at, checks)
        validity.join()
        from analysis.validity import decide

        docs = run_root / "report" / "data_docs"
        docs.parent.mkdir(exist_ok=True)
        verdicts = decide(read_table(at, tables.CHECKS), docs=docs)
        write_table(at, tables.VERDICTS, verdicts)


def measure(run_root: Path, data: Path | None = None) -> None:
    """What happened within each trial, and the numbers of every setting over its valid trials."""
    with _stage(run_root, "measure"):
        at = data or run_root
        spark = _session(at)
        _write_all(spark, at, (*SERIES_JOBS, *SETTING_JOBS))


def publish(run_root: Path, data: Path | None = None) -> Path:
    """summary.json and the report beside it. Returns the path of the report."""
    report = page_of(run_root)
    with _stage(run_root, "publish"):
        from analysis.report import page
        from analysis.summarise import write_summary

        page.write(write_summary(run_root, data), report)
        point_to_newest(run_root)
    return report


def _write_all(
    spark: SparkSession, run_root: Path, jobs: Sequence[Job], at_once: int = AT_ONCE
) -> None:
    """Write each job's table, after those that it reads."""
    waiting = list(jobs)
    while waiting:
        unmade = {job.TABLE for job in waiting}
        ready = [job for job in waiting if unmade.isdisjoint(job.INPUTS)]
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(partial(_write, spark, run_root), ready))
        waiting = [job for job in waiting if job not in ready]


def _write(spark: SparkSession, run_root: Path, *jobs: Job) -> None:
    """Write what `jobs` make together as the table they share."""

    def frame(job: Job) -> DataFrame:
        return job.transform(read_inputs(spark, run_root, job.INPUTS))

    if len(jobs) == 1:
        store.write(frame(jobs[0]), run_root, jobs[0].TABLE)
        return

    def made(job: Job) -> DataFrame:
        store.describe(spark, f"compute {job.__name__}")
        rows = frame(job).persist()
        rows.count()
        return rows

    # Spark plans a union on one thread, which took longer than to compute it: so each is made by itself.
    with ThreadPoolExecutor(len(jobs)) as pool:
        frames = list(pool.map(made, jobs))
    store.write(reduce(DataFrame.unionByName, frames), run_root, jobs[0].TABLE)
    for rows in frames:
        rows.unpersist()


def _session(run_root: Path) -> SparkSession:
    spark = spark_session()
    tune(spark, run_root)
    return spark


@contextmanager
def _stage(run_root: Path, stage: str) -> Iterator[None]:
    """Journal when the stage began and ended: the summary says how long analysing took."""
    require_inside(run_root)
    journal = Journal(run_root / "journal.jsonl")
    journal.write("analysis-started", stage=stage)
    yield
    journal.write("analysis-ended", stage=stage)
