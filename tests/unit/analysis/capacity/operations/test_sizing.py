"""Hosts for operations per second: the fewest by brute force, monotone, and the inverse of `carry`."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.operations.load import Limit, Load
from density_study.analysis.capacity.operations.options import Options
from density_study.analysis.capacity.operations.sizing import carry_operations, size_operations
from density_study.analysis.capacity.plan.operations import OperationsPlan, operations_sentence
from density_study.analysis.capacity.plan.plan import Excuse
from density_study.analysis.capacity.sizing.candidate import SURE
from tests.unit.analysis.capacity.offers import random_offers
from tests.unit.analysis.capacity.operations.measured import (
    LOAD,
    READ,
    model,
    one_type,
    rate,
    sized,
)


def carried(count: int, load: Load = LOAD, catalogue: Catalogue | None = None) -> float:
    hosts = catalogue or one_type()
    standing = hosts.hosts[0].model_copy(update={"count": count})
    found = carry_operations(load, model(), hosts, standing)
    return found.ops_s if isinstance(found, OperationsPlan) else 0.0


def test_the_hosts_of_the_measured_type_carry_the_load_at_the_limit_in_the_truth() -> None:
    """A READ p99 of 5 ms is reached at rho 0.78 of the true law; the plan must not need far more."""
    plan = sized()
    assert plan.hosts_per_cluster == plan.hosts
    up, density = plan.hosts - 1, plan.vms_per_host
    assert rate(up, density) * 0.78 >= LOAD.ops_s
    assert rate(up - 1, density) * 0.6 < LOAD.ops_s
    assert plan.probability >= SURE
    assert plan.latency_ms["READ p99"].q50 <= 5.0
    text = operations_sentence(plan)
    assert "20,000 operations/s" in text and "READ p99 <= 5 ms" in text and "USD an hour" in text


def brute_force(load: Load, catalogue: Catalogue) -> float:
    """USD an hour of the cheapest, over every option, host count and number of clusters."""
    best = np.inf
    for option in Options(load, model(), catalogue).all():
        price = option.host.usd_per_day(catalogue.site) / 24
        for place, up in enumerate(option.supply.hosts):
            for clusters in range(1, 60 if load.split else 2):
                share = load.ops_s / clusters * (1 - 1e-9)
                enough = np.ones(load.draws, dtype=bool)
                for allowed in option.allowed.values():
                    enough &= option.rates[:, place] * allowed >= share
                room = option.host.size_gib(option.disk_type) * 0.75 * up * clusters
                if enough.mean() >= SURE and room >= load.stored_gib:
                    best = min(best, clusters * (int(up) + 1) * price)
    return best


@pytest.mark.parametrize("seed", range(25))
def test_brute_force_finds_nothing_cheaper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    catalogue = random_offers(rng)
    load = replace(
        LOAD,
        ops_s=float(rng.choice((5_000, 20_000, 60_000, 150_000))),
        limits=(replace(READ, limit_s=float(rng.choice((3e-3, 5e-3, 20e-3)))),),
        split=bool(rng.integers(2)),
        data_gib=float(rng.choice((1.0, 100_000.0))),
    )
    found = size_operations(load, model(), catalogue)
    cost = found.usd_per_hour if isinstance(found, OperationsPlan) else np.inf
    assert cost == pytest.approx(brute_force(load, catalogue))


def test_a_larger_load_a_tighter_limit_and_a_larger_table_never_need_fewer_hosts() -> None:
    split = replace(LOAD, split=True)
    loads = [sized(replace(split, ops_s=ops)).hosts for ops in np.geomspace(1e3, 1e6, 40)]
    assert loads == sorted(loads) and loads[0] < loads[-1]
    limits = [
        sized(replace(split, limits=(replace(READ, limit_s=ms / 1e3),))).hosts
        for ms in (2.6, 3, 4, 5, 8, 20, 200)
    ]
    assert limits == sorted(limits, reverse=True) and limits[0] > limits[-1]
    tables = [sized(replace(split, data_gib=gib)).hosts for gib in (1, 1e5, 1e6)]
    assert tables == sorted(tables) and tables[0] < tables[-1]


def test_a_dearer_host_never_makes_the_plan_cheaper() -> None:
    costs = [sized(LOAD, one_type(capex_usd=usd)).usd_per_hour or 0 for usd in (5000, 9000, 20000)]
    assert costs == sorted(costs)


@pytest.mark.parametrize(("count", "split"), list(product((3, 4, 6, 9, 20, 41), (False, True))))
def test_carry_and_size_are_inverse(count: int, split: bool) -> None:
    load = replace(LOAD, split=split)
    ops_s = carried(count, load)
    assert ops_s > 0
    assert sized(replace(load, ops_s=ops_s)).hosts <= count
    more = size_operations(replace(load, ops_s=1.02 * ops_s), model(), one_type())
    assert isinstance(more, Excuse) or more.hosts > count


def test_more_hosts_carry_no_less_and_a_looser_limit_neither() -> None:
    found = [carried(count, replace(LOAD, split=True)) for count in range(3, 40)]
    assert all(b >= a for a, b in pairwise(found))
    by_limit = [
        carried(6, replace(LOAD, limits=(replace(READ, limit_s=s),))) for s in (3e-3, 5e-3, 1)
    ]
    assert by_limit == sorted(by_limit) and by_limit[0] < by_limit[-1]


def test_hosts_of_another_density_carry_what_that_density_was_measured_at() -> None:
    assert carried(5, catalogue=one_type(vms_per_host=2)) > carried(
        5, catalogue=one_type(vms_per_host=1)
    )


def test_a_load_beyond_the_measured_hosts_is_refused_unless_clusters_may_share_it() -> None:
    large = replace(LOAD, ops_s=1e6)
    refused = size_operations(large, model(), one_type())
    assert isinstance(refused, Excuse)
    assert "was measured up to 6 hosts" in " ".join(refused.reasons)
    assert "--split" in " ".join(refused.next_steps)
    plan = sized(replace(large, split=True))
    assert plan.clusters > 1 and plan.hosts == plan.clusters * plan.hosts_per_cluster
    assert any("share no table" in text for text in plan.warnings)


def test_what_was_not_measured_is_refused_by_name() -> None:
    for limits, words in (
        ((Limit("UPDATE", 99.0, 1.0),), "UPDATE"),
        ((Limit("READ", 50.0, 1.0),), "p50"),
        ((Limit("READ", 99.0, 1e-4),), "even without load"),
    ):
        found = size_operations(replace(LOAD, limits=limits), model(), one_type())
        assert isinstance(found, Excuse)
        assert words in " ".join(found.reasons)
    flash = one_type(disks=[{"disk_type": "flash", "count": 1, "size_gib": 1000}])
    found = size_operations(LOAD, model(), flash)
    assert isinstance(found, Excuse) and "only on hdd" in found.reasons[0]


def test_hosts_beyond_what_was_measured_stand_idle_and_the_answer_says_so() -> None:
    hosts = one_type(vms_per_host=2)
    standing = hosts.hosts[0].model_copy(update={"count": 100})
    found = carry_operations(LOAD, model(), hosts, standing)
    assert isinstance(found, OperationsPlan) and found.hosts < 100
    idle = [text for text in found.warnings if "stand idle" in text]
    assert idle and f"{100 - found.hosts} of 100 hosts" in idle[0] and "--split" in idle[0]
    same = f"{found.ops_s:,.0f} operations/s instead of {found.ops_s:,.0f}"
    assert same not in operations_sentence(found), "a change that changes nothing is none"


def test_one_host_carries_nothing() -> None:
    hosts = one_type()
    standing = hosts.hosts[0].model_copy(update={"count": 1})
    found = carry_operations(LOAD, model(), hosts, standing)
    assert isinstance(found, Excuse) and "1 hosts of same" in found.requested


def test_each_curve_has_its_limit_the_chosen_place_and_the_margin() -> None:
    plan = sized()
    by_hosts, latency = plan.curves
    assert by_hosts.limit == LOAD.ops_s and by_hosts.chosen == plan.hosts
    assert by_hosts.margin and by_hosts.margin.q50 > 0
    assert latency.limit == pytest.approx(5.0) and latency.limit_words == "READ p99 <= 5 ms"
    assert [point.value.q50 for point in latency.points] == sorted(
        point.value.q50 for point in latency.points
    )
