"""The archive of Spark's classes: parsed and verified once, mapped by every session after that.

    python -m density_study.jobs.class_archive FILE

Makes one by a session that runs the queries of an analysis. With it, the start of a session and its first
queries take half the processor time. The JVM binds an archive to the exact Java and jars, and silently starts
without it where they differ.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession

from density_study.cluster.stack.archive import ensure_archive
from density_study.cluster.stack.java import find_java
from density_study.jobs.pipeline import TEST_CASE_JOBS
from density_study.jobs.spark.run_tables import struct
from density_study.jobs.spark.session import ARCHIVE, archiving_to, spark_session
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_table

_TIMEOUT_S = 600.0


def ensure_class_archive() -> str:
    """Make the archive, in some 15 s, unless there is one of this Java and these jars. Returns why there is
    none; empty if there is one."""
    java = find_java()
    if not os.access(ARCHIVE.parent, os.W_OK):
        return f"you may not write to {ARCHIVE.parent}."
    try:
        ensure_archive(ARCHIVE, f"{java.home} {java.version} {_jars()}", _make)
    except (OSError, subprocess.SubprocessError) as error:
        return f"{error}."
    return ""


def _jars() -> str:
    """A digest of what the JVM compares: it takes no archive of other jars."""
    infos = [(jar.name, jar.stat()) for jar in sorted((ARCHIVE.parent / "jars").iterdir())]
    listed = repr([(name, info.st_size, info.st_mtime_ns) for name, info in infos])
    return hashlib.sha256(listed.encode()).hexdigest()


def _make(archive: Path) -> None:
    ARCHIVE.unlink(missing_ok=True)  # a session that makes one cannot use one
    command = [sys.executable, "-m", __name__, str(archive)]
    subprocess.run(command, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=True)
    if not archive.exists():
        raise FileNotFoundError(
            "Java wrote no archive, as one without an archive of its own does not"
        )


class _OneRowEach(dict[Table, DataFrame]):
    """Tables of a row without values: Spark would leave out most of a query on empty ones."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self._spark = spark

    def __missing__(self, table: Table) -> DataFrame:
        return self._spark.createDataFrame(arrow_table(table, [{}]), struct(table))


def main() -> None:
    archiving_to(Path(sys.argv[1]))
    spark = spark_session()
    for job in chain.from_iterable(TEST_CASE_JOBS):
        rows: pa.Table = job.transform(_OneRowEach(spark)).toArrow()
        rows.validate()
    spark.sparkContext.parallelize([0], 1).map(str).collect()  # ingest is such a task
    gateway: Any = SparkContext._gateway
    spark.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(_TIMEOUT_S)  # it writes the archive when it ends


if __name__ == "__main__":
    main()
