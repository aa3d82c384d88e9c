"""The analysis of a run, in five stages: `spark-submit jobs/pipeline.py RUN`, `study report RUN`.

RUN is the run's folder, or the URI of a folder with its records. Each stage reads the output of the stage
before and replaces its own tables completely. So stages can be repeated at any time, with the same result.
"""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Protocol

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from density_study.analysis.explanation.explain import explained
from density_study.analysis.validity.judge import judge, verdict_row
from density_study.cluster.model.errors import StudyError
from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
from density_study.cluster.state import shell
from density_study.cluster.state.atomic import naming
from density_study.cluster.state.events import AnalysisEnded, AnalysisFailed, AnalysisStarted
from density_study.cluster.state.file_fault import fault_of, file_fault, full_disk
from density_study.cluster.state.journal import Journal
from density_study.jobs.analysis_lock import analysing
from density_study.jobs.facts.of_run import write_facts
from density_study.jobs.ingest import ingest as ingesting
from density_study.jobs.run_folder import page_of, point_to_newest, require_inside
from density_study.jobs.spark.run_tables import Inputs, RunTables, conform, describe
from density_study.jobs.spark.session import (
    cause_of,
    spark_session,
    start_spark,
    tune,
    under_spark_submit,
)
from density_study.jobs.stage_names import REPORT, STAGE_NAMES
from density_study.jobs.test_cases import bring_up_times, price_performance, test_case_metrics
from density_study.workloads import tables
from density_study.workloads.tables import Table
from density_study.workloads.tables.storage import is_local, place
from density_study.workloads.tables.store import read_arrow, write_arrow, write_rows, write_table

log = logging.getLogger(__name__)
Rest = Callable[[], None]
"""What is left of a stage, and may be done beside the next one."""


class Job(Protocol):
    """A module that computes rows of its TABLE."""

    @property
    def __name__(self) -> str: ...

    @property
    def TABLE(self) -> Table: ...  # noqa: N802  a constant of the module

    def transform(self, inputs: Inputs) -> DataFrame: ...


# The second reads the table of the first.
TEST_CASE_JOBS: tuple[tuple[Job, ...], ...] = (
    (test_case_metrics, bring_up_times),
    (price_performance,),
)
# Concurrent jobs: Spark plans one table while it computes another. Tasks still run one per core.
AT_ONCE = 2
_FULL = "No space left on device"
"""What Java reports, mostly without a path."""


def analyse(run_root: Path, data: Path | None = None, stages: Sequence[str] | None = None) -> None:
    """Run the stages in order. Each one is journalled in the run's folder, if the folder is local.

    data: the folder or URI with records/ and tables/, if that is not the run's own folder. The journal and
    the report stay in the run's folder.
    """
    prepare()
    # Whole: another analysis between two stages could bring records without metrics.
    with (
        _explained(run_root, data or run_root),
        analysing(run_root),
        ThreadPoolExecutor(1) as aside,
    ):
        rest: list[Future[None]] = []
        for name in STAGES if stages is None else stages:
            if name == REPORT:  # it links to what is made aside
                _wait(rest)
            if left := _run_stage(name, run_root, data):
                rest.append(aside.submit(left))
        _wait(rest)


def _wait(rest: Sequence[Future[None]]) -> None:
    for future in rest:
        future.result()


def prepare() -> None:
    """In the background, start Spark and import Great Expectations and scipy: seconds each, on two cores.
    Stages that need one of them wait for it."""
    start_spark()
    Thread(target=import_libraries, daemon=True).start()


def import_libraries() -> None:
    """Import what the stages import when they need it: seconds of a core."""
    logging.getLogger("great_expectations").setLevel(logging.WARNING)  # its import logs 300 lines
    import_module("density_study.analysis.validity.verdicts")
    import_module("density_study.analysis.summarise.summarise")
    import_module("scipy.stats")  # else at its first use, in the report
    with suppress(ImportError):  # a driver of only the tables needs no charts
        import_module("density_study.analysis.report.page")
        import_module("density_study.analysis.report.charts.figure").start_renderer()


def run_stage(name: str, run_root: Path) -> None:
    """Run one of STAGES, when no other process analyses the run. StudyError if its input is missing, or if
    its output cannot be written."""
    with _explained(run_root, run_root), analysing(run_root):
        if left := _run_stage(name, run_root, None):
            left()


