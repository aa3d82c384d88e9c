"""A Redis that rewrites its append-only file by itself is settled nevertheless: the study waits for that,
and then has it rewritten once more."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.store import store_named
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from tests.live.stores.loading import talk, tool
from tests.live.support.builds import open_build, topology

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
ROWS = 500
DELAY_US = 10_000
"""For each row of a rewrite: five seconds, longer than the tool's JVM takes to start."""


def test_a_rewrite_that_is_under_way(tmp_path: Path) -> None:
    placed = topology(tmp_path, workers=1, store=store_named("redis"))
    site, journal = open_build(tmp_path, os.getpid())
    try:
        cluster = bring_up(
            site, placed, ensure_stacks(placed.variant.versions, placed.store), journal
        )
        talk(cluster, *(f"HSET user{n} field0 value" for n in range(ROWS)))
        said = talk(cluster, f"CONFIG SET rdb-key-save-delay {DELAY_US}", "BGREWRITEAOF")
        assert said == ["+OK", "+Background append only file rewriting started"]
        out = tool(
            cluster, provider_named("local").transport(site, journal), tmp_path, "settle", "state"
        )
        (rewrites,) = re.findall(r'"background_runs": ([0-9]+)', out)
        assert int(rewrites) == 2
    finally:
        tear_down(site, journal)
