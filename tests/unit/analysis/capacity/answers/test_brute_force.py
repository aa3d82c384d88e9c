"""`size` finds the cheapest plan of 100 random small catalogues: brute force over all candidates agrees.

Brute force shares with `size` the draws, the laws and the simulated queue, and nothing of how `size`
searches: it counts hosts upwards, and compares the utilization of every resource with its limit, draw by
draw. For both, the queue is simulated with fewer genomes: what is compared is the search.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count

import numpy as np
import pytest

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.fit import fit
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import read_profile
from density_study.analysis.capacity.inputs.question import Question, parse_promises, question
from density_study.analysis.capacity.plan.plan import Plan
from density_study.analysis.capacity.sizing import turnaround as queue
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.size import size
from tests.unit.analysis.capacity.offers import random_accelerated, random_offers
from tests.unit.analysis.capacity.planning import points

pytestmark = pytest.mark.usefixtures("short_queues")
SEEDS = {"wgs30x": range(100), "wgs30x-gpu": range(2000, 2008)}
"""`make test` takes one seed in ten: a fault that one catalogue in four shows passes it once in 23 times."""
FLASH = {"disk_type": "flash", "count": 2, "size_gib": 7153, "mib_s": 2000}
FAR = 5_000  # hosts: with so many, nothing but the path of one genome is left


@cache
def model() -> Model:
    return fit([point for point in points() if point.vms_per_host in (1, 2)], ["points.csv"])


def catalogue(rng: np.random.Generator) -> Catalogue:
    """Two or three types; some have a second kind of disk, some are rented."""
    made = random_offers(rng)
    document = made.model_dump(mode="json")
    for host in document["hosts"]:
        if rng.random() < 0.3:
            host["disks"].append(FLASH)
        if rng.random() < 0.3:
            host |= {"capex_usd": None, "kw": 0.0, "usd_per_hour": float(rng.uniform(0.2, 2.0))}
    return Catalogue.model_validate(document)


def asked(rng: np.random.Generator) -> Question:
    slos = [f"turnaround_p95={rng.choice((16, 20, 24, 48))}h"]
    if rng.random() < 0.3:
        slos.append(f"query_p95={rng.choice((0.5, 1, 3))}s")
    genomes = float(rng.choice((2, 5, 10, 20)))
    return question(genomes, parse_promises(slos), draws=100)


def _within(one: Candidate, hosts: int) -> Floats:
    """Whether every resource is within its limit with one host failed (draws,)."""
    rhos = one.rhos(hosts - 1).values()
    return np.all([rho <= limit * (1 + 1e-9) for rho, limit in rhos], axis=0)


def carries(one: Candidate, hosts: int) -> bool:
    if _within(one, hosts).mean() < SURE:
        return False  # waiting only makes it worse
    found = queue.turnaround(one, hosts - 1)
    stable = np.isfinite(found.mean_s)
    stay_s = np.where(stable, found.mean_s, one.path_s(hosts - 1))
    fits = _within(replace(one, simulated_stay_s=stay_s), hosts) & stable
    promise = one.demand.question.turnaround
    assert promise is not None
    return bool((fits & (found.percentile_s <= promise.limit_s)).mean() >= SURE)


def least(one: Candidate) -> int | None:
    """From the smallest count that was measured, one by one."""
    if not carries(one, FAR):
        return None
    first = max(2, *(int(supplied.supply.hosts[0]) + 1 for supplied in one.provided))
    return next(hosts for hosts in count(first) if carries(one, hosts))


def cheapest(wanted: Question, hosts: Catalogue, profile: str) -> float:
    search = Search.of(wanted, model(), read_profile(profile), hosts)
    found = [(one, least(one)) for one in search.candidates()]
    return min((one.usd_per_genome(n) for one, n in found if n is not None), default=np.inf)


@pytest.mark.parametrize(
    ("profile", "seed"),
    [
        pytest.param(profile, seed, marks=pytest.mark.slow if seed % 10 else pytest.mark.thorough)
        for profile, seeds in SEEDS.items()
        for seed in seeds
    ],
)
def test_size_and_brute_force_find_the_same_cost(profile: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hosts = random_accelerated(rng) if profile == "wgs30x-gpu" else catalogue(rng)
    wanted = asked(rng)
    found = size(wanted, model(), read_profile(profile), hosts)
    cost = found.usd_per_genome_as_bought if isinstance(found, Plan) else np.inf
    assert cost == pytest.approx(cheapest(wanted, hosts, profile)), wanted


def _usd_per_day(wanted: Question, hosts: Catalogue) -> float:
    found = size(wanted, model(), read_profile("wgs30x"), hosts)
    cost = found.usd_per_genome_as_bought if isinstance(found, Plan) else np.inf
    return cost * wanted.genomes_per_day


def _dearer(hosts: Catalogue) -> Catalogue:
    raised = (
        host.model_copy(
            update={
                name: value * 1.3
                for name in ("capex_usd", "usd_per_hour")
                if (value := getattr(host, name)) is not None
            }
        )
        for host in hosts.hosts
    )
    return hosts.model_copy(update={"hosts": tuple(raised)})


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.slow if seed % 5 else pytest.mark.thorough)
        for seed in range(1000, 1012)
    ],
)
def test_less_load_looser_slos_lower_prices_and_more_types_never_cost_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hosts, wanted = catalogue(rng), asked(rng)
    usd, promise = _usd_per_day(wanted, hosts), wanted.turnaround
    assert promise is not None
    looser = replace(promise, limit_s=promise.limit_s * 1.4)
    fewer_types = hosts.model_copy(update={"hosts": hosts.hosts[1:]})
    more = wanted.genomes_per_day * 1.3
    assert _usd_per_day(replace(wanted, turnaround=looser), hosts) <= usd * (1 + 1e-9)
    assert _usd_per_day(replace(wanted, query=None), hosts) <= usd * (1 + 1e-9)
    assert _usd_per_day(replace(wanted, genomes_per_day=more), hosts) >= usd * (1 - 1e-9)
    assert _usd_per_day(wanted, _dearer(hosts)) >= usd * (1 - 1e-9)
    assert _usd_per_day(wanted, fewer_types) >= usd * (1 - 1e-9)
