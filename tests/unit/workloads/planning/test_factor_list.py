"""Every factor comes from one list: keys of the study, variants, hypotheses and findings follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from density_study.analysis.validity.rules import RULES
from density_study.cluster.model.variant import Variant
from density_study.workloads.study.factors.factor import Factor
from density_study.workloads.study.factors.levels import Factors
from density_study.workloads.study.factors.registry import factors, held_equal, known_factor


def test_each_factor_is_a_key_of_a_study() -> None:
    assert list(Factors.model_fields) == list(factors())
    assert all(Factors.model_fields[name].description for name in factors())


def test_what_proves_a_level_is_a_check_of_every_trial() -> None:
    checks = {rule.check for rule in RULES}
    proofs = {name: factor.proofs for name, factor in factors().items() if factor.proofs}
    assert set(proofs) == {"tier", "network"}
    assert {check for named in proofs.values() for check in named} <= checks


def test_an_unknown_factor_is_named_with_those_that_there_are() -> None:
    with pytest.raises(
        ValueError, match="no factor 'colour'; write cluster, vms_per_host, disk_type"
    ):
        known_factor("colour")


def test_density_and_disk_type_are_facts_about_an_existing_cluster() -> None:
    assert held_equal("cluster") == (
        *("store", "stack", "configuration", "tier", "network", "oversubscribe"),
    )
    assert "cluster" not in held_equal("disk_type")
    assert set(held_equal("store")) == set(factors()) - {"store"}


def test_the_last_factor_varies_fastest() -> None:
    levels = Factors(vms_per_host=[1], store=["hbase", "redis"], network=["default", {"mtu": 9000}])
    variants = levels.variants(Variant(1, 1, "flash"))
    assert [tuple(variant.levels.values()) for variant in variants] == [
        ("hbase-page-cache", "default"), ("hbase-page-cache", "mtu-9000"),
        ("redis-page-cache", "default"), ("redis-page-cache", "mtu-9000"),
    ]  # fmt: skip


def test_a_factor_needs_no_method_for_a_field_of_the_variant() -> None:
    class Servers(Factor[int]):
        name = "regionservers_per_node"

    variant = Variant(1, 1, "flash")
    assert Servers().apply(variant, 3) == replace(variant, regionservers_per_node=3)
    pairs: Iterator[tuple[str, int]] = Servers().pairs((2, 3))
    assert list(pairs) == [("2", 2), ("3", 3)]
    assert Servers().ordered((3, None, 1)) == (3, None, 1)
    assert Servers().ordered((3, 1)) == (1, 3)
