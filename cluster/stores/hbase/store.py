"""HBase: RegionServers on the workers, several on each if a study wants. Studies have it by default."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from density_study.cluster.model.cluster import Endpoints, Kind
from density_study.cluster.model.configuration import SITES
from density_study.cluster.model.host import Role
from density_study.cluster.model.store import Durability
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.stores.act import FIRST_SERVER, TABLE, Act
from density_study.cluster.stores.answers import Fetch, Seen, Service, fetching
from density_study.cluster.stores.hadoop import HadoopStore, jmx_check
from density_study.cluster.stores.store import Where

_TABLE = ("--table", TABLE)
_SNAPSHOT = ("of-an-act", *_TABLE)
ACTS = (
    Act("major-compaction", tool=(("flush-compact-settle", *_TABLE),)),
    # an earlier act of the build may have taken it
    Act("snapshot", tool=(("snapshot", *_SNAPSHOT),), before=(("forget", *_SNAPSHOT),)),
    # tables of a study split only on command
    Act("split", tool=(("split", *_TABLE),), before=(("splittable", *_TABLE),)),
    # a balanced table would not be moved: it begins on one server
    Act("balance", tool=(("balance",),), before=(("confine", *_TABLE, "--info", FIRST_SERVER),),
        lasting=True, least_servers=2),
    Act("rolling-restart", restarts="regionserver", lasting=True),
    Act("decommission", empties=True, lasting=True),
)  # fmt: skip
_WRITES: Mapping[Durability, str] = {
    "memory": "SKIP_WAL",
    "page_cache": "",  # the table's own, which is SYNC_WAL
    "synced": "FSYNC_WAL",
}


class HBase(HadoopStore):
    name = "hbase"
    title = "HBase"
    acknowledged: ClassVar[Mapping[Durability, str]] = {
        "memory": "durability=SKIP_WAL of each write",
        "page_cache": "durability=SYNC_WAL of each write: hflush to every DataNode of the pipeline",
        "synced": "durability=FSYNC_WAL of each write: hsync on every DataNode of the pipeline",
    }
    offers: ClassVar[frozenset[str]] = frozenset(
        {"stack", "configuration", "tier", "regionservers_per_node", "client", "genomics",
         "noisy_neighbour", "fault", "variant_load"}
    )  # fmt: skip
    restores = True
    acts = ACTS
    sites = SITES
    master_services = (*HadoopStore.master_services, "hmaster.rpc", "hmaster.http")
    own_software = False
    client_stacks = ("ycsb",)
    compiled = True
    db = "org.densitystudy.ycsb.HBaseClient"

    def ports(self, roles: Collection[Role], servers: Sequence[str]) -> tuple[str, ...]:
        own = (f"{server}.{kind}" for server in servers for kind in ("rpc", "http"))
        return (*super().ports(roles, servers), *own)

    def beside_hdfs(self, topology: Topology) -> Sequence[tuple[Node, str, str]]:
        servers = (
            (worker, "regionserver", name)
            for worker in topology.workers
            for name in worker.regionserver_names
        )
        return ((topology.master, "hmaster", "hmaster"), *servers)

    def endpoints(self, blueprint: Blueprint) -> dict[Kind, dict[str, str]]:
        hadoop, http = super().endpoints(blueprint), dict[str, dict[str, str]]()
        for node, kind, name in self.beside_hdfs(blueprint.topology):
            address = blueprint.ports.address(node, f"{name}.http")
            http.setdefault(kind, {})[f"{node.name}/{name}"] = address
        servers = http.get("regionserver", {})
        return {
            **hadoop,
            "hmaster.http": http["hmaster"],
            "regionserver.http": servers,
            "jmx": {**hadoop["jmx"], **http["hmaster"], **servers},
        }

    def readiness(
        self, topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None
    ) -> list[Service]:
        bean, servers = "HBase,name=Master,sub=Server", len(endpoints.all("regionserver.http"))
        ask = fetching(fetch, endpoints.network)
        check = jmx_check(ask, endpoints.one("hmaster.http"), bean, hbase_seen, servers)
        return [*super().readiness(topology, endpoints, fetch), Service("hbase", "hmaster", check)]

    def client_properties(self, where: Where) -> Mapping[str, str]:
        level = _WRITES[self.durability]
        return {"durability": level} if level else {}


def hbase_seen(beans: dict[str, Any], expected: int) -> Seen:
    """The active master is initialised (hbase:meta is assigned then), and every server has joined."""
    live, active = beans["numRegionServers"], beans["tag.isActiveMaster"]
    finished = int(beans.get("masterFinishedInitializationTime", 0)) > 0
    ready = live == expected and active == "true" and finished
    stage = "initialised" if finished else "initialising"
    return Seen(ready, f"{live} of {expected} RegionServers live, master {stage}")


STORES = (HBase,)
