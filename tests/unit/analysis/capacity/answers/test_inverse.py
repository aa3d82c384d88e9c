"""`carry` and `size` are inverse, and growth is monotone, on random host types; GPU hosts among them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.question import Question, parse_promises, question
from density_study.analysis.capacity.plan.carried import Carried
from density_study.analysis.capacity.plan.plan import Plan
from density_study.analysis.capacity.sizing.carry import BEYOND, carry
from density_study.analysis.capacity.sizing.growth import Growth
from density_study.analysis.capacity.sizing.purchase import purchases
from density_study.analysis.capacity.sizing.size import size
from tests.unit.analysis.capacity.offers import random_accelerated, random_offers
from tests.unit.analysis.capacity.planning import model

pytestmark = pytest.mark.usefixtures("short_queues")
START = date(2026, 1, 1)


def drawn(seed: int) -> tuple[Catalogue, str, Question]:
    """One host type of which some hosts stand, a profile, and SLOs."""
    rng = np.random.default_rng(seed)
    accelerated = seed % 3 == 0
    made = random_accelerated(rng) if accelerated else random_offers(rng)
    host = made.hosts[0].model_copy(update={"count": int(rng.integers(4, 13))})
    slos = [f"turnaround_p95={rng.choice((20, 24, 48))}h"] + ["query_p95=3s"] * int(rng.integers(2))
    wanted = question(1.0, parse_promises(slos), draws=100)
    profile = "wgs30x-gpu" if accelerated else "wgs30x"
    return made.model_copy(update={"hosts": (host,)}), profile, wanted


@pytest.mark.slow
def test_the_load_that_hosts_carry_buys_so_many_and_a_larger_one_more() -> None:
    carried, more = [], []
    for seed in range(12):
        hosts, profile, wanted = drawn(seed)
        found = carry(wanted, model(), read_profile(profile), hosts)
        count = hosts.hosts[0].count
        if not isinstance(found, Carried):
            least = size(
                replace(wanted, genomes_per_day=0.01), model(), read_profile(profile), hosts
            )
            assert not isinstance(least, Plan) or least.hosts > (count or 0), seed
            continue
        at, beyond = (
            size(replace(wanted, genomes_per_day=load), model(), read_profile(profile), hosts)
            for load in (found.genomes_per_day, found.genomes_per_day * (1 + BEYOND))
        )
        assert isinstance(at, Plan) and at.hosts <= found.hosts, seed
        assert not isinstance(beyond, Plan) or beyond.hosts > found.hosts, seed
        carried.append(seed)
        if isinstance(beyond, Plan):
            more.append(seed)
    assert len(more) >= 4, (carried, more)


@pytest.mark.slow
def test_a_faster_growth_is_full_no_later_and_costs_no_less() -> None:
    filled, paid = [], []
    for seed in range(100, 106):
        hosts, profile, wanted = drawn(seed)
        days, costs = [], []
        for rate in (0.1, 0.4):
            grows = Growth(0.5, rate, 3, START)
            found = carry(wanted, model(), read_profile(profile), hosts, grows)
            if isinstance(found, Carried):
                full = (one.days for one in found.full if one.days is not None)
                days.append(min(full, default=1e9))
                counts = [year.hosts for year in found.years if year.hosts is not None]
                assert counts == sorted(counts), seed
            rows, _ = purchases(wanted, model(), read_profile(profile), hosts, grows)
            costs.append(min((row.usd for row in rows if row.usd is not None), default=np.inf))
        assert days == sorted(days, reverse=True), seed
        assert costs == sorted(costs), seed
        if len(days) == 2:
            filled.append(seed)
        if np.isfinite(costs).all():
            paid.append(seed)
    assert len(filled) >= 4 and len(paid) >= 4, (filled, paid)
