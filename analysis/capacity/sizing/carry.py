"""`carry`: what the existing hosts carry, what one more part changes, and when they are full.

The inverse of `size`: for the load that is found, `size` buys as many hosts of this type as stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import floor, log10

import numpy as np

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.plan.carried import Carried, Change
from density_study.analysis.capacity.plan.plan import Excuse, utc_now
from density_study.analysis.capacity.plan.words import resource_words
from density_study.analysis.capacity.sizing.candidate import SURE, Key
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.cautions import warnings
from density_study.analysis.capacity.sizing.growth import Growth, full, starting_data, years
from density_study.analysis.capacity.sizing.plan_maker import examples, hours, loads
from density_study.analysis.capacity.sizing.size import SHOWN_REASONS, check
from density_study.analysis.capacity.sizing.sized import Sized, Sizing
from density_study.analysis.capacity.sizing.standing import LEAST, Standing, more_disks, neighbours

BEYOND = 0.02  # relative: how much larger a load shows what fails first
FIGURES = 3  # of the answer, rounded down


def carry_each(
    question: Question,
    model: Model,
    profile: Profile,
    catalogue: Catalogue,
    growth: Growth | None = None,
) -> tuple[Carried | Excuse, ...]:
    """The load that each host type with a count carries, as a cluster of its own. The existing cohort, shared
    file systems and the growing load are divided among these clusters in proportion to their disk space."""
    types = [host for host in catalogue.hosts if host.count is not None]
    space = [host.gib * (host.count or 0) for host in types]
    shares = [one / sum(space) for one in space]
    alone = [
        catalogue.model_copy(
            update={"hosts": (host,), "shared": tuple(one.part(share) for one in catalogue.shared)}
        )
        for host, share in zip(types, shares, strict=True)
    ]
    parts = [profile.part(share) for share in shares]
    found = [
        carry(question, model, *one, growth if len(alone) == 1 else None)
        for one in zip(parts, alone, strict=True)
    ]
    if growth is None or len(alone) == 1:
        return tuple(found)
    total = sum(one.genomes_per_day for one in found if isinstance(one, Carried))
    return tuple(
        carry(question, model, part, hosts, growth.part(one.genomes_per_day / total))
        if isinstance(one, Carried)
        else one
        for one, part, hosts in zip(found, parts, alone, strict=True)
    )


def carry(
    question: Question,
    model: Model,
    profile: Profile,
    catalogue: Catalogue,
    growth: Growth | None = None,
) -> Carried | Excuse:
    """`question.genomes_per_day` is not used. catalogue: one host type has a count. InputError if an SLO
    concerns something that the profile lacks."""
    check(question, profile)
    search = Search.of(question, model, profile, catalogue)
    host = next(one for one in catalogue.hosts if one.count is not None)
    given = host.vms_per_host
    densities = search.densities if given is None else (given,)
    standing = Standing(search, host, host.count or 0, densities)
    found = standing.carried()
    if found is None:
        return _excuse(standing)
    load, sized = rounded_down(found[0]), found[1]
    one = sized.candidate
    bound, share = _first_limit(standing, one.key, found[0])
    return Carried(
        created=utc_now(),
        profile=profile.profile,
        slos=question.slos,
        host_type=host.name,
        hosts=sized.hosts,
        vms_per_host=one.vms_per_host,
        disk_type_sequential=one.disk_type_sequential,
        disk_type_random=one.disk_type_random,
        genomes_per_day=load,
        holds=sized.holds,
        bottleneck=bound,
        missed=share,
        loads=tuple(loads(one, sized.hosts)),
        turnaround_p95_h=hours(sized.one_lost),
        changes=tuple(_changes(standing, sized, found[0])),
        today=growth and growth.today,
        growth=growth and growth.per_year,
        full=full(standing, one.key, growth) if growth else (),
        years=tuple(years(standing, one.key, growth)) if growth else (),
        warnings=(*((starting_data(one),) if growth else ()), *warnings(one, sized.hosts, search)),
        example=examples(search.market.model, catalogue),
    )


def _first_limit(standing: Standing, key: Key, load: float) -> tuple[str, float]:
    """What fails first: the limit that the most draws miss at a slightly larger load, and the share of the
    draws that miss any."""
    one = standing.candidate(key, load * (1 + BEYOND))
    if one is None:
        return "the SLO for queries", 1.0
    missed = {name: need > standing.count for name, need in one.needs.items()}
    promise = one.demand.question.turnaround
    found = Sizing(one).with_hosts(standing.count).one_lost
    if promise is not None and found is not None:
        missed["turnaround"] = found.percentile_s > promise.limit_s
    name = max(missed, key=lambda name: float(missed[name].mean()))
    return name, float(np.any(list(missed.values()), axis=0).mean())


def rounded_down(load: float) -> float:
    """To three figures, so that the answer is no more than what was found."""
    unit = 10.0 ** (floor(log10(load)) - FIGURES + 1)
    return round(floor(load / unit * (1 + 1e-12)) * unit, 12)


def _changes(standing: Standing, sized: Sized, load: float) -> Iterator[Change]:
    """One more host, one more disk of each disk type in every host, and the neighbouring densities."""
    one, host = sized.candidate, standing.host
    fixed = replace(standing, densities=(one.vms_per_host,))
    tried = [("one more host", replace(fixed, count=fixed.count + 1))]
    for disk_type in one.disk_types:
        if disk_type not in host.disk_types:
            continue  # shared: its disks are no part of a host
        name = f"one more {disk_type} disk in each host"
        tried.append((name, replace(fixed, host=more_disks(host, disk_type))))
    for density in neighbours(standing.search.densities, one.vms_per_host):
        name = f"{density} VM{'s' * (density > 1)} per host" if density else "bare hosts"
        tried.append((name, replace(standing, densities=(density,))))
    for name, other in tried:
        found = other.carried()
        after = None if found is None else rounded_down(found[0])
        yield Change(
            change=name,
            genomes_per_day=after,
            relative=None if found is None else found[0] / load - 1,
            why=_refusal(other) if found is None else "",
        )


def _refusal(standing: Standing) -> str:
    """Why no candidate remains; empty if one does, but carries no load."""
    search = standing.search.at(LEAST)
    if any(True for _ in search.of_host(standing.host, standing.densities)):
        return ""
    return next(iter(search.refused), "")


def _excuse(standing: Standing) -> Excuse:
    question = standing.search.demand.question
    search = standing.search
    every = list(search.of_host(standing.host, standing.densities))
    reasons = []
    for one in every[:SHOWN_REASONS]:
        least = float(not_exceeded(one.needs[one.tightest], SURE))
        needed = (
            f"at least {least:.0f} hosts" if np.isfinite(least) else "more hosts than were measured"
        )
        why = f"{resource_words(one.tightest)} would take {needed}"
        if least <= standing.count:
            why = f"a single genome takes longer than {question.turnaround}"
        reasons.append(
            f"with {one.vms_per_host} VMs per host and one host failed they carry no load: {why}"
        )
    others = [text for text, _ in search.refused.most_common(SHOWN_REASONS)]
    hosts = f"{standing.count} host{'s' * (standing.count > 1)} of {standing.host.name}"
    return Excuse(
        created=utc_now(),
        requested=f"any load of {search.demand.profile.profile} on {hosts}",
        slos=question.slos,
        reasons=(*dict.fromkeys(reasons), *others) or ("no density and disk type remains",),
        next_steps=("add hosts, relax the SLO, or measure what the reasons name",),
    )
