"""Every file and command line of builds: one address for all nodes, one per node, and each kind of store."""

from __future__ import annotations

from density_study.cluster.model.store import store_named
from density_study.cluster.stores.store import render
from tests.golden.conftest import Compare
from tests.golden.daemon_lines import below, commands
from tests.support.topologies import blueprint, local, physical, with_variant

TOPOLOGIES = {
    "local-2-workers": local(),
    "physical-2-hosts": physical(),
    "local-accumulo": with_variant(local(servers=0), store=store_named("accumulo")),
    "local-redis": with_variant(local(1), store=store_named("redis")),
    "local-redis-cluster": with_variant(local(), store=store_named("redis-cluster")),
    "local-cassandra": with_variant(local(), store=store_named("cassandra", "synced")),
    "local-kudu": with_variant(local(), store=store_named("kudu")),
}


def test_rendered(golden: Compare) -> None:
    tree: dict[str, str] = {}
    for name, topology in TOPOLOGIES.items():
        rendered = render(blueprint(topology))
        tree |= below(name, dict(sorted(rendered.files.items())) | commands(rendered))
    golden("rendered", tree)
