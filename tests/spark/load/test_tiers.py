"""Trials with a declared tier, analysed: hits of both levels, and verdicts by the servers' own counters.
Trials with a declared network: verdicts by what was measured of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from density_study.analysis import tables
from density_study.analysis.report.page import render
from density_study.analysis.summarise.summarise import summarise
from density_study.analysis.tables.store import read_table
from density_study.jobs.first_look.look import first_look
from density_study.jobs.pipeline import STAGES, run_stage
from density_study.workloads.base.values import CacheUse
from tests.support.record_factory import RUN, RunFactory
from tests.support.truth import Truth

pytestmark = pytest.mark.spark
BUILD = "b1-v2-flash"
COUNTED = {"l1_hits": 900, "l1_misses": 100, "l2_hits": 300, "l2_misses": 100, "evictions": 12}


def use(declared: str, in_use: str | None, **counted: int | None) -> CacheUse:
    engines = {"w1/regionserver-1": declared, "w2/regionserver-1": in_use}
    return CacheUse(declared=declared, engines=engines, **{**COUNTED, **counted})


USES = {
    "right": use("offheap", "offheap"),
    "wrong": use("offheap", "file"),
    "half": use("pmem", "pmem with 12 MiB"),
    "silent": use("offheap", None, l1_hits=None, l2_hits=None),
    "unused": use("file", "file", l2_hits=0),
    "heap": use("heap", "heap", l2_hits=0, l2_misses=0),
    "cold heap": use("heap", "heap", l1_hits=0),
    "none": None,
}
RATE = {"what": "rate", "declared": 100.0, "unit": "Mbit/s", "why": "no answer"}
NETWORKS = {"good network": True, "wrong network": False, "silent network": None}


@pytest.fixture(scope="module")
def world(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Truth]]:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / "quickstart" / RUN)
    truths = {}
    for name, caches in {**USES, "load": use("file", "file", l2_hits=0)}.items():
        mix = "load" if name == "load" else "scan95-insert5"
        truth = factory.ycsb(BUILD, mix, seconds=2, rate=20)
        truth.trial += f"-{len(factory.truths)}"
        factory._builds[truth.trial] = BUILD
        truth.caches = caches
        truths[name] = truth
    for name, holds in NETWORKS.items():
        truth = factory.ycsb(BUILD, "scan95-insert5", seconds=2, rate=20)
        truth.trial += f"-{len(factory.truths)}"
        factory._builds[truth.trial] = BUILD
        truth.network = ({**RATE, "measured": None if holds is None else 80.0, "holds": holds},)
        truths[name] = truth
    root = factory.close()
    for stage in STAGES:
        run_stage(stage, root)
    return root, truths


def reasons(world: tuple[Path, dict[str, Truth]], which: str) -> list[str]:
    """What the verdict and the first look say about the tier; both must agree."""
    root, truths = world
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    look = first_look(root / "records" / truths[which].trial)
    found = [why for why in verdicts.loc[truths[which].trial, "reasons"] if "tier" in why]
    assert found == [why for why in look.reasons if "tier" in why]
    return found


def metrics(world: tuple[Path, dict[str, Truth]], which: str) -> dict[str, float | None]:
    rows = read_table(world[0], tables.METRICS)
    rows = rows[rows["trial"] == world[1][which].trial]
    named = zip(rows["name"], rows["value"], strict=True)
    return {
        name: None if value != value else value
        for name, value in named
        if "hit" in name or name == "cache_evictions"
    }


def test_hits_are_shares_of_the_blocks_that_were_looked_for(
    world: tuple[Path, dict[str, Truth]],
) -> None:
    assert metrics(world, "right") == {
        "l1_hit_percent": 90.0, "l2_hit_percent": 75.0, "cache_evictions": 12.0
    }  # fmt: skip
    assert metrics(world, "heap") == {"l1_hit_percent": 90.0, "cache_evictions": 12.0}
    assert metrics(world, "silent")["l2_hit_percent"] is None
    assert metrics(world, "none") == {}


def test_a_wrong_tier_is_invalid(world: tuple[Path, dict[str, Truth]]) -> None:
    (said,) = reasons(world, "wrong")
    assert said.startswith("wrong tier: the arm caches blocks in offheap, and 1 RegionServer(s)")
    assert "file, offheap" in said
    assert "pmem with 12 MiB" in reasons(world, "half")[0]
    verdicts = read_table(world[0], tables.VERDICTS).set_index("trial")["verdict"]
    assert verdicts[world[1]["wrong"].trial] == "invalid"


def test_a_tier_without_a_hit_is_invalid_unless_nothing_was_read(
    world: tuple[Path, dict[str, Truth]],
) -> None:
    assert "no block was found in file" in reasons(world, "unused")[0]
    assert "no block was found in heap" in reasons(world, "cold heap")[0]
    for which in ("right", "heap", "load", "none"):
        assert reasons(world, which) == []


def test_what_a_server_did_not_tell_is_unknown(world: tuple[Path, dict[str, Truth]]) -> None:
    root, truths = world
    row = read_table(root, tables.CHECKS).set_index("trial").loc[truths["silent"].trial]
    assert row["has_tier"]
    assert row[["foreign_tiers", "tier_hits"]].isna().all()
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    assert verdicts.loc[truths["silent"].trial, "verdict"] != "valid"


def test_a_wrong_network_is_invalid_and_one_that_was_not_measured_unknown(
    world: tuple[Path, dict[str, Truth]],
) -> None:
    root, truths = world
    checks = read_table(root, tables.CHECKS).set_index("trial")
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    for which, holds in NETWORKS.items():
        trial = truths[which].trial
        found = [why for why in verdicts.loc[trial, "reasons"] if "wrong network" in why]
        looked = first_look(root / "records" / trial).reasons
        assert found == [why for why in looked if "wrong network" in why]
        assert ["measured rate 80 Mbit/s, 100 declared" in why for why in found] == [True] * (
            holds is False
        )
        row = checks.loc[trial]
        assert row["has_network"] and row["network"] == "rate-100mbit"
        assert bool(row[["network_broken"]].isna().all()) == (holds is None)
    assert verdicts.loc[truths["wrong network"].trial, "verdict"] == "invalid"
    assert not checks.loc[truths["right"].trial, "has_network"]


def test_the_report_shows_the_hits(world: tuple[Path, dict[str, Truth]]) -> None:
    page = render(summarise(world[0], 0.0))
    assert "found in the block cache" in page and "found on the heap" in page
