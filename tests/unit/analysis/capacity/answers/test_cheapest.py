"""`size` finds the cheapest candidate that meets all SLOs together, and is monotone in its inputs."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.question import parse_promises, question
from density_study.analysis.capacity.plan.plan import Plan, plan_sentence
from density_study.analysis.capacity.sizing.candidate import SURE, enough_hosts
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.size import size
from density_study.analysis.capacity.sizing.sized import smallest
from tests.unit.analysis.capacity.offers import (
    host,
    offers,
    one_slow_disk,
    random_offers,
    slow_and_fast,
)
from tests.unit.analysis.capacity.planning import DRAWS, answer, excuse, model, plan

LIMITS_H = (16, 24, 36, 168, 720, 9_999_999)


def usd(*arguments: object, **more: object) -> float:
    found = answer(*arguments, **more)  # type: ignore[arg-type]
    return found.usd_per_genome_as_bought if isinstance(found, Plan) else np.inf


def test_a_cheap_type_that_is_too_slow_does_not_hide_one_that_is_not() -> None:
    wanted = question(50, parse_promises(["turnaround_p95=18h"]))
    found = size(wanted, model(), read_profile("wgs30x"), slow_and_fast())
    assert isinstance(found, Plan), found
    assert (found.host_type, found.hosts) == ("fast", 30)


def test_a_fat_host_with_one_slow_disk_does_not_carry_the_files() -> None:
    text = " ".join(excuse(100, hosts=one_slow_disk()).reasons)
    assert "by their data sheets, its disks carry 10/s a host" in text


@pytest.mark.parametrize(
    ("disks", "network", "cores", "bound"),
    [((8, 180), 10, 64, "disks"), ((8, 720), 10, 64, "network"), ((8, 720), 100, 16, "cores")],
)
def test_a_measured_rate_is_scaled_by_the_part_that_bounds_it(
    disks: tuple[int, int], network: float, cores: int, bound: str
) -> None:
    """The rate stays 1x although the other two parts are 4x the measured host's, or more."""
    count, mib_s = disks
    disk = {"disk_type": "hdd", "count": count, "size_gib": 14901, "mib_s": mib_s}
    own = {"disk_type": "hdd", "count": 8, "mib_s": 180}
    here = host("other", 1.0, 9000, cores=cores, disks=[disk], network_gbit_s=network)
    here["cpu_speed"] |= {"low": 1.0, "high": 1.0}
    measured_on = {"name": "m", "cores": 16, "disks": [own], "network_gbit_s": 10}
    catalogue = offers(here, measured_on=measured_on)
    search = Search.of(question(20, (), draws=DRAWS), model(), read_profile("wgs30x"), catalogue)
    one = next(iter(search.candidates()))
    files = next(supplied for supplied in one.provided if supplied.resource == "hdfs_read")
    assert files.factor == pytest.approx(1.0), bound


def test_a_part_that_the_catalogue_does_not_give_raises_no_rate_and_is_named() -> None:
    found = plan(20, hosts=offers(host("many-cores", 1.0, 9000, cores=64, ram_gib=512)))
    (note,) = [text for text in found.warnings if "the rate measured on m" in text]
    assert "hdfs_read, hdfs_write, hbase_write, hbase_scan on many-cores: 1.00x" in note
    assert "does not give the disks and network" in note


@pytest.mark.slow
def test_the_printed_probability_is_the_joint_one_and_at_least_nine_in_ten() -> None:
    for genomes in (5, 7.5, 12):
        assert plan(genomes, "turnaround_p95=20h").survival.all_slos >= SURE


@pytest.mark.thorough
def test_no_alternative_is_cheaper_than_the_plan() -> None:
    for limit in ("20h", "24h"):
        found = plan(5, f"turnaround_p95={limit}")
        assert all(o.usd_per_genome >= found.usd_per_genome_as_bought for o in found.alternatives)
        assert not re.search(r"-\d[\d.]*% more", " ".join(found.sensitivity))


