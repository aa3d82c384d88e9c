"""Networks of containers, made and measured."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from density_study.cluster.lifecycle import network_proof
from density_study.cluster.model.network import Network
from density_study.cluster.providers.container.provider import ContainerProvider
from tests.live.support.containers import Built, built, on_this_machine, topology
from tests.support.topologies import with_variant


@contextmanager
def made(folder: Path, network: Network) -> Iterator[Built]:
    before = on_this_machine()
    layout = with_variant(topology(folder, cores=2), network=network, levels={"network": "a"})
    with built(folder, layout) as found:
        yield found
    assert on_this_machine() == before


def measured(up: Built, declared: Network | None = None) -> dict[str, dict[str, Any]]:
    """By what was measured. `declared`: as if the variant declared it."""
    variant = up.topology if declared is None else with_variant(up.topology, network=declared)
    transport = ContainerProvider().transport(up.site, up.journal)
    # a build is measured once; a second output would be appended to the first
    shutil.rmtree(up.site.root / "logs" / "network", ignore_errors=True)
    found = network_proof.prove_network(up.site, variant, transport, up.journal)
    return {one["what"]: one for one in found["measured"]}
