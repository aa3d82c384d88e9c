"""The Spark session: local, small, quiet, started once a process.

Under `spark-submit` the submitted master and options win over those given here.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from threading import Lock
from typing import IO

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from analysis.places import file_sizes
from cluster.errors import StudyError
from cluster.stack.java import find_java
from jobs.archive import archive_flags
from jobs.engine import LOCAL, Engine

_HEAP = "1g"
_QUIET = Path(__file__).with_name("log4j2.properties")

# C1 only and one collector thread: most queries live for a second, so compiling costs more than it
# gives. On two cores session and first query took 10 s against 15 s with the JVM's own choice. The
# code cache is as large as with C2; the 48 MiB of C1 alone fill up in minutes. Heap and metaspace begin
# at the size they come to: each growth on the way there is a collection for which all threads wait.
# The JVM's own warnings go to standard error, which is shown only where it does not start.
_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    f"-Xms{_HEAP}",
    "-XX:MetaspaceSize=256m",
    "-XX:ReservedCodeCacheSize=240m",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
)

# Of a run of some megabytes nearly all time goes to compiling and re-planning queries: interpreted
# and planned once they take half of it.
_SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
}
_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
# Planned once, too: stages that are planned one by one wait for each other.
_MEDIUM = {**_COMPILED, "spark.sql.adaptive.enabled": "false"}
_MEDIUM_FROM_BYTES = 128 * 2**20
# Joins shuffle partitions that are too small, divides those that are too large.
_LARGE = {**_COMPILED, "spark.sql.adaptive.enabled": "true"}
_LARGE_FROM_BYTES = 512 * 2**20
_BYTES_A_PARTITION = 16 * 2**20

# Of the JVM that does nothing but print the other one's command line.
_LAUNCHER_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

_LONGEST_SOCKET_NAME = len("/.00000000-0000-0000-0000-000000000000.sock")
_LONGEST_SOCKET_PATH = 107  # bytes, on Linux

_OPTIONS = {
    "spark.app.name": "density-study",
    "spark.master": "local[*]",
    "spark.driver.memory": _HEAP,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    **_SMALL,
    # The tables are sorted, written once and renamed: no success marker, no summary files.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}


_STARTING = Lock()


def spark_session() -> SparkSession:
    """This process' session, for any of its threads, started if there is none. StudyError without a
    Java 17 that starts."""
    with _STARTING:
        _context()
        return SparkSession.builder.getOrCreate()


def connect(engine: Engine) -> SparkSession:
    """This process' session on `engine`; to be called before any other. StudyError if Spark does not
    start there."""
    try:
        start_context(*archive_flags(find_java()), engine=engine)
    except Py4JJavaError as error:
        raise StudyError(
            f"Spark did not start: {str(error.java_exception).splitlines()[0]}",
            engine.options.get("spark.master", "local"),
            "see that YARN has room for it; its containers' logs are in the build's folder.",
        ) from error
    return SparkSession.builder.getOrCreate()


def _context() -> SparkContext:
    # spark-submit has started the JVM, or `connect` or another thread a context
    if "PYSPARK_GATEWAY_PORT" in os.environ or SparkContext._active_spark_context is not None:
        return SparkContext.getOrCreate()
    return start_context(*archive_flags(find_java()))


def tune(spark: SparkSession, run_root: Path) -> None:
    """Set the session's SQL options for the amount of raw data in the run's records."""
    sizes = file_sizes(run_root / "records").items()
    # strangers' files may lie beside the trials' folders
    size = sum(number for name, number in sizes if name.split("/")[1:2] in (["raw"], ["monitor"]))
    for name, value in _options_for(size).items():
        spark.conf.set(name, value)


def _options_for(size: int) -> dict[str, str]:
    """size: bytes of raw data."""
    if size < _MEDIUM_FROM_BYTES:
        return _SMALL
    options = _MEDIUM if size < _LARGE_FROM_BYTES else _LARGE
    return {**options, "spark.sql.shuffle.partitions": str(max(4, size // _BYTES_A_PARTITION))}


def start_context(*flags: str, engine: Engine = LOCAL) -> SparkContext:
    """A JVM of Spark's with `flags` beside the usual ones. StudyError if it does not start."""
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ["PYSPARK_PYTHON"] = engine.python
    os.environ["SPARK_LOCAL_IP"] = engine.address
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", " ".join(_LAUNCHER_JVM))
    os.environ.update(engine.environment)
    addresses = {"spark.driver.host": engine.address, "spark.driver.bindAddress": engine.address}
    options = _OPTIONS | addresses | dict(engine.options)
    conf = SparkConf(loadDefaults=False).setAll(list(options.items()))
    conf.set("spark.driver.extraJavaOptions", " ".join((*_JVM, *flags)))
    scratch = _scratch()
    conf.set("spark.local.dir", scratch)
    if options["spark.master"].startswith("local"):
        conf.setAll(_worker_sockets(scratch))
    with tempfile.TemporaryFile() as stderr:
        try:
            gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            raise _no_jvm(stderr) from error
    return SparkContext(conf=conf, gateway=gateway)


def _scratch() -> str:
    """A folder for shuffles that goes with the process, even when the JVM is killed."""
    folder = tempfile.mkdtemp(prefix="density-study-spark-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _worker_sockets(folder: str) -> list[tuple[str, str]]:
    """Options that let the JVM and its Python workers meet at socket files in `folder`: over loopback
    TCP an empty task takes twice as long."""
    if len(os.fsencode(folder)) + _LONGEST_SOCKET_NAME > _LONGEST_SOCKET_PATH:
        return []
    prefix = "spark.python.unix.domain.socket"
    return [(f"{prefix}.enabled", "true"), (f"{prefix}.dir", folder)]


def _no_jvm(stderr: IO[bytes]) -> StudyError:
    stderr.seek(0)
    said = " | ".join(stderr.read().decode(errors="replace").strip().splitlines()[-3:])
    return StudyError(
        f"Spark's Java process did not start: {said}",
        os.environ["JAVA_HOME"],
        "free some memory, or set JAVA_HOME to another JDK 17.",
    )
