"""Every file and command line of two topologies: one address for all nodes, and one per node."""

from __future__ import annotations

import pytest

from density_study.cluster.model.store import store_named
from density_study.cluster.model.topology import Topology
from density_study.cluster.stores.store import render
from tests.golden.conftest import Compare
from tests.golden.daemon_lines import commands
from tests.support.topologies import blueprint, local, physical, with_variant


@pytest.mark.parametrize(
    ("name", "topology"),
    [
        ("local-2-workers", local()),
        ("physical-2-hosts", physical()),
        ("local-accumulo", with_variant(local(servers=0), store=store_named("accumulo"))),
        ("local-redis", with_variant(local(1), store=store_named("redis"))),
        ("local-redis-cluster", with_variant(local(), store=store_named("redis-cluster"))),
        ("local-cassandra", with_variant(local(), store=store_named("cassandra", "synced"))),
        ("local-kudu", with_variant(local(), store=store_named("kudu"))),
    ],
)
def test_rendered(name: str, topology: Topology, golden: Compare) -> None:
    rendered = render(blueprint(topology))
    golden(name, {**rendered.files, "daemons.txt": commands(rendered)})
