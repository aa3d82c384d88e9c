"""One small cluster of a variant, brought up, used and torn down."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.configuration import PLAIN, Configuration
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import VERSIONS, Versions
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.journal import Journal
from density_study.cluster.stores.answers import fetch_json
from density_study.workloads.execution.native_check import disclose_native
from density_study.workloads.ycsb.stores.ready import row_written_and_read
from tests.live.support.builds import open_build, topology
from tests.support.topologies import with_variant

NODE_MIB = 4096
DATA = "/benchmarks/TestDFSIO"

SHORT_CIRCUIT = {
    "dfs.client.read.shortcircuit": "true",
    "dfs.client.use.legacy.blockreader.local": "true",
    "dfs.block.local-path-access.user": "${user.name}",
}


@dataclass(frozen=True)
class Build:
    cluster: Cluster
    journal: Journal
    folder: Path

    def dfsio(self, mode: str, size: str = "4MB") -> None:
        """Write or read two files by a MapReduce job. AssertionError if the job fails."""
        words = (f"-{mode}", "-nrFiles", "2", "-size", size, "-resFile", f"{self.folder}/{mode}")
        command = hadoop_command(
            self.cluster, f"dfsio-{mode}", "org.apache.hadoop.fs.TestDFSIO", words,
            jvm_flags=(f"-Dtest.build.data={DATA}",),
        )  # fmt: skip
        transport = provider_named("local").transport(self.cluster.site, self.journal)
        out, err = (self.folder / f"{mode}.{suffix}" for suffix in ("out", "err"))
        process = transport.start(self.cluster.topology.client, command, out, err)
        assert transport.wait(process, 240) == 0, err.read_text()[-3000:]

    def bean(self, address: str, name: str) -> dict[str, Any]:
        found: dict[str, Any] = fetch_json(
            f"http://{address}/jmx?qry={name}", 10, self.cluster.endpoints.network
        )["beans"][0]
        return found

    def short_circuited(self) -> int:
        """Blocks whose file the DataNode has named to clients, which then read without it."""
        files = self.cluster.disclosure["files"]["nodes/w1/hdfs-site.xml"]["text"]
        tail = files.split("<name>dfs.datanode.http.address</name>")[1]
        address = tail.split("<value>")[1].split("</value>")[0]
        activity = self.bean(address, "Hadoop:service=DataNode,name=DataNodeActivity-*")
        return int(activity["BlocksGetLocalPathInfo"])

    def daemon(self, name: str) -> str:
        """Address of a daemon's web server."""
        rendered = self.cluster.endpoints
        return {"namenode": rendered.one("namenode.http"), "hmaster": rendered.one("hmaster.http")}[
            name
        ]


def variant(
    folder: Path, versions: Versions = VERSIONS, configuration: Configuration = PLAIN
) -> Topology:
    """One worker with room for caches beside its heap."""
    plain = topology(folder, workers=1)
    nodes = tuple(
        replace(node, memory_mib=NODE_MIB) if "worker" in node.roles else node
        for node in plain.nodes
    )
    return with_variant(replace(plain, nodes=nodes), versions=versions, configuration=configuration)


def proved(cluster: Cluster, journal: Journal) -> None:
    row_written_and_read(cluster, journal)
    disclose_native(cluster, journal)


@contextmanager
def built(folder: Path, placed: Topology) -> Iterator[Build]:
    """The variant's cluster, after a row was written to HBase and read back. Nothing of it is left."""
    site, journal = open_build(folder, os.getpid())
    try:
        cluster = bring_up(
            site,
            placed,
            ensure_stacks(placed.variant.versions),
            journal,
            final_check=lambda cluster: proved(cluster, journal),
            deadline_s=400,
        )
        yield Build(cluster, journal, folder)
    finally:
        tear_down(site, journal)
