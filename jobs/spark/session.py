"""The Spark session: local, small and quiet, started once per process.

Imports here are minimal: callers start Spark, and import numpy, scipy and others meanwhile.

Under `spark-submit`, the submitted master and options override those given here.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import IO

import pyspark
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from density_study.cluster.model.errors import StudyError
from density_study.cluster.render.names import is_plain
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.stack.java import find_java
from density_study.cluster.state import shell
from density_study.cluster.state.limits import check_limits
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.state.scratch import SPARK, allows_programs, scratch
from density_study.workloads.tables.storage import file_sizes

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Engine:
    """`options`: Spark options. `environment`: variables of the process that starts Spark. `python`:
    interpreter of the executors. `address`: address of the driver, which executors connect to."""

    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable
    address: str = LOOPBACK

    @property
    def uses_yarn(self) -> bool:
        return self.options.get("spark.master") == "yarn"


ARCHIVE = Path(pyspark.__file__).with_name("classes.jsa")
"""Beside the jars that it is bound to, like the archives of the other stacks. `study setup` makes it."""
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_ERROR = re.compile(r"(Caused by: )?[\w.]+(Error|Exception)\b")
_QUIET = Path(__file__).with_name("log4j2.properties")

# Only the C1 compiler and one GC thread: most queries take about a second, so optimising compilation costs
# more than it saves. On two cores, session and first query took 10 s, against 15 s with the JVM's defaults.
# The code cache has its size with C2, because the 48 MiB default of C1 fills up in minutes. Metaspace starts
# at its final size, because each growth is a stop-the-world collection. Half of the heap is young, because
# queries leave little behind: a twentieth less processor time for 100 trials. User options
# (spark.driver.extraJavaOptions) follow these and override them. JVM warnings go to standard error, which
# is shown only if the JVM does not start.
_JVM = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=256m",
    "-XX:NewRatio=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-Xlog:disable",
    "-Xlog:all=warning:stderr",
    "-Djava.library.path=/usr/lib",  # not LD_LIBRARY_PATH, which may lead to another Hadoop's native code
    f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
)

# With megabytes of data, adaptive planning and starting a task take longer than execution.
_FEW_BYTES, _BYTES_PER_PARTITION = 512 * 2**20, 128 * 2**20
_ADAPTIVE, _PARTITIONS = "spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions"
_SCAN_PARTITIONS = "spark.sql.files.minPartitionNum"
# Below the size of one partition, so does generating Java for a query and compiling it. One of the options
# alone changes nothing: without whole stages, Spark generates single expressions.
_WHOLE_STAGE, _EXPRESSIONS = "spark.sql.codegen.wholeStage", "spark.sql.codegen.factoryMode"
_INTERPRETED, _GENERATED = "NO_CODEGEN", "FALLBACK"

# Options of the launcher JVM, which only prints the command line of Spark's JVM.
_LAUNCHER_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

_OPTIONS = {
    "spark.app.name": "density-study",
    "spark.master": "local[*]",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.explainMode": "simple",  # each query's plan becomes text even without a UI
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Other users of this machine can connect to loopback. Spark makes the secret itself, and no command line
    # shows it.
    "spark.authenticate": "true",
    _ADAPTIVE: "false",
    _PARTITIONS: "1",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
_LOCAL_FILES = {"spark.hadoop.fs.defaultFS": "file:///"}
"""Without a cluster. With one, its own configuration names the file system."""


_LINES = 4
_REMEDY = (
    "correct what Java names. If it is memory, stop other programs or raise the limits of this shell "
    "(ulimit -a); if it is Java itself, set JAVA_HOME to another JDK 17 or 21."
)
_STARTING = Lock()
_engine = Engine()  # this machine, with all its cores


def spark_session() -> SparkSession:
    """The session of this process, shared by its threads, started on first use. StudyError if no Java
    starts."""
    with _STARTING:
        _context()
        return SparkSession.builder.getOrCreate()


def start_spark() -> None:
    """Start the session in the background if there is none; return at once. A later `spark_session` waits
    for it, or gets its error."""

    def start() -> None:
        with suppress(StudyError):
            spark_session()

    Thread(target=start, daemon=True).start()


def use(engine: Engine) -> None:
    """Set the engine of `spark_session`. Call this before the first session."""
    global _engine
    _engine = engine


def archiving_to(archive: Path) -> None:
    """Let the session's JVM write the classes that it loaded to `archive` when it ends."""
    use(Engine({_JAVA_OPTIONS: f"-XX:ArchiveClassesAtExit={archive}"}))


def stop() -> None:
    """Stop the session of this process, if there is one."""
    with _STARTING:
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()


