"""Class paths, each as a file of arguments that `java` reads: 180 jars would drown a command line."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal

from cluster.render.blueprint import InstallDirs

StackName = Literal["hadoop", "hbase"]
SUFFIX = ".classpath"


def classpath_files(homes: InstallDirs, conf: PurePath) -> dict[str, str]:
    """Both argument files of one conf folder. The folder comes last: a class-data archive binds to
    the jars before it, and may hold no folder."""
    paths = {"hadoop": homes.hadoop_classpath, "hbase": homes.hbase_classpath}
    return {f"{stack}{SUFFIX}": _arguments(*path, str(conf)) for stack, path in paths.items()}


def classpath_flag(conf: PurePath, stack: StackName) -> str:
    """The argument that makes `java` read the file."""
    return f"@{conf}/{stack}{SUFFIX}"


def _arguments(*entries: str) -> str:
    """Quoted, one entry a line: within quotes a backslash ends a line that goes on."""
    return '-cp "' + ":\\\n".join(entries) + '"\n'
