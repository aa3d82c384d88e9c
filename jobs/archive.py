"""A class-data archive of Spark: its classes parsed and verified once, mapped by every JVM after that.

`python -m jobs.archive` makes it, once for each Java and PySpark; without one a session works the same
and takes longer. On two cores it saved a third of the processor time of a small run's analysis, most of
which is loading classes. The JVM binds an archive to the exact jars before it on the class path, and
silently does without it where they differ: so it lies in the environment whose jars they are, and goes
with it.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from cluster.atomic import left_aside, replacing
from cluster.errors import StudyError
from cluster.stack.java import Java, find_java

_EXIT_S = 300.0
_NAMES = "spark-*.jsa"


def archive_path(java: Java) -> Path:
    """Where the archive of this Java and PySpark lies, if it was made."""
    made_for = f"{java.home} {java.version} {pyspark.__version__} {Path(pyspark.__file__).parent}"
    name = f"spark-{hashlib.sha256(made_for.encode()).hexdigest()[:16]}.jsa"
    return Path(sys.prefix) / "share" / "density-study" / name


def archive_flags(java: Java) -> tuple[str, ...]:
    """For a JVM of Spark's; nothing where there is no archive."""
    path = archive_path(java)
    return (f"-XX:SharedArchiveFile={path}",) if path.exists() else ()


def ensure_archive() -> Path:
    """Make the archive unless it is there: half a minute, and 180 MB. One of another Java or PySpark
    goes, and half of one that was killed while it was made.

    StudyError: Java 17 is missing, or wrote no archive.
    """
    path = archive_path(find_java())
    if path.exists():
        return path
    try:
        with replacing(path) as aside:
            _record(aside)
    except OSError as error:
        raise StudyError(
            f"Java wrote no archive of Spark's classes: {error.strerror}.",
            str(path.parent),
            "check free disk space; the analysis also works without it.",
        ) from error
    for other in (*path.parent.glob(_NAMES), *left_aside(path.parent, _NAMES)):
        if other != path:
            other.unlink(missing_ok=True)  # a JVM that has it mapped keeps it until it ends
    return path


def _record(archive: Path) -> None:
    """Do what an analysis does, on tables without rows, in a JVM that archives its classes as it
    exits."""
    from jobs.session import start_context  # it reads the archive that is made here

    context = start_context(f"-XX:ArchiveClassesAtExit={archive}")
    jvm: subprocess.Popen[bytes] = context._gateway.proc  # type: ignore[union-attr]
    try:
        with tempfile.TemporaryDirectory() as folder:
            _rehearse(SparkSession(context), Path(folder))
        context.stop()
    finally:
        assert jvm.stdin is not None
        jvm.stdin.close()  # the gateway ends when its input does, and writes the archive
        jvm.wait(_EXIT_S)


def _rehearse(spark: SparkSession, run_root: Path) -> None:
    # imported here: who only asks for the archive's flags is about to start a JVM, and soon
    from analysis.store import write_rows
    from analysis.tables import TABLES
    from jobs import checks, ingest, pipeline, price_performance, setting_metrics, store
    from jobs.run_job import read_inputs

    for table in TABLES.values():
        write_rows(run_root, table, [])
    ingest.ingest_files(lambda: spark, run_root, [])
    spark.sparkContext.parallelize([0], 1).map(abs).collect()  # as tasks in Python are carried out
    jobs = (
        *pipeline.METRIC_JOBS,
        checks,
        *pipeline.SERIES_JOBS,
        setting_metrics,
        price_performance,
    )
    for job in jobs:
        frame = job.transform(read_inputs(spark, run_root, job.INPUTS))
        store.write(frame, run_root, job.TABLE)


def main() -> int:
    """0 when the archive is there."""
    try:
        print(ensure_archive())
    except StudyError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
