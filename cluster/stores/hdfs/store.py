"""HDFS itself: a row is a range of a file. Clients write each once, and then read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from density_study.cluster.model.cluster import Endpoints, Kind
from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.store import Durability
from density_study.cluster.model.topology import Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware, library_of_clients
from density_study.cluster.stores.answers import Fetch, Service
from density_study.cluster.stores.hadoop import HadoopStore
from density_study.cluster.stores.store import Where

FOLDER = "/ycsb"


class HdfsFiles(HadoopStore):
    name = "hdfs-files"
    title = "HDFS files"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "page_cache": "the file is closed: every DataNode of the pipeline has its blocks"
    }
    without = "its trials only read, and its files are closed before them"
    sites = tuple(site for site in SITES if site != "hbase-site")
    write_once = True
    compiled = True
    db = "org.densitystudy.stores.hdfs.HdfsRows"
    admin = "org.densitystudy.stores.hdfs.HdfsAdmin"

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        """The client's library; records name the version of the servers among the stacks."""
        return library_of_clients(self.title, "hadoop-client-api")

    def endpoints(self, blueprint: Blueprint) -> dict[Kind, dict[str, str]]:
        """The DataNodes are the servers that are warmed up."""
        return {
            **super().endpoints(blueprint),
            "store": {
                f"{one.name}/datanode": blueprint.ports.address(one, "datanode.data")
                for one in blueprint.topology.workers
            },
        }

    def readiness(
        self, topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None
    ) -> list[Service]:
        """The NameNode counts the DataNodes."""
        others = replace(endpoints, services={**endpoints.services, "store": {}})
        return super().readiness(topology, others, fetch)

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """A row's position is its number, whatever order a study has for the keys of other stores."""
        namenode = where.cluster.endpoints.one("namenode.rpc")
        return {"hdfs.folder": f"hdfs://{namenode}{FOLDER}", "insertorder": "ordered"}


STORES = (HdfsFiles,)