@pytest.mark.slow
def test_an_alternative_alone_in_the_catalogue_is_planned_with_the_same_hosts() -> None:
    catalogue = random_offers(np.random.default_rng(3))
    found = plan(10, "turnaround_p95=20h", hosts=catalogue)
    for other in found.alternatives:
        kept = [offer for offer in catalogue.hosts if offer.name == other.host_type]
        alone = plan(
            10, "turnaround_p95=20h", hosts=catalogue.model_copy(update={"hosts": (*kept,)})
        )
        assert alone.usd_per_genome_as_bought <= other.usd_per_genome + 1e-9


@pytest.mark.slow
def test_a_looser_turnaround_never_costs_more() -> None:
    for catalogue in (None, random_offers(np.random.default_rng(1)), slow_and_fast()):
        costs = [usd(20, f"turnaround_p95={limit}h", hosts=catalogue) for limit in LIMITS_H]
        assert costs == sorted(costs, reverse=True)
        assert np.isfinite(costs[-1])


@pytest.mark.slow
def test_a_looser_query_limit_never_costs_more() -> None:
    costs = [usd(20, f"query_p95={limit}s") for limit in (0.3, 0.5, 1, 3, 30)]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.slow
def test_more_genomes_never_cost_less_in_total() -> None:
    for catalogue in (None, random_offers(np.random.default_rng(2))):
        loads = (1, 3, 5, 7.5, 10, 20, 40, 80)
        totals = [n * usd(n, "turnaround_p95=24h", hosts=catalogue) for n in loads]
        assert all(b >= a * (1 - 1e-9) for a, b in pairwise(totals)), totals


@pytest.mark.slow
def test_a_lower_price_never_costs_more_and_another_type_neither() -> None:
    for seed in range(4):
        catalogue = random_offers(np.random.default_rng(seed))
        first, *others = catalogue.hosts
        assert first.capex_usd is not None
        cheaper = first.model_copy(update={"capex_usd": 0.8 * first.capex_usd})
        before = usd(10, "turnaround_p95=24h", hosts=catalogue)
        for hosts in (
            (cheaper, *others),
            (*catalogue.hosts, cheaper.model_copy(update={"name": "x"})),
        ):
            changed = catalogue.model_copy(update={"hosts": hosts})
            assert usd(10, "turnaround_p95=24h", hosts=changed) <= before + 1e-9
        fewer = catalogue.model_copy(update={"hosts": tuple(others)})
        assert usd(10, "turnaround_p95=24h", hosts=fewer) >= before - 1e-9


@pytest.mark.parametrize(("first", "start"), [(5, 5), (9, 5), (200, 5), (6, 5)])
def test_the_smallest_count_is_found_and_an_impossible_one_is_not(first: int, start: int) -> None:
    assert smallest(lambda hosts: hosts >= first, start) == first
    assert smallest(lambda hosts: False, start) is None


def test_a_higher_need_never_buys_fewer_hosts() -> None:
    assert enough_hosts(np.array([4.0] * 95 + [5.0] * 5)) == 4
    assert enough_hosts(np.array([4.0] * 80 + [np.inf] * 20)) is None
    rng = np.random.default_rng(0)
    for _ in range(50):
        need = rng.integers(2, 30, 100).astype(float)
        more = need + rng.integers(0, 3, 100)
        assert enough_hosts(need) <= enough_hosts(more)  # type: ignore[operator]


@pytest.mark.slow
def test_ten_seeds_agree_or_the_plan_says_that_they_may_not() -> None:
    for genomes in (5, 20):
        wanted = [
            question(genomes, parse_promises(["turnaround_p95=24h"]), draws=1000, seed=seed)
            for seed in range(10)
        ]
        plans = [size(one, model(), read_profile("wgs30x"), slow_and_fast()) for one in wanted]
        answers = {(one.host_type, one.hosts) for one in plans if isinstance(one, Plan)}
        said = [
            any("other seeds" in text for text in one.warnings)
            for one in plans
            if isinstance(one, Plan)
        ]
        assert len(answers) == 1 or all(said)


def test_the_headline_names_made_up_inputs() -> None:
    assert plan_sentence(plan(20, "turnaround_p95=24h", "query_p95=3s")).startswith("EXAMPLE")
    assert not plan_sentence(plan(20, hosts=slow_and_fast())).startswith("EXAMPLE")
