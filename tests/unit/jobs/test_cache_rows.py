"""What a manifest says about block caches, as a part of its row of `trials`."""

from __future__ import annotations

from typing import Any

import pytest

from density_study.workloads.base.fault import InjectedFault
from density_study.workloads.base.values import CacheUse
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.rows.raw.manifest_rows import cache_row
from density_study.workloads.ycsb.test_case import YcsbTestCase

TEST_CASE = YcsbTestCase(mix="c", records=1000, threads=1, duration_s=30.0)


def row(engines: dict[str, str | None], mix: str = "c", fault: Any = None) -> dict[str, Any]:
    use = CacheUse(declared="mmap", engines=engines, l2_hits=3, evictions=4)
    test_case = YcsbTestCase(mix=mix, records=1000, threads=1, duration_s=30.0)
    return cache_row(Manifest.model_construct(caches=use, test_case=test_case, fault=fault))


@pytest.mark.parametrize(
    ("engines", "foreign"),
    [
        ({"a": "mmap", "b": "mmap"}, 0),
        ({"a": "mmap", "b": "file"}, 1),
        ({"a": None, "b": "file"}, 1),  # whatever the other one uses, this one is wrong
        ({"a": None, "b": "mmap"}, None),
        ({"a": None}, None),
        ({}, None),
    ],
)
def test_a_server_that_shows_nothing_may_be_foreign(
    engines: dict[str, str | None], foreign: int | None
) -> None:
    assert row(engines)["foreign_tiers"] == foreign


def test_only_trials_that_read_must_find_blocks() -> None:
    assert row({"a": "mmap"})["reads_tier"] is True
    assert row({"a": "mmap"}, mix="load")["reads_tier"] is False


def test_a_trial_with_a_fault_proves_nothing() -> None:
    killed = InjectedFault(kill="regionserver", node="w1", name="regionserver", epoch_s=1.0)
    found = row({"a": None}, fault=killed)
    assert (found["tier"], found["foreign_tiers"], found["reads_tier"]) == (None, None, False)


def test_blocks_are_counted_where_no_tier_is_declared() -> None:
    use = CacheUse(declared=None, engines={}, l1_hits=90, l1_misses=10, evictions=4)
    row = cache_row(Manifest.model_construct(caches=use, test_case=TEST_CASE, fault=None))
    assert (row["l1_hits"], row["l1_misses"], row["cache_evictions"]) == (90, 10, 4)
    assert (row["tier"], row["foreign_tiers"], row["reads_tier"]) == (None, None, False)
