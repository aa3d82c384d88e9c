"""Command lines of client programs: TestDFSIO, YCSB, tools. Pure; a transport starts them."""

from __future__ import annotations

from collections.abc import Sequence

from cluster.model.cluster import Cluster
from cluster.model.command import Command
from cluster.model.memory import CLIENT_HEAP_MIB
from cluster.providers.provider import node_paths, remote_path
from cluster.render.blueprint import NodePaths
from cluster.render.conf_files import classpath_flag, log_flags
from cluster.render.jvm import NETTY, common_flags, heap_flags, jit_flags
from cluster.stack.archive import archive_flag
from cluster.state.timeout_scale import timeout_scale_of

SERIAL_GC = "-XX:+UseSerialGC"


def hadoop_command(
    cluster: Cluster,
    name: str,
    main_class: str,
    args: Sequence[str],
    heap_mib: int = CLIENT_HEAP_MIB,
    jvm_flags: Sequence[str] = (),
    collector: str = SERIAL_GC,
) -> Command:
    """A Java program on Hadoop's class path (with its test jars), for the client node.

    `jvm_flags` may include system properties, for example -Dtest.build.data=/benchmarks/TestDFSIO.
    """
    places = _places(cluster)
    path = classpath_flag(places.client_conf, "hadoop")
    java = _java(
        cluster, places, heap_mib, collector, (archive_flag(cluster.hadoop_home), *jvm_flags)
    )
    return Command(name, (*java, path, main_class, *args), cwd=_directory(cluster, places))


def java_command(
    cluster: Cluster,
    name: str,
    classpath: Sequence[str],
    main_class: str,
    args: Sequence[str],
    heap_mib: int = CLIENT_HEAP_MIB,
    jvm_flags: Sequence[str] = (),
    collector: str = SERIAL_GC,
) -> Command:
    """A Java program on `classpath`, to which the client's conf folder is appended last.

    `classpath` is the class path of a stack (`cluster.stack.stack`): jars, then the stack's home. It
    is passed in the environment (CLASSPATH) to keep the command line short.
    """
    places = _places(cluster)
    entries = [remote_path(cluster.topology, entry) for entry in classpath]
    archive = archive_flag(entries[-1])
    java = _java(cluster, places, heap_mib, collector, (archive, *NETTY, *jvm_flags))
    env = {"CLASSPATH": ":".join((*entries, str(places.client_conf)))}
    return Command(name, (*java, main_class, *args), env, cwd=_directory(cluster, places))


def _java(
    cluster: Cluster, places: NodePaths, heap_mib: int, collector: str, jvm_flags: Sequence[str]
) -> tuple[str, ...]:
    return (
        f"{cluster.java_home}/bin/java",
        *heap_flags(heap_mib),
        collector,
        *jit_flags(timeout_scale_of(cluster.disclosure.get("acceleration", {}))),
        *common_flags(f"{_directory(cluster, places)}/tmp"),
        *log_flags(str(places.client_conf)),
        *jvm_flags,
    )


def _places(cluster: Cluster) -> NodePaths:
    return node_paths(cluster.site, cluster.topology)


def _directory(cluster: Cluster, places: NodePaths) -> str:
    """The client node's own directory: tear-down removes what a client leaves there."""
    return str(places.data[cluster.topology.client.name])