@contextmanager
def _explained(run_root: Path, data: Path) -> Iterator[None]:
    """StudyError for a failed file operation, here, in a task of Spark or in its JVM."""
    try:
        with naming(run_root):
            yield
    except (OSError, Py4JJavaError) as error:
        log.debug("the stage failed", exc_info=error)
        fault = file_fault(error) or (full_disk(run_root) if _FULL in str(error) else None)
        raise fault or StudyError(
            f"the analysis stopped: {cause_of(error)}.",
            str(data),
            f"run it again: study report {shlex.quote(str(run_root))}; no data is lost.",
        ) from error


def _run_stage(name: str, run_root: Path, data: Path | None) -> Rest | None:
    require_inside(run_root)
    journal = Journal(run_root / "journal.jsonl") if is_local(run_root) else None
    if journal:
        journal.record(AnalysisStarted(stage=name))
    try:
        rest = STAGES[name](run_root, data or run_root)
    except Exception as error:
        if journal:
            journal.record(AnalysisFailed(stage=name, message=_in_one_line(error)))
        raise
    if journal:
        journal.record(AnalysisEnded(stage=name))
    return rest


def _in_one_line(error: Exception) -> str:
    if (fault := fault_of(error)) is not None:
        return f"{fault.where}: {fault.what}"
    return f"{type(error).__name__}: {cause_of(error)}"


def ingest(_: Path, data: Path) -> None:
    """Convert the records to typed tables; malformed lines go to the quarantine."""
    ingesting.ingest(spark_session, data)


def metrics(_: Path, data: Path) -> None:
    """Compute the facts of every trial: its metrics, what rules check, and its rates by second."""
    write_facts(partial(_session, data), data)


def verdicts(run_root: Path, data: Path) -> Rest:
    """Judge every trial by its row of checks. Great Expectations confirms the verdicts in the rest: to
    import it takes seconds, in which the next stage can wait for Spark."""
    checks = read_arrow(data, tables.CHECKS).to_pylist()
    judged = [judge(facts) for facts in checks]
    write_rows(data, tables.VERDICTS, list(map(verdict_row, checks, judged)))
    docs = run_root / "report" / "data_docs" if is_local(run_root) else None

    def rest() -> None:
        from density_study.analysis.validity.data_docs import mark_simulated
        from density_study.analysis.validity.verdicts import confirm

        if docs is not None:
            docs.parent.mkdir(exist_ok=True)
        confirm(checks, judged, docs=docs)
        if docs is not None and is_rehearsal(run_root):
            mark_simulated(docs)

    return rest


def series(_: Path, data: Path) -> None:
    """Compute the metrics of every test case over its valid trials, and what moved with slow seconds."""
    spark = _session(data)
    for jobs in TEST_CASE_JOBS:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(partial(_write, spark, data), jobs))
    for table, rows in explained(data).items():
        write_table(data, table, rows)


def report(run_root: Path, data: Path) -> None:
    """Write summary.json, the report page, and the results hub of the folder of all runs."""
    from density_study.analysis.hub.page import rebuild
    from density_study.analysis.report import page
    from density_study.analysis.summarise.summarise import write_summary

    summary = write_summary(run_root, data)
    page.write(summary, page_of(run_root))
    point_to_newest(run_root)
    study = run_root.absolute().parent
    if (
        is_local(run_root) and study.name == summary.study
    ):  # else the run is not in a folder of runs
        rebuild(study.parent)


STAGES: Mapping[str, Callable[[Path, Path], Rest | None]] = MappingProxyType(
    dict(zip(STAGE_NAMES, (ingest, metrics, verdicts, series, report), strict=True))
)
TABLE_STAGES = tuple(name for name in STAGES if name != REPORT)


def _write(spark: SparkSession, run_root: Path, job: Job) -> None:
    """Write the rows of the job as its table: a few rows per test case."""
    describe(spark, f"compute {job.__name__}")
    rows = conform(job.transform(RunTables(spark, run_root)), job.TABLE)
    write_arrow(run_root, job.TABLE, rows.toArrow())


def _session(run_root: Path) -> SparkSession:
    spark = spark_session()
    tune(spark, run_root)
    return spark


def main(argv: Sequence[str] | None = None) -> None:
    if argv is None and not under_spark_submit():
        shell.enter()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=place, help="folder, or URI of a folder, with records/ in it")
    parser.add_argument(
        "--stages", nargs="+", choices=STAGES, help="by default all; at a URI all tables"
    )
    given = parser.parse_args(argv)
    try:
        analyse(given.run, stages=given.stages or (None if is_local(given.run) else TABLE_STAGES))
    except StudyError as error:
        log.debug("the analysis failed", exc_info=error)
        sys.exit(str(error))


if __name__ == "__main__":
    main()
