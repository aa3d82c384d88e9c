"""Checks of what the variants of a study name: versions have locks, their code knows the properties, and the
JVM takes its flags. Starts nothing but `java -version`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.variant import Variant
from density_study.cluster.model.versions import HBASE, ZOOKEEPER, Versions, check_vendor
from density_study.cluster.providers.provider import software_of
from density_study.cluster.render.jvm import collector_flag
from density_study.cluster.stack import stack_home
from density_study.cluster.stack.property_names import PROPERTIES, read_names
from density_study.cluster.stack.recipes import recipe_of, stacks_of
from density_study.cluster.stack.stack import brought_version

_KEY = ("factors", "configuration")
_Bound = Callable[[Topology], int]
_MOST: Mapping[str, tuple[_Bound, str]] = {
    "dfs.datanode.failed.volumes.tolerated": (
        lambda one: min((len(node.disks) for node in one.workers), default=1) - 1,
        "a DataNode that tolerates the loss of all its drives does not start",
    ),
    "dfs.namenode.replication.min": (
        lambda one: one.replication,
        "no file has this number of replicas (stack.replication), and its writer waits forever",
    ),
    "mapreduce.task.io.sort.mb": (
        lambda one: one.variant.sizing.container_heap_mib - 1,
        "a map has no such buffer in its heap; make stack.yarn.container larger",
    ),
}
"""What a build bears of a property at most, and why; bounds of every build are in render/value_kinds.txt."""


def check_built_versions(versions: Iterable[Versions]) -> None:
    """`check_versions` of what a study builds. InputError also for a vendor's Hadoop: that is the client of a
    cluster that exists."""
    built = tuple(dict.fromkeys(versions))
    for one in built:
        check_vendor(brought_version(one), "stack, tarball")
    check_versions(built)


def check_versions(versions: Iterable[Versions]) -> None:
    """InputError for the first version whose jars this machine does not know."""
    for one in dict.fromkeys(versions):
        if all(recipe_of(name, one).lock.exists() for name in stacks_of(one)):
            continue
        check_vendor(one.hadoop, "stack, Hadoop")
        check_vendor(one.hbase, "stack, HBase")
        add = f"hadoop {one.hadoop}"
        if one.hbase != HBASE:
            add = f"hbase {one.hbase} --hadoop {one.hadoop}"
        if one.zookeeper and not recipe_of(ZOOKEEPER, one).lock.exists():
            add = f"zookeeper {one.zookeeper} --hadoop {one.hadoop} --hbase {one.hbase}"
        raise InputError(
            f"the jars of {one} are not known here.",
            "stack",
            f"run `study stack add {add}`, which downloads them and locks them by SHA-256; "
            "`study stack list` names the known versions.",
            ("factors",),
        )


def check_properties(topology: Topology) -> None:
    """InputError for a value that this build does not bear, and for a property that the variant's versions do
    not know: it would have no effect.

    Nobody knows that, and it is not checked, as long as a stack is not in the cache.
    """
    if not topology.variant.configuration.properties:
        return
    _check_bounds(topology)
    homes = {name: stack_home(name, topology.variant.versions) for name in ("hadoop", "hbase")}
    if not all((home / PROPERTIES).is_file() for home in homes.values()):
        return
    hadoop = read_names(homes["hadoop"])
    hbase = hadoop | read_names(homes["hbase"])
    for site, properties in topology.variant.configuration.properties.items():
        known = hbase if site == "hbase-site" else hadoop
        for name in properties:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.8)
                raise InputError(
                    f"{name} is unknown to {topology.variant.versions}.",
                    f"configuration {topology.levels['configuration']}, {site}",
                    f"did you mean {near[0]}?"
                    if near
                    else "check the spelling, the file and the version.",
                    (*_KEY, topology.levels["configuration"], site, name),
                )


def _check_bounds(topology: Topology) -> None:
    for site, properties in topology.variant.configuration.properties.items():
        for name in properties.keys() & _MOST.keys():
            bound, why = _MOST[name]
            if int(properties[name]) > (most := bound(topology)):
                level = topology.levels["configuration"]
                raise InputError(
                    f"{name} is {properties[name]}, and at most {most} in {topology.name}: {why}.",
                    f"configuration {level}, {site}",
                    f"write {most} or less.",
                    (*_KEY, level, site, name),
                )


def check_jvm_flags(topology: Topology) -> None:
    """InputError for flags that the variant's Java refuses."""
    machine = software_of(topology)
    for kind, argv in _flags(topology.variant):
        if refused := machine.refusal(argv, topology.variant.versions.java):
            raise InputError(
                refused,
                f"configuration {topology.levels['configuration']}, jvm.{kind}",
                "correct the flags, or name another JDK by `java` in the stack.",
                (*_KEY, topology.levels["configuration"], "jvm", kind),
            )


def _flags(variant: Variant) -> Iterator[tuple[str, list[str]]]:
    for kind, jvm in variant.configuration.jvm.items():
        heap = [f"-Xmx{jvm.heap_mib}m"] if jvm.heap_mib else []
        yield kind, [*heap, collector_flag(kind, jvm, variant.sizing), *jvm.flags]
