"""`Rendered`: the files and command lines of a build, before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from density_study.cluster.model.cluster import Endpoints
from density_study.cluster.model.topology import Node, Topology
from density_study.cluster.render.blueprint import Blueprint
from density_study.cluster.render.conf_files import client_files, node_files, store_client_files
from density_study.cluster.render.daemons import Daemon, daemons, format_daemon
from density_study.cluster.render.store_daemons import rendered_store, store_init


@dataclass(frozen=True)
class Rendered:
    """`files`: path below the conf folder -> text. `prepare` creates the empty filesystem, once, and
    `initialise` what another store keeps in HDFS, when HDFS is ready; daemons that name one of them in
    `starts_after` wait until it has ended. None: there is none."""

    files: Mapping[str, str]
    prepare: Daemon | None
    daemons: tuple[Daemon, ...]
    endpoints: Endpoints
    initialise: Daemon | None = None


def render(blueprint: Blueprint) -> Rendered:
    """Everything a provider has to put on the nodes and start there. Pure. InputError on bad names."""
    blueprint.check()
    topology = blueprint.topology
    if not topology.store.on_hadoop:
        return _of_store(blueprint)
    own = client_files(blueprint, topology.client)
    files = {f"client/{name}": text for name, text in own.items()}
    for node in topology.nodes:
        if {"master", "worker"} & set(node.roles):
            own = node_files(blueprint, node)
        elif node != topology.client:
            own = client_files(blueprint, node)
        else:
            continue
        files |= {f"nodes/{node.name}/{name}": text for name, text in own.items()}
    for node in topology.workers if topology.workers_are_clients else ():
        own = client_files(blueprint, node)
        files |= {f"clients/{node.name}/{name}": text for name, text in own.items()}
    files_of_store, of_store = rendered_store(blueprint)
    return Rendered(
        files={**files, **files_of_store},
        prepare=format_daemon(blueprint),
        daemons=(*daemons(blueprint), *of_store),
        endpoints=replace(endpoints(blueprint), store=_addresses(of_store)),
        initialise=store_init(blueprint),
    )


def _of_store(blueprint: Blueprint) -> Rendered:
    files, daemons_of_store = rendered_store(blueprint)
    topology = blueprint.topology
    for node in topology.clients:
        folder = "client" if node == topology.client else f"nodes/{node.name}"
        files |= {f"{folder}/{name}": text for name, text in store_client_files().items()}
    return Rendered(files, None, daemons_of_store, Endpoints(store=_addresses(daemons_of_store)))


def _addresses(daemons: Sequence[Daemon]) -> dict[str, str]:
    """Where clients of another store find it."""
    return {f"{one.node}/{one.name}": one.address for one in daemons if one.address}


def owner(path: str, topology: Topology) -> Node:
    """The node that gets a file: nodes/<node>/... and clients/<node>/... are that node's, client/... the
    first client's."""
    top, name = PurePath(path).parts[:2]
    if top == "client":
        return topology.client
    return next(node for node in topology.nodes if node.name == name)


def endpoints(blueprint: Blueprint) -> Endpoints:
    address, master = blueprint.ports.address, blueprint.topology.master
    workers = blueprint.topology.workers
    regionserver_http = {
        f"{worker.name}/{server}": address(worker, f"{server}.http")
        for worker in workers
        for server in worker.regionserver_names
    }
    namenode_http = address(master, "namenode.http")
    hbase = blueprint.topology.store.is_hbase
    hmaster = {f"{master.name}/hmaster": address(master, "hmaster.http")} if hbase else {}
    return Endpoints(
        namenode_rpc=address(master, "namenode.rpc"),
        namenode_http=namenode_http,
        resourcemanager_rpc=address(master, "resourcemanager.rpc"),
        resourcemanager_http=address(master, "resourcemanager.http"),
        zookeeper=address(master, "zookeeper.client"),
        hmaster_http=next(iter(hmaster.values()), ""),
        regionserver_http=regionserver_http,
        daemon_http={
            f"{master.name}/namenode": namenode_http,
            **hmaster,
            **{f"{one.name}/datanode": address(one, "datanode.http") for one in workers},
            **regionserver_http,
        },
    )
