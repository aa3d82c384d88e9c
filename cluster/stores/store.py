"""`ClusterStore`: a store with all that builds, clients and the rules of a study need of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, ClassVar

from density_study.cluster.model.cluster import Cluster, Endpoints
from density_study.cluster.model.existing import ExistingCluster, StoreEndpoint
from density_study.cluster.model.store import Durability, Store, stores
from density_study.cluster.model.topology import AnyTopology, Node, Topology
from density_study.cluster.model.transport import Command
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import store_client_files
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.render.rendered import Rendered
from density_study.cluster.stack.machine_software import MachineSoftware
from density_study.cluster.stack.store_software import StoreSoftware
from density_study.cluster.stores.act import Act
from density_study.cluster.stores.answers import Fetch, Seen, Service

Part = tuple[dict[str, str], tuple[Daemon, ...]]
"""Files of a node by name, and its daemons."""
NOTHING: Part = ({}, ())


@dataclass(frozen=True)
class Rows:
    """What a test case loads: rows of `fields` fields, each of `field_length` bytes."""

    id: str
    records: int
    fields: int
    field_length: int


@dataclass(frozen=True)
class Where:
    """What clients need to find the store of a cluster: `data` looks up each node's directory, and `remote`
    turns the path of a file of the controller's stacks into that of the nodes."""

    cluster: Cluster
    data: Callable[[], Mapping[str, PurePath]]
    remote: Callable[[PurePath | str], str] = str


class ClusterStore(Store):
    """One subclass for each store; `STORES` of its module has it.

    A default fits a store with daemons only on its workers, or with none. Rendering is pure.
    """

    db: ClassVar[str]
    """The class of YCSB's DB, in the last of `client_stacks`."""
    admin: ClassVar[str] = ""
    """The Java class that empties, settles and counts it (an `Admin`)."""
    endpoint_admin: ClassVar[str] = ""
    """The same for an existing store (an `Endpoint`)."""
    acts: ClassVar[tuple[Act, ...]] = ()
    """What may be done to it under load."""
    deciding: ClassVar[tuple[str, ...]] = ()
    """Settings of existing servers that decide their durability."""
    room: ClassVar[str] = ""
    """Where existing servers state how much may be written."""

    def software(self, machine: MachineSoftware) -> StoreSoftware:
        """Its program or jars, made if not in the cache, if it has `own_software`. `machine`: where the nodes
        are. InputError if a part is missing."""
        raise NotImplementedError(self.name)

    def part_of(self, blueprint: Blueprint, node: Node) -> Part:
        """Files and daemons of the master or of a worker."""
        return NOTHING

    def parts(self, blueprint: Blueprint) -> Part:
        """Files by path below the conf folder, and the daemons in starting order."""
        files: dict[str, str] = {}
        started: list[Daemon] = []
        topology = blueprint.topology
        for node in (*topology.with_role("master"), *topology.workers):
            own, daemons = self.part_of(blueprint, node)
            files |= {f"nodes/{node.name}/{name}": text for name, text in own.items()}
            started += daemons
        return files, tuple(started)

    def rendered(self, blueprint: Blueprint) -> Rendered:
        files, daemons = self.parts(blueprint)
        topology = blueprint.topology
        for node in topology.clients:
            folder = "client" if node == topology.client else f"nodes/{node.name}"
            files |= {f"{folder}/{name}": text for name, text in store_client_files().items()}
        return Rendered(files, None, daemons, Endpoints({"store": addresses(daemons)}))

    def readiness(
        self, topology: Topology, endpoints: Endpoints, fetch: Fetch | None = None
    ) -> list[Service]:
        """Its services with their checks: by default each daemon that has an address."""
        return [
            Service(name, name, partial(self.answer, address, endpoints.network))
            for name, address in endpoints.all("store").items()
        ]

    def answer(self, address: str, network: str = "") -> Seen:
        """Whether the daemon at `address` is ready."""
        raise NotImplementedError(self.name)

    def listens_on_all(self, blueprint: Blueprint) -> dict[str, list[str]]:
        """Listeners that bind to every address and have no setting for it; all others use the node's."""
        return {}

    def client_properties(self, where: Where) -> Mapping[str, str]:
        """YCSB's properties beside those of the test case."""
        return {}

    def logs_background_work(self, state: Mapping[str, Any]) -> tuple[str, Sequence[str]] | None:
        """The daemon of the workers that logs its compactions, and what is in their lines. None: `state`,
        which StoreTool printed, counts them."""
        return None

    def check_rows(self, rows: Rows, topology: Topology) -> None:
        """InputError if the workers have no room for the rows."""

    def more_disk_mib(self, data_mib: int, nodes: int, shapes: Sequence[tuple[int, int]]) -> int:
        """Disk of a host with `nodes` nodes beyond what HBase needs for `data_mib` of rows. `shapes`: those
        of each table, tablets of a server and fields of a row."""
        return 0

    def endpoint_fault(self, endpoint: StoreEndpoint) -> tuple[str, str]:
        """Why an existing store cannot be reached as the study states, and the key of it; empty if it can."""
        if endpoint.server_namespace:
            return f"store {self.name} takes no server_namespace", "server_namespace"
        return "", ""

    def endpoint_properties(
        self, existing: ExistingCluster, endpoint: StoreEndpoint
    ) -> dict[str, str]:
        """What clients of an existing store need beyond the login."""
        raise NotImplementedError(self.name)

    def promised(self, facts: Mapping[str, Any]) -> Durability | None:
        """The strongest level that servers keep by their own words; None if they do not say, or differ."""
        raise NotImplementedError(self.name)


def act_names() -> tuple[str, ...]:
    """Names of the acts of all stores."""
    return tuple(sorted({act.name for act in _every_act()}))


def acts_named(name: str) -> tuple[Act, ...]:
    """For all stores: several may have an act of this name."""
    return tuple(act for act in _every_act() if act.name == name)


def _every_act() -> Iterator[Act]:
    for kind in stores().values():
        assert issubclass(kind, ClusterStore)
        yield from kind.acts


def store_of(topology: AnyTopology) -> ClusterStore:
    """The topology's store, as builds and clients use it."""
    return cluster_store(topology.store)


def cluster_store(store: Store) -> ClusterStore:
    """The same store: what the model holds are objects of this class."""
    assert isinstance(store, ClusterStore)
    return store


def render(blueprint: Blueprint) -> Rendered:
    """Everything a provider has to put on the nodes and start there. Pure. InputError on bad names."""
    blueprint.check()
    return store_of(blueprint.topology).rendered(blueprint)


def addresses(daemons: Sequence[Daemon]) -> dict[str, str]:
    """Where clients find the daemons: <node>/<daemon> -> address."""
    return {f"{one.node}/{one.name}": one.address for one in daemons if one.address}


def server(
    blueprint: Blueprint,
    node: Node,
    name: str,
    argv: tuple[str, ...],
    address: str,
    starts_after: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> Daemon:
    """A daemon of a store, or a command that prepares it. `address`: for its clients."""
    log = partial(blueprint.places.log, node, name)
    return Daemon(
        name=name,
        node=node.name,
        role=name,
        command=Command(name, argv, environment or {}, str(blueprint.data(node))),
        http="",
        log=log("log"),
        stdout=log("out"),
        stderr=log("err"),
        starts_after=starts_after,
        address=address,
    )
