"""The user's shell: what of its environment, umask and limits reaches this program and what it starts.

A shell is furnished for other programs: another Hadoop, Spark, Airflow or Python. Their variables would
change what is measured and analysed here, and no message would name them. Every program of this project
therefore begins with `enter`: its libraries and its children see a `cleaned` environment. Daemons and
clients get even less: `cluster.machine.processes.environment`.

Standard library only, and little of it, because this comes before every other import.
"""

from __future__ import annotations

import os
import re
import resource
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

_FAMILIES = (
    "ACCUMULO", "AEROSPIKE", "CASSANDRA", "FLINK", "HADOOP", "HBASE", "HDFS", "HIVE", "KUDU", "LIBHDFS",
    "MAPRED", "MAPREDUCE", "PY4J", "PYSPARK", "REDIS", "REDISCLI", "SPARK", "TEZ", "YARN", "YCSB", "ZK",
    "ZOO", "ZOOKEEPER",
    "IBM_JAVA", "JAVA", "JDK", "JRE", "M2", "MAVEN", "MVN", "OPENJ9", "_JAVA",
    "ANSIBLE", "ARROW", "GE", "GIT", "GREP", "GX", "LC", "LIBVIRT", "SQLALCHEMY", "VIRSH",
    "BASH_FUNC",
)  # fmt: skip
"""HADOOP stands for HADOOP and every HADOOP_..."""
_NAMES = (
    "BASHOPTS", "BASH_ENV", "CDPATH", "CLASSPATH", "CURL_HOME", "ENV", "GLOBIGNORE", "JAVACMD", "LANG",
    "LANGUAGE", "LD_AUDIT", "LD_PRELOAD", "PERL5LIB", "PERL5OPT", "POSIXLY_CORRECT", "SHELLOPTS", "ZOOCFG",
    "ZOOCFGDIR", r"KRB5\w*",
)  # fmt: skip
_HOSTS = (r"_?AIRFLOW_\w*", r"PYTHON\w*")
"""Variables of whoever started Python: the user's shell, or an Airflow that the user runs."""
_KEPT = (
    r"AIRFLOW_CONN_\w+", "HBASE_HOME", "JAVA_HOME", "KRB5CCNAME", "KRB5_CONFIG", "MAVEN_OPTS",
    "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONUNBUFFERED",
)  # fmt: skip
"""Choices of the user, documented in docs/reference/environment.md, and where byte code and output go."""
_TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_LOCALE = {"LC_ALL": "C.UTF-8"}
"""For Python, Java and shells alike: paths in UTF-8, decimal points, and `i` as the small letter of `I`."""
_DIRECT = ("127.0.0.1", "localhost")
_WRITE_BY_OTHERS = 0o022
OPEN_FILES = 65_536
"""Limit of open files, more than any process here opens."""


def _pattern(*names: str) -> re.Pattern[str]:
    return re.compile("|".join(names), re.DOTALL)


_FOREIGN = _pattern(*(rf"{family}(_.*)?" for family in _FAMILIES), *_NAMES)
_HOST, _CHOICE = _pattern(*_HOSTS), _pattern(*_KEPT)
_PROXY = re.compile(r"(https?|all)_proxy", re.IGNORECASE)


def cleaned(environ: Mapping[str, str], hosted: bool = False) -> dict[str, str]:
    """`environ` without what it says to other programs, and in the locale C.UTF-8.

    A temporary folder that cannot be used is left out. No proxy is used for this machine itself.
    `hosted`: this process belongs to an Airflow that the user runs, which keeps its own variables.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if _is_kept(name, hosted) and (name not in _TEMPORARY or _is_usable(Path(value)))
    }
    if any(_PROXY.fullmatch(name) for name in kept):
        given = kept.get("no_proxy") or kept.get("NO_PROXY", "")
        direct = ",".join(dict.fromkeys((*filter(None, given.split(",")), *_DIRECT)))
        kept |= {"no_proxy": direct, "NO_PROXY": direct}
    return kept | _LOCALE


def _is_kept(name: str, hosted: bool) -> bool:
    if _CHOICE.fullmatch(name):
        return True
    return not _FOREIGN.fullmatch(name) and (hosted or not _HOST.fullmatch(name))


def _is_usable(folder: Path) -> bool:
    """Also False for a folder in which every user can replace what this one puts there."""
    if not (folder.is_absolute() and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return False
    mode = folder.stat().st_mode
    return not mode & stat.S_IWOTH or bool(mode & stat.S_ISVTX)


def clean(hosted: bool = False) -> None:
    """Clean the environment of this process, and so that of everything it starts from now on."""
    wanted = cleaned(os.environ, hosted)
    for name in os.environ.keys() - wanted.keys():
        del os.environ[name]
    os.environ.update(wanted)


def enter() -> None:
    """The first act of a program: a clean environment, files that only their owner can change, and as many
    open files as the user may have.

    Python itself has read some variables when it started. It starts again without them.
    """
    misled = sys.getfilesystemencoding() != "utf-8" or any(
        re.fullmatch(r"PYTHON\w*", name) and not _CHOICE.fullmatch(name) for name in os.environ
    )
    for stream in range(3):
        # the next file that is opened, perhaps a journal, would take the place of a closed one
        try:
            os.fstat(stream)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            misled = True
    clean()
    os.umask(os.umask(0o077) | _WRITE_BY_OTHERS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    if misled:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
