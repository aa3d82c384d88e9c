"""`size`: the cheapest plan that meets every SLO with one host failed, or an excuse.

All candidates are checked against CPU, memory, disks, measured rates and the query SLO, for every draw.
For those that may be the cheapest, the stage graph is simulated, and hosts are added until all SLOs are met
together (sized.py).

`whatif`: cost and hosts of all candidates, without that simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.inputs.ranged import quantiles
from density_study.analysis.capacity.plan.plan import Excuse, Plan, Quantiles, utc_now
from density_study.analysis.capacity.sizing.candidate import Candidate
from density_study.analysis.capacity.sizing.candidates import MEASURE, RELAX, SPLIT, Search
from density_study.analysis.capacity.sizing.plan_maker import SHOWN_ALTERNATIVES, make_plan
from density_study.analysis.capacity.sizing.sized import Sized, cheapest_first
from density_study.cluster.model.errors import InputError
from density_study.workloads.base.values import Frozen

SHOWN_REASONS = 8
COMPARED = 8  # other candidates that are compared at most
NEARLY = 1.1


class WhatIf(Frozen):
    """One host type, density and disk type (sequential + random). hosts None: no count is enough."""

    host_type: str
    vms_per_host: int
    disk_types: str
    hosts: int | None
    hosts_needed: Quantiles
    usd_per_genome: float | None
    usd_per_genome_low: float | None
    usd_per_genome_high: float | None
    bottleneck: str


def size(question: Question, model: Model, profile: Profile, catalogue: Catalogue) -> Plan | Excuse:
    """InputError if an SLO concerns something that the profile lacks."""
    check(question, profile)
    search = Search.of(question, model, profile, catalogue)
    ranked = ranking(search)

    def failed(one: Candidate) -> None:
        wanted = f"{question.turnaround} is" if question.turnaround else "all limits together are"
        search.refuse(f"{wanted} not met by {_name(one)}, with any number of hosts", RELAX)

    found = cheapest_first([one for one, _ in ranked], failed)
    cheapest = next(found, None)
    if cheapest is None:
        return _excuse(search, [one for one, hosts in ranked if hosts is None])
    return make_plan(cheapest, list(_others(cheapest, found)), search)


def _others(cheapest: Sized, found: Iterator[Sized]) -> Iterator[Sized]:
    """The next cheapest to show, and all that cost nearly as little, so that another seed may prefer them."""
    _, most = cheapest.with_other_seeds()
    near = NEARLY * cheapest.candidate.usd_per_genome(most)
    for place, one in enumerate(islice(found, COMPARED)):
        if place >= SHOWN_ALTERNATIVES and one.usd_per_genome > near:
            return
        yield one


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
    need = quantiles(one.need)
    return WhatIf(
        host_type=one.host.name,
        vms_per_host=one.vms_per_host,
        disk_types=" + ".join(one.disk_types),
        hosts=hosts,
        hosts_needed=need,
        usd_per_genome=None if hosts is None else one.usd_per_genome(hosts),
        usd_per_genome_low=None if hosts is None else one.usd_per_genome(round(need.q05)),
        usd_per_genome_high=None if hosts is None else one.usd_per_genome(round(need.q95)),
        bottleneck=one.tightest,
    )


def _cost_and_pressure(ranked: tuple[Candidate, int | None]) -> tuple[float, float]:
    """For candidates with equal cost, the one with the lowest utilization comes first."""
    one, hosts = ranked
    if hosts is None:
        return float("inf"), 0.0
    pressed = sum(float(np.median(rho)) for rho, _ in one.rhos(hosts).values())
    return round(one.usd_per_genome(hosts), 6), pressed


def check(question: Question, profile: Profile) -> None:
    """InputError if an SLO concerns something that the profile lacks."""
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


def _excuse(search: Search, without: Sequence[Candidate]) -> Excuse:
    reasons = [text for text, _ in search.refused.most_common(SHOWN_REASONS)]
    beyond = list(dict.fromkeys(_beyond(one, search) for one in without))[:SHOWN_REASONS]
    steps = [search.steps[reason] for reason in reasons if reason in search.steps]
    if beyond:
        steps += [SPLIT, MEASURE]
    question = search.demand.question
    return Excuse(
        created=utc_now(),
        requested=f"{question.genomes_per_day:g} genomes/day of {search.demand.profile.profile}",
        slos=question.slos,
        reasons=(*reasons, *beyond)
        or ("no combination of host type, density and disk type remains",),
        next_steps=tuple(dict.fromkeys(steps)) or ("add host types to the catalogue",),
    )


def _beyond(one: Candidate, search: Search) -> str:
    """Why no host count is enough: the resource whose demand exceeds its forecast."""
    worst = max(one.needs, key=lambda name: float((~np.isfinite(one.needs[name])).mean()))
    for supplied in one.provided:
        if supplied.resource == worst:
            supply = supplied.supply
            required = float(np.median(supplied.required))
            kept = float(np.median(supplied.limit)) * float(np.median(supplied.rate(10**9)))
            disk_type = one.disk_type_of(supplied.resource)
            note = search.transfers.get((one.host.name, disk_type, supplied.resource))
            if supplied.ceiling is not None and supplied.is_at_its_ceiling():
                each = supplied.ceiling[-1] / supply.hosts[-1]
                note = f"by their data sheets, its disks carry {each:.4g}/s a host"
                if one.shared is not None and supplied.ceiling[-1] < one.shared.mib_s:
                    note = f"its network carries {each:.4g}/s a host"
                elif one.shared is not None:
                    note = f"{one.shared.disk_type} carries {one.shared.mib_s:.4g}/s in all"
            return (
                f"{worst}: {required:.4g}/s are needed, but {supply.hosts[-1]:.0f} hosts of {one.host.name} "
                f"with {one.vms_per_host} VMs per host on {disk_type} carry {kept:.4g}/s; "
                f"{supply.group} was measured up to {supply.measured} hosts, and there is no forecast beyond "
                f"{supply.hosts[-1]:.0f}" + (f" ({note})" if note else "")
            )
    return f"{worst} does not fit {_name(one)}"


def _name(one: Candidate) -> str:
    return f"{one.host.name} with {one.vms_per_host} VMs per host"