def _context() -> SparkContext:
    # spark-submit has started the JVM, or another thread has started a context
    if under_spark_submit() or SparkContext._active_spark_context is not None:
        return SparkContext.getOrCreate()
    try:
        return _start(_engine)
    except Py4JJavaError as error:
        raise StudyError(
            f"Spark did not start: {cause_of(error)}",
            _engine.options.get("spark.master", "local"),
            "check that YARN has free memory; the containers' logs are in the build's folder."
            if _engine.uses_yarn
            else _REMEDY,
        ) from error


def under_spark_submit() -> bool:
    """Whether spark-submit has started this process, and Spark's JVM with the user's options."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def tune(spark: SparkSession, run_root: Path) -> None:
    """Fit the SQL options to the amount of raw data in the run's records. User options (`--conf`) win."""
    size = _raw_bytes(run_root)
    partitions = str(max(1, size // _BYTES_PER_PARTITION))
    generates = size >= _BYTES_PER_PARTITION
    fitting = {
        "spark.sql.session.timeZone": "UTC",
        _ADAPTIVE: str(size >= _FEW_BYTES).lower(),
        _WHOLE_STAGE: str(generates).lower(),
        _EXPRESSIONS: _GENERATED if generates else _INTERPRETED,
        **dict.fromkeys((_PARTITIONS, _SCAN_PARTITIONS), partitions),
    }
    for name, value in fitting.items():
        if not _is_existing(spark, name):
            spark.conf.set(name, value)


def _is_existing(spark: SparkSession, name: str) -> bool:
    """Whether the user set the option, here or for `spark-submit`."""
    if under_spark_submit():
        return spark.sparkContext.getConf().contains(name)
    return name in _engine.options


def _raw_bytes(run_root: Path) -> int:
    """Total size of the trials' raw files. Other files next to the trials' folders do not count."""
    sizes = file_sizes(run_root / "records").items()
    return sum(size for name, size in sizes if name.split("/")[1:2] in (["raw"], ["monitor"]))


def _start(engine: Engine) -> SparkContext:
    """Start Spark's JVM. InputError if this machine does not allow it, StudyError if it does not start."""
    check_limits()
    shell.clean(hosted=True)  # also of programs that are not ours: a task of Airflow, a notebook
    os.environ["JAVA_HOME"] = str(find_java().home)
    os.environ["PYSPARK_PYTHON"] = engine.python
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)  # PySpark would look in .. first
    os.environ["SPARK_LOCAL_IP"] = engine.address
    os.environ["SPARK_LAUNCHER_OPTS"] = " ".join(_LAUNCHER_JVM)
    os.environ.update(engine.environment)
    own = _scratch()
    places = {
        "spark.driver.host": engine.address,
        "spark.driver.bindAddress": engine.address,
        "spark.local.dir": str(own),
        **({} if engine.uses_yarn else _LOCAL_FILES),
    }
    options = _OPTIONS | places | dict(engine.options)
    conf = SparkConf(loadDefaults=False).setAll(list(options.items()))
    archived = (
        (f"-XX:SharedArchiveFile={ARCHIVE}",) if ARCHIVE.exists() and is_plain(ARCHIVE) else ()
    )
    java_options = (*_JVM, *archived, f"-Djava.io.tmpdir={own}", options.get(_JAVA_OPTIONS, ""))
    conf.set(_JAVA_OPTIONS, " ".join(java_options).strip())
    with tempfile.TemporaryFile() as stderr:
        try:
            gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            raise _no_jvm(stderr) from error
    return SparkContext(conf=conf, gateway=gateway)


def _scratch() -> Path:
    """A folder for shuffles and unpacked native libraries. Deleted when the process ends; if it is killed,
    the next one deletes it."""
    usual = Path(tempfile.gettempdir())
    places = (usual, cache_root(), Path("/var/tmp"))
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(scratch(next(filter(_is_fit, places), usual), SPARK))


def _is_fit(folder: Path) -> bool:
    """Native libraries can be loaded there, and Spark does not split the path at a comma or a space."""
    return folder.is_dir() and allows_programs(folder) and is_plain(folder)


def cause_of(error: Exception) -> str:
    """The cause of an error, in one line. For an error in Spark, this is the innermost error of the Python
    task or of the JVM. The full error is the StudyError's __cause__, and in the log."""
    if isinstance(error, OSError):
        return why_unread(error)
    lines = [line.strip() for line in str(getattr(error, "java_exception", error)).splitlines()]
    errors = [line for line in lines if _ERROR.match(line)]
    return (errors[-1:] or lines or ["no reason given"])[0]


def _no_jvm(stderr: IO[bytes]) -> StudyError:
    """With Java's own words: the first lines name the cause, and a stack trace may follow."""
    stderr.seek(0)
    lines = stderr.read().decode(errors="replace").strip().splitlines()
    said = [line.strip() for line in lines if not line.lstrip().startswith("at ")]
    output = " | ".join(said[:_LINES]) or "it wrote nothing, so another process killed it"
    return StudyError(
        f"Spark's Java process did not start: {output}", os.environ["JAVA_HOME"], _REMEDY
    )
