"""Command lines of client programs: TestDFSIO, YCSB, tools. Pure; a transport starts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.memory import CLIENT_HEAP_MIB
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.model.versions import NATIVE, Versions
from density_study.cluster.providers.provider import node_paths, remote_path
from density_study.cluster.render.blueprint import LIBRARY_PATH
from density_study.cluster.render.conf_files import classpath_flag, log_flags
from density_study.cluster.render.jvm import NETTY, common_flags, heap_flags, jit_flags
from density_study.cluster.stack import stack_home
from density_study.cluster.stack.archive import archive_flag
from density_study.cluster.state.timeout_scale import timeout_scale_of


def serial(heap_mib: int) -> tuple[str, ...]:
    """Memory flags of a client that measures nothing itself."""
    return (*heap_flags(heap_mib), "-XX:+UseSerialGC")


def hadoop_command(
    cluster: Cluster, name: str, main_class: str, args: Sequence[str], jvm_flags: Sequence[str] = ()
) -> Command:
    """A Java program on Hadoop's class path (with its test jars), for the client node.

    `jvm_flags` may include system properties, for example -Dtest.build.data=/benchmarks/TestDFSIO.
    """
    node = cluster.topology.client
    conf = node_paths(cluster.site, cluster.topology).client_conf
    archive = archive_flag(cluster.hadoop_home, cluster.topology.java)
    program = (archive, *jvm_flags, classpath_flag(conf, "hadoop"), main_class, *args)
    memory, env = serial(CLIENT_HEAP_MIB), _library_path(cluster)
    return _java(cluster, node, cluster.java_home, name, memory, program, env)


def _library_path(cluster: Cluster) -> dict[str, str]:
    """The library path of a client of Hadoop, which is that of the daemons we build."""
    if not (versions := hadoop_versions(cluster)).native:
        return {}
    home = remote_path(cluster.topology, stack_home(NATIVE, versions))
    return {LIBRARY_PATH: f"{home}/lib"}


def hadoop_versions(cluster: Cluster) -> Versions:
    """The software of its clients of Hadoop."""
    topology = cluster.topology
    return topology.variant.versions if isinstance(topology, Topology) else cluster.client_versions


def java_command(
    cluster: Cluster,
    name: str,
    classpath: Sequence[str],
    main_class: str,
    args: Sequence[str],
    memory: Sequence[str],
    jvm_flags: Sequence[str] = (),
    node: Node | None = None,
) -> Command:
    """A Java program on `classpath`, to which the conf folder of `node` (default: the first client) is
    appended last.

    `memory` are the flags of heap and collector, as of `serial`. `classpath` is the class path of a stack
    (`cluster.stack.classpath`): jars, then the stack's home. It is passed in the environment (CLASSPATH) to
    keep the command line short. Its Java is the machine's own,
    which is the same in all variants.
    """
    node = node or cluster.topology.client
    conf = node_paths(cluster.site, cluster.topology).client_conf_of(cluster.topology, node)
    entries = [remote_path(cluster.topology, entry) for entry in classpath]
    program = (archive_flag(entries[-1]), *NETTY, *jvm_flags, main_class, *args)
    env = {"CLASSPATH": ":".join((*entries, str(conf)))}
    return _java(cluster, node, cluster.client_java_home, name, memory, program, env)


def _java(
    cluster: Cluster,
    node: Node,
    java_home: Path,
    name: str,
    memory: Sequence[str],
    program: Sequence[str],
    env: Mapping[str, str] | None = None,
) -> Command:
    places = node_paths(cluster.site, cluster.topology)
    # The client node's own directory: tear-down removes what a client leaves there.
    directory = str(places.data[node.name])
    argv = (
        f"{java_home}/bin/java",
        *memory,
        *jit_flags(
            timeout_scale_of(cluster.disclosure.get("acceleration", {})), cluster.topology.jit
        ),
        *common_flags(f"{directory}/tmp"),
        *log_flags(str(places.client_conf_of(cluster.topology, node))),
        *cluster.access.jvm_flags,
        *program,
    )
    return Command(name, argv, {**(env or {}), **cluster.access.env}, cwd=directory)
