"""Commands for people who use a cluster: `hdfs`, `hadoop`, `yarn`, `mapred` and `hbase` as short scripts.

The stacks are jars from Maven Central, without the scripts of Hadoop's and HBase's distributions.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.memory import CLIENT_HEAP_MIB
from density_study.cluster.render.conf_files import StackName, classpath_flag, log_flags
from density_study.cluster.render.jvm import ADD_OPENS, FAST_START, NETTY, heap_flags

_FS = "org.apache.hadoop.fs.FsShell"
_YARN = "org.apache.hadoop.yarn.client.cli"
_HDFS = "org.apache.hadoop.hdfs.tools"
COMMANDS: Mapping[str, tuple[StackName, Mapping[str, str]]] = {
    "hadoop": ("hadoop", {"fs": _FS, "jar": "org.apache.hadoop.util.RunJar"}),
    "hdfs": ("hadoop", {"dfs": _FS, "dfsadmin": f"{_HDFS}.DFSAdmin", "fsck": f"{_HDFS}.DFSck"}),
    "yarn": (
        "hadoop",
        {
            "application": f"{_YARN}.ApplicationCLI application",
            "node": f"{_YARN}.NodeCLI",
            "jar": "org.apache.hadoop.util.RunJar",
        },
    ),
    "mapred": ("hadoop", {"job": "org.apache.hadoop.mapred.JobClient"}),
    "hbase": ("hbase", {"version": "org.apache.hadoop.hbase.util.VersionInfo"}),
}
"""Program -> its class path, and the main class of each of its commands."""
SHELL = "hbase shell is part of HBase's distribution: set HBASE_HOME; HBASE_CONF_DIR is set"


def write_launchers(cluster: Cluster, folder: Path) -> None:
    """Write the scripts, executable, into `folder`."""
    folder.mkdir(exist_ok=True)
    for name, (stack, commands) in COMMANDS.items():
        script = folder / name
        script.write_text(_script(cluster, name, stack, commands), encoding="utf-8")
        script.chmod(0o755)


def client_environment(cluster: Cluster, folder: Path) -> dict[str, str]:
    """This process's environment, with the client's configuration and with the scripts in `folder` first on
    PATH."""
    conf = str(client_conf(cluster))
    return {
        **os.environ,
        **cluster.access.env,
        "HADOOP_CONF_DIR": conf,
        "YARN_CONF_DIR": conf,
        "HBASE_CONF_DIR": conf,
        "JAVA_HOME": str(cluster.java_home),
        "PATH": f"{folder}:{cluster.java_home}/bin:{os.environ.get('PATH', os.defpath)}",
    }


def client_conf(cluster: Cluster) -> Path:
    """The client's configuration on this machine."""
    return cluster.site.root.absolute() / "conf" / "client"


def _script(cluster: Cluster, name: str, stack: StackName, commands: Mapping[str, str]) -> str:
    conf = client_conf(cluster)
    java = cluster.client_java_home if stack == "hbase" else cluster.java_home
    flags = (*heap_flags(CLIENT_HEAP_MIB), *FAST_START, *ADD_OPENS, *NETTY, *log_flags(str(conf)),
             *cluster.access.jvm_flags)  # fmt: skip
    program = shlex.join((f"{java}/bin/java", *flags, classpath_flag(conf, stack)))
    cases = "\n".join(f"  {word}) main='{main}' ;;" for word, main in commands.items())
    shell = (
        f"""  shell)
    [ -x "$HBASE_HOME/bin/hbase" ] && exec "$HBASE_HOME/bin/hbase" "$@"
    echo {shlex.quote(SHELL)} >&2; exit 2 ;;
"""
        if name == "hbase"
        else ""
    )
    usage = f"{name} {'|'.join(commands)}|CLASS [argument ...]"
    return f"""#!/bin/sh
# Written by study, for the cluster {cluster.site.tag}.
case "$1" in
{cases}
{shell}  *.*) main="$1" ;;
  *) echo {shlex.quote(f"usage: {usage}")} >&2; exit 2 ;;
esac
shift
# shellcheck disable=SC2086  # a main class and perhaps its first argument
exec {program} $main "$@"
"""
