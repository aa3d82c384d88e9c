"""`size`: the plan of least cost that keeps every promise with one host lost, or an excuse.

All candidates are held against CPU, memory, disks, measured rates and the query promise at once, by
draws; then, cheapest first, the stage graph is simulated, with hosts added until turnaround holds too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import numpy as np

from analysis.capacity.curves.model import Model
from analysis.capacity.inputs.array import Floats
from analysis.capacity.inputs.catalogue import Catalogue
from analysis.capacity.inputs.profile import Profile
from analysis.capacity.inputs.question import Question
from analysis.capacity.plan.plan import Excuse, Plan
from analysis.capacity.sizing.candidate import Candidate
from analysis.capacity.sizing.candidates import Search
from analysis.capacity.sizing.demand import Demand
from analysis.capacity.sizing.plan_maker import make_plan
from analysis.capacity.sizing.regret import SURE
from analysis.capacity.sizing.supply import SupplyCatalog
from analysis.capacity.sizing.turnaround import turnaround_s
from cluster.model.errors import InputError

TRIED = 3
STEPS = 12
SHOWN_REASONS = 8


@dataclass(frozen=True)
class SizingResult:
    """A candidate that keeps its promises with `hosts`, and turnaround with one lost (draws,)."""

    candidate: Candidate
    hosts: int
    turnaround_one_lost_s: Floats | None


def size(question: Question, model: Model, profile: Profile, catalogue: Catalogue) -> Plan | Excuse:
    """InputError if a promise is about something the profile does not have."""
    _check(question, profile)
    search = Search(
        SupplyCatalog.of(model, profile, question),
        Demand.of(profile, question),
        catalogue,
        densities(model),
    )
    ranked = ranking(search)
    feasible = [(one, hosts) for one, hosts in ranked if hosts is not None]
    for one, hosts in islice(feasible, TRIED):
        found = _with_turnaround(one, hosts)
        if found is not None:
            others = [(o, h) for o, h in feasible if o is not one]
            return make_plan(
                found.candidate, found.hosts, found.turnaround_one_lost_s, others, search
            )
        limit = question.turnaround
        search.refused[
            f"{limit} is not kept by {_name(one)}, with {hosts} hosts or a few more"
        ] += 1
    return _excuse(search, [one for one, hosts in ranked if hosts is None])


def densities(model: Model) -> tuple[int, ...]:
    """VMs per host that were measured, and those between measured ones."""
    measured = {point.vms_per_host for point in model.points}
    positive = sorted(v for v in measured if v >= 1)
    between = set(range(positive[0], positive[-1] + 1)) if positive else set()
    return tuple(sorted(measured | between))


def ranking(search: Search) -> list[tuple[Candidate, int | None]]:
    """Candidates with the hosts each needs, cheapest first, those without an answer last."""
    every = [(one, one.hosts) for one in search.candidates()]
    return sorted(every, key=lambda pair: _cost_and_pressure(*pair))


def _cost_and_pressure(one: Candidate, hosts: int | None) -> tuple[float, float]:
    """Of equal cost, the candidate whose rates are least pressed is the better one."""
    if hosts is None:
        return float("inf"), 0.0
    pressed = sum(float(np.median(rho)) for rho, _ in one.rhos(hosts).values())
    return round(one.usd_per_genome(hosts), 6), pressed


def _check(question: Question, profile: Profile) -> None:
    if question.turnaround is not None and not profile.stages:
        raise InputError(
            f"profile {profile.profile} has no stages, so nothing turns round.",
            "--slo",
            "leave turnaround out.",
        )
    if question.query is not None and profile.query is None:
        raise InputError(
            f"profile {profile.profile} has no queries.",
            "--slo",
            "leave the query promise out, or add `query` to the profile.",
        )


def _with_turnaround(one: Candidate, hosts: int) -> SizingResult | None:
    """The candidate with as many hosts as the turnaround promise asks for, or None."""
    promise = one.demand.question.turnaround
    if not one.demand.profile.stages:
        return SizingResult(one, hosts, None)
    if promise is None:
        return SizingResult(one, hosts, turnaround_s(one, hosts - 1, 95.0))
    if float((one.path_s() <= promise.limit_s).mean()) < SURE:
        return None
    for _ in range(STEPS):
        times = turnaround_s(one, hosts - 1, promise.percentile)
        if float((times <= promise.limit_s).mean()) >= SURE:
            return SizingResult(one, hosts, times)
        hosts += max(1, hosts // 10)
    return None


def _excuse(search: Search, without: Sequence[Candidate]) -> Excuse:
    reasons = [text for text, _ in search.refused.most_common(SHOWN_REASONS)]
    reasons += list(dict.fromkeys(_beyond(one) for one in without))[:SHOWN_REASONS]
    question = search.demand.question
    promises = [str(p) for p in (question.turnaround, question.query) if p is not None]
    return Excuse(
        created=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        genomes_per_day=question.genomes_per_day,
        profile=search.demand.profile.profile,
        promises=tuple(promises),
        reasons=tuple(reasons) or ("no host type, density and medium is left to choose from",),
        next_steps=tuple(_next_steps(reasons)),
    )


def _beyond(one: Candidate) -> str:
    """The resource that no host count of its fitted domain carries."""
    worst = max(one.needs, key=lambda name: float((~np.isfinite(one.needs[name])).mean()))
    for supplied in one.provided:
        if supplied.resource == worst:
            supply = supplied.supply
            asked, most = float(np.median(supplied.asked)), float(np.median(supplied.rate(10**9)))
            kept = float(np.median(supplied.limit)) * most
            return (
                f"{worst}: {asked:.4g}/s is asked for, and {one.vms_per_host} VMs per host on "
                f"{one.medium_random} carry {kept:.4g}/s on {supply.hosts[-1]:.0f} hosts of {one.host.name}; "
                f"{supply.group} was measured up to {supply.measured} hosts, and beyond "
                f"{supply.hosts[-1]:.0f} nothing is known"
            )
    return f"{worst} does not fit {_name(one)}"


def _next_steps(reasons: Sequence[str]) -> list[str]:
    steps = []
    if any("nothing is known" in reason for reason in reasons):
        steps.append("measure at larger host counts, or split the cohort over several clusters")
    if any("is not kept" in reason or "cannot be kept" in reason for reason in reasons):
        steps.append("relax the promise, or give the slowest stage more tasks at once")
    if any("measure" in reason for reason in reasons):
        steps.append("measure what the reasons name, then fit the model again")
    if any("beside its daemons" in reason or "daemons alone" in reason for reason in reasons):
        steps.append("fewer VMs per host, or hosts with more memory")
    if any("price is missing" in reason for reason in reasons):
        steps.append("give prices to the host types that may be chosen")
    return steps or ["widen the catalogue"]


def _name(one: Candidate) -> str:
    return f"{one.host.name} with {one.vms_per_host} VMs per host"
