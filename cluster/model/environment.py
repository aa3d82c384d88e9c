"""Every environment variable that the project reads from the user or sets for its own processes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """`default` is in words: it may depend on other variables. `internal`: users must not set it."""

    name: str
    meaning: str
    default: str = "not set"
    internal: bool = False


VARIABLES: tuple[Variable, ...] = (
    Variable(
        "DENSITY_STUDY_CACHE",
        "Folder of the cached Hadoop, HBase and YCSB stacks.",
        "`$XDG_CACHE_HOME/density-study`, else `~/.cache/density-study`",
    ),
    Variable(
        "DENSITY_STUDY_RUNTIME",
        "Folder of sockets and leases. Two users need two folders; all shells of one user need the same.",
        "`/tmp/density-study-<uid>`",
    ),
    Variable(
        "DENSITY_STUDY_SSH_IDENTITY",
        "File with the private SSH key for hosts of the providers `physical` and `libvirt`.",
        "keys of the SSH agent",
    ),
    Variable(
        "DENSITY_STUDY_STUDIES",
        "More folders with scheduled studies for Airflow, separated like `PATH`.",
    ),
    Variable(
        "DENSITY_STUDY_RUNS",
        "Runs folder of scheduled studies in Airflow.",
        "`runs` in the project",
    ),
    Variable(
        "DENSITY_STUDY_NAMENODES",
        "Comma-separated `rpc-address=http-address` pairs of NameNodes, for reading `hdfs://` URIs over "
        "WebHDFS.",
        "set by an analysis on YARN for Spark's executors",
    ),
    Variable(
        "JAVA_HOME", "JDK 17 for Hadoop, HBase, YCSB and Spark.", "the JDK of `java` in `PATH`"
    ),
    Variable("MAVEN_OPTS", "More JVM options for Maven during `make setup`."),
    Variable("SSH_AUTH_SOCK", "Socket of the SSH agent."),
    Variable("XDG_CACHE_HOME", "See `DENSITY_STUDY_CACHE`.", "`~/.cache`"),
    Variable(
        "AIRFLOW_HOME", "Databases, logs and passwords of Airflow.", "`.airflow` in the project"
    ),
    Variable(
        "CHROMIUM", "Chromium that takes the screenshots for the documentation.", "from `PATH`"
    ),
    Variable(
        "SPARK_LAUNCHER_OPTS", "JVM options of Spark's launcher.", "a small, fast-starting JVM"
    ),
    Variable("STUDY_TAG", "Marks every process of a run, so that reap finds it.", internal=True),
    Variable("STUDY_NODE", "Names the node that a process belongs to.", internal=True),
    Variable("STUDY_LIFELINE_FD", "Pipe that ends a child with its parent.", internal=True),
    Variable(
        "STUDY_SCHEDULER_PID", "Scheduler of `make airflow`, owner of its runs.", internal=True
    ),
)
