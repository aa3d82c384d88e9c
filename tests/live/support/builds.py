"""A small cluster for live tests, in a run folder of its own."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from density_study.cluster.model.cluster import Site
from density_study.cluster.model.host import Disk
from density_study.cluster.model.store import Store, default_store
from density_study.cluster.model.topology import Topology
from density_study.cluster.state.journal import Journal
from density_study.cluster.state.own_runs import register
from density_study.cluster.state.owner import Owner
from tests.support.topologies import local, with_variant

BASE_PORT = 23000


def topology(folder: Path, workers: int = 2, store: Store | None = None) -> Topology:
    store = store or default_store()
    disk = Disk(str(folder / "disk"), "flash")
    spec = with_variant(
        local(workers, int("regionservers_per_node" in store.offers), BASE_PORT), store=store
    )
    return replace(spec, nodes=tuple(replace(n, disk=disk if n.disk else None) for n in spec.nodes))


def open_build(folder: Path, owner_pid: int) -> tuple[Site, Journal]:
    """A run folder below `folder`/runs, opened by `owner_pid`, and the site of its only build."""
    tag = f"live-{os.getpid()}/{folder.name}"
    root = folder / "runs" / tag
    journal = Journal(root / "journal.jsonl")
    journal.write(
        "run-opened",
        study=tag.split("/")[0],
        run=tag.split("/")[1],
        tag=tag,
        owner=Owner.of_process(owner_pid).to_json(),
    )
    register(root)  # as the process that opens a run does: reap acts on registered runs alone
    return Site(root / "builds" / "b1", f"{tag}/b1"), journal
