"""`size`: the cheapest plan that meets every SLO with one host failed, or an excuse.

All candidates are checked against CPU, memory, disks, measured rates and the query SLO, for every draw.
Then, cheapest first, the stage graph is simulated, and hosts are added until turnaround meets its SLO.

`whatif`: cost and hosts of all candidates, without that simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.inputs.ranged import quantiles
from density_study.analysis.capacity.plan.plan import Excuse, Plan, Quantiles, utc_now
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.plan_maker import make_plan
from density_study.analysis.capacity.sizing.stage_graph import turnaround_s
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.values import Frozen

TRIED = 3  # candidates whose turnaround is simulated, which is slow
STEPS = 12  # counts tried, each a tenth more hosts, at least one
SHOWN_REASONS = 8


class WhatIf(Frozen):
    """One host type, density and medium (sequential + random). hosts None: no count is enough."""

    host_type: str
    vms_per_host: int
    media: str
    hosts: int | None
    hosts_needed: Quantiles
    usd_per_genome: float | None
    usd_per_genome_low: float | None
    usd_per_genome_high: float | None
    bottleneck: str


def size(question: Question, model: Model, profile: Profile, catalogue: Catalogue) -> Plan | Excuse:
    """InputError if an SLO concerns something that the profile lacks."""
    _check(question, profile)
    search = Search.of(question, model, profile, catalogue)
    ranked = ranking(search)
    feasible = [(one, hosts) for one, hosts in ranked if hosts is not None]
    for one, hosts in islice(feasible, TRIED):
        found = _with_turnaround(one, hosts)
        if found is not None:
            others = [(o, h) for o, h in feasible if o is not one]
            return make_plan(one, *found, others, search)
        reason = f"{question.turnaround} is not met by {_name(one)}"
        search.refused[f"{reason}, even with a few more than {hosts} hosts"] += 1
    return _excuse(search, [one for one, hosts in ranked if hosts is None])


def ranking(search: Search) -> list[tuple[Candidate, int | None]]:
    """Candidates with the hosts that each needs, cheapest first, infeasible ones last."""
    every = [(one, one.hosts) for one in search.candidates()]
    return sorted(every, key=_cost_and_pressure)


def whatif(
    question: Question, model: Model, profile: Profile, catalogue: Catalogue
) -> tuple[tuple[WhatIf, ...], tuple[str, ...]]:
    """(rows, cheapest first; why other combinations were excluded)."""
    search = Search.of(question, model, profile, catalogue)
    rows = tuple(_row(one, hosts) for one, hosts in ranking(search))
    return rows, tuple(text for text, _ in search.refused.most_common())


def _row(one: Candidate, hosts: int | None) -> WhatIf:
    need, needs = quantiles(one.need), one.needs
    media = dict.fromkeys((one.medium_sequential, one.medium_random))
    return WhatIf(
        host_type=one.host.name,
        vms_per_host=one.vms_per_host,
        media=" + ".join(media),
        hosts=hosts,
        hosts_needed=need,
        usd_per_genome=None if hosts is None else one.usd_per_genome(hosts),
        usd_per_genome_low=None if hosts is None else one.usd_per_genome(round(need.q05)),
        usd_per_genome_high=None if hosts is None else one.usd_per_genome(round(need.q95)),
        bottleneck=max(needs, key=lambda name: np.median(np.nan_to_num(needs[name], posinf=1e12))),
    )


def _cost_and_pressure(ranked: tuple[Candidate, int | None]) -> tuple[float, float]:
    """Of candidates with equal cost, the one with the lowest utilization comes first."""
    one, hosts = ranked
    if hosts is None:
        return float("inf"), 0.0
    pressed = sum(float(np.median(rho)) for rho, _ in one.rhos(hosts).values())
    return round(one.usd_per_genome(hosts), 6), pressed


def _check(question: Question, profile: Profile) -> None:
    if question.turnaround is not None and not profile.stages:
        raise InputError(
            f"profile {profile.profile} has no stages, so it has no turnaround.",
            "--slo",
            "remove the turnaround SLO.",
        )
    if question.query is not None and profile.query is None:
        raise InputError(
            f"profile {profile.profile} has no queries.",
            "--slo",
            "remove the query SLO, or add `query` to the profile.",
        )


def _with_turnaround(one: Candidate, hosts: int) -> tuple[int, Floats | None] | None:
    """As many hosts as the turnaround SLO needs, with turnaround if one of them fails (draws,); None if
    a few more are not enough."""
    promise = one.demand.question.turnaround
    if not one.demand.profile.stages:
        return hosts, None
    if promise is None:
        return hosts, turnaround_s(one, hosts - 1)
    if float((one.path_s() <= promise.limit_s).mean()) < SURE:
        return None  # hosts shorten the queue, not the critical path
    for _ in range(STEPS):
        times = turnaround_s(one, hosts - 1)  # one failed
        if float((times <= promise.limit_s).mean()) >= SURE:
            return hosts, times
        hosts += max(1, hosts // 10)
    return None


def _excuse(search: Search, without: Sequence[Candidate]) -> Excuse:
    reasons = [text for text, _ in search.refused.most_common(SHOWN_REASONS)]
    reasons += list(dict.fromkeys(_beyond(one) for one in without))[:SHOWN_REASONS]
    question = search.demand.question
    return Excuse(
        created=utc_now(),
        genomes_per_day=question.genomes_per_day,
        profile=search.demand.profile.profile,
        slos=question.slos,
        reasons=tuple(reasons) or ("no combination of host type, density and medium remains",),
        next_steps=tuple(_next_steps(reasons)),
    )


def _beyond(one: Candidate) -> str:
    """Why no host count is enough: the resource whose demand exceeds its forecast."""
    worst = max(one.needs, key=lambda name: float((~np.isfinite(one.needs[name])).mean()))
    for supplied in one.provided:
        if supplied.resource == worst:
            supply = supplied.supply
            required = float(np.median(supplied.required))
            kept = float(np.median(supplied.limit)) * float(np.median(supplied.rate(10**9)))
            return (
                f"{worst}: {required:.4g}/s are needed, but {supply.hosts[-1]:.0f} hosts of {one.host.name} "
                f"with {one.vms_per_host} VMs per host on {one.medium_random} carry {kept:.4g}/s; "
                f"{supply.group} was measured up to {supply.measured} hosts, and there is no forecast beyond "
                f"{supply.hosts[-1]:.0f}"
            )
    return f"{worst} does not fit {_name(one)}"


def _next_steps(reasons: Sequence[str]) -> list[str]:
    steps = []
    if any("no forecast beyond" in reason for reason in reasons):
        steps.append("measure at larger host counts, or split the cohort over several clusters")
    if any("is not met" in reason or "cannot be met" in reason for reason in reasons):
        steps.append("relax the SLO, or split the slowest stage into more concurrent tasks")
    if any("measure" in reason for reason in reasons):
        steps.append("measure what the reasons name, then fit the model again")
    if any("besides its daemons" in reason or "daemons alone" in reason for reason in reasons):
        steps.append("use fewer VMs per host, or hosts with more memory")
    if any("price is missing" in reason for reason in reasons):
        steps.append("add prices to the host types in the catalogue")
    return steps or ["add host types to the catalogue"]


def _name(one: Candidate) -> str:
    return f"{one.host.name} with {one.vms_per_host} VMs per host"
