"""Trials with a declared tier, analysed: hits of both levels, and verdicts by the servers' own counters.
Trials with a declared network: verdicts by what was measured of it."""

from __future__ import annotations

import pytest

from density_study.jobs.first_look.look import first_look
from density_study.workloads import tables
from density_study.workloads.tables.store import read_table
from tests.spark.conftest import Analysed
from tests.spark.load.tier_trials import NETWORKS

pytestmark = pytest.mark.spark


def reasons(loads: Analysed, which: str) -> list[str]:
    """What the verdict and the first look say about the tier; both must agree."""
    root, truths = loads.root, loads.truths
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    look = first_look(root / "records" / truths[which].trial)
    found = [why for why in verdicts.loc[truths[which].trial, "reasons"] if "tier" in why]
    assert found == [why for why in look.reasons if "tier" in why]
    return found


def metrics(loads: Analysed, which: str) -> dict[str, float | None]:
    rows = read_table(loads.root, tables.METRICS)
    rows = rows[rows["trial"] == loads.truths[which].trial]
    named = zip(rows["name"], rows["value"], strict=True)
    return {
        name: None if value != value else value
        for name, value in named
        if "hit" in name or name == "cache_evictions"
    }


def test_hits_are_shares_of_the_blocks_that_were_looked_for(loads: Analysed) -> None:
    assert metrics(loads, "right") == {
        "l1_hit_percent": 90.0, "l2_hit_percent": 75.0, "cache_evictions": 12.0
    }  # fmt: skip
    assert metrics(loads, "heap") == {"l1_hit_percent": 90.0, "cache_evictions": 12.0}
    assert metrics(loads, "silent")["l2_hit_percent"] is None
    assert metrics(loads, "hdfs") == {"l2_hit_percent": 75.0}
    assert metrics(loads, "none") == {}


def test_a_wrong_tier_is_invalid(loads: Analysed) -> None:
    (said,) = reasons(loads, "wrong")
    assert said.startswith("wrong tier: the variant caches blocks in offheap, and 1 server(s)")
    assert "file, offheap" in said
    assert "pmem with 12 MiB" in reasons(loads, "half")[0]
    verdicts = read_table(loads.root, tables.VERDICTS).set_index("trial")["verdict"]
    assert verdicts[loads.truths["wrong"].trial] == "invalid"


def test_a_tier_without_a_hit_is_invalid_unless_nothing_was_read(loads: Analysed) -> None:
    assert "no block was found in file" in reasons(loads, "unused")[0]
    assert "no block was found in heap" in reasons(loads, "cold heap")[0]
    for which in ("right", "heap", "hdfs", "load", "none"):
        assert reasons(loads, which) == []


def test_what_a_server_did_not_tell_is_unknown(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
    row = read_table(root, tables.CHECKS).set_index("trial").loc[truths["silent"].trial]
    assert row["has_tier"]
    assert row[["foreign_tiers", "tier_hits"]].isna().all()
    verdicts = read_table(root, tables.VERDICTS).set_index("trial")
    assert verdicts.loc[truths["silent"].trial, "verdict"] != "valid"


def test_a_wrong_network_is_invalid_and_one_that_was_not_measured_unknown(loads: Analysed) -> None:
    root, truths = loads.root, loads.truths
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


def test_the_report_shows_the_hits(loads: Analysed) -> None:
    page = (loads.root / "report" / "index.html").read_text()
    assert "found in the cache" in page and "found on the heap" in page
