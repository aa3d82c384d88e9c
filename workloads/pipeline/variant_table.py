"""The variant store of a trial: a table of the cluster's HBase, and the programs that load and read it.

A trial begins with an empty table, which goes with the build at the latest.
"""

from __future__ import annotations

from collections.abc import Sequence

from density_study.cluster.clients.client_commands import java_command, serial
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.memory import CLIENT_HEAP_MIB
from density_study.cluster.model.topology import Node
from density_study.cluster.model.transport import Command
from density_study.cluster.stack import classpath, ensure
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.pipeline.machine.genomes import CONTIG
from density_study.workloads.pipeline.machine.stages import DISTINCT_CALLS, STORED
from density_study.workloads.ycsb.properties import FAMILY
from density_study.workloads.ycsb.stores.bindings import binding_of
from density_study.workloads.ycsb.table_tool import MAIN, table_tool
from density_study.workloads.ycsb.tables import Tables

TABLE = "called_variants"
_NAMED = ("--table", TABLE, "--family", FAMILY)


def create_table(context: TrialContext, bases: int) -> None:
    """An empty one, with a region on each RegionServer along the reference."""
    tables = Tables.of(context.cluster)
    regions = str(len(context.cluster.endpoints.all("regionserver.http")))
    acts: list[tuple[str, ...]] = [("balancer", "off")]
    if tables.known(TABLE) is not None:
        acts.append(("drop", "--table", TABLE))
    acts.append(("create", *_NAMED, "--regions", regions, "--contig", f"{CONTIG},{bases}"))
    table_tool(context, "variant-table", *acts)
    tables.remember(TABLE, "there")


def load_command(cluster: Cluster, node: Node) -> Command:
    """Loads the node's variants, at the durability of the study's store. Measured: its JVM has the flags of
    YCSB's clients."""
    level = binding_of(cluster).properties.get("durability")
    durability = ("--durability", level) if level else ()
    return _command(cluster, node, "load-variants", *_NAMED, "--vcf", DISTINCT_CALLS, *durability)


def dump_command(cluster: Cluster, node: Node, samples: Sequence[str]) -> Command:
    """Reads the rows of the node's genomes back."""
    named = ("--samples", ",".join(samples), "--output", STORED)
    return _command(cluster, node, "dump-variants", *_NAMED, *named)


def _command(cluster: Cluster, node: Node, *words: str) -> Command:
    path = classpath(ensure("ycsb", cluster.client_versions))
    return java_command(cluster, words[0], path, MAIN, words, serial(CLIENT_HEAP_MIB), node=node)
