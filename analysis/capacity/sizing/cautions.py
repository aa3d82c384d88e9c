"""What a plan assumes, and what nobody measured, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import numpy as np

from density_study.analysis.capacity.curves.prediction import SUPPORTED
from density_study.analysis.capacity.inputs.catalogue import Catalogue
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.sized import Sized

STALE_DAYS = 180  # older prices are used, with a warning


def other_seeds(best: Sized, others: Sequence[Sized]) -> Iterator[str]:
    """A line if other random draws may lead to another answer."""
    low, high = best.with_other_seeds()
    cost = best.candidate.usd_per_genome(high)
    rivals = [
        f"{one.hosts} {one.candidate.host.name}"
        for one in others
        if one.candidate.host.name != best.candidate.host.name
        and one.candidate.usd_per_genome(one.with_other_seeds()[0]) < cost
    ]
    names = list(dict.fromkeys(rivals))
    if low < high or names:
        counts = f"{low} to {high}" if low < high else f"{high}"
        yield (
            f"other seeds may give another answer: {counts} hosts of {best.candidate.host.name}"
            + "".join(f", or {name}" for name in names)
            + "; more draws (--draws) narrow this"
        )


def warnings(one: Candidate, hosts: int, search: Search) -> Iterator[str]:
    """What a plan assumes, and what nobody measured, in words."""
    yield from one.demand.profile.left_out()
    yield from one.demand.profile.notes
    yield from search.warnings
    notes: dict[str, list[str]] = {}
    for resource in (supplied.resource for supplied in one.provided):
        disk_type = one.disk_type_of(resource)
        note = search.transfers.get((one.host.name, disk_type, resource))
        if note is not None:
            notes.setdefault(note, []).append(resource)
    for note, resources in notes.items():
        yield f"{', '.join(resources)} on {one.host.name}: {note}"
    if one.demand.profile.stages:
        yield (
            "the model assumes that density affects core-hours only through cores and memory per VM; "
            "measure a batch job at several densities to check this"
        )
    for supplied in one.provided:
        supply = supplied.supply
        need = one.needs[supplied.resource]
        if float(np.quantile(need, SURE)) - 1 > supply.measured:
            yield (
                f"{supplied.resource} is extrapolated to {supply.hosts[-1]:.0f} hosts; it was measured up to "
                f"{supply.measured}, so its interval is wider"
            )
        elif hosts - 1 == supply.hosts[0] > 1 and (need <= hosts).all():
            yield (
                f"{supplied.resource}: {hosts - 1} hosts, the smallest count measured for {supply.group}, "
                "are enough in every draw; measure at fewer hosts, because fewer may be enough"
            )
        elif hosts - 1 > supply.hosts[-1]:
            yield (
                f"{supply.group} was measured up to {supply.measured} hosts: the plan has {hosts}, but "
                f"assumes its rate on {supply.hosts[-1]:.0f} hosts"
            )
    yield from _unsupported(one, hosts)
    yield from _edge_of_load(one)
    used = {supplied.supply.group for supplied in one.provided}
    for excuse in search.market.model.excuses:
        if excuse.startswith(tuple(f"{group} on " for group in used)):
            yield excuse
    for found in search.market.model.interactions:
        if found.group in used and found.verdict == "present":
            yield f"{found.group}: the effect of density depends on the number of hosts"
    yield from price_warnings(search.catalogue)


def price_warnings(catalogue: Catalogue) -> Iterator[str]:
    """Lines if prices are old, of the future, or without that of power."""
    dated = catalogue.date.isoformat()
    age = (datetime.now(UTC).date() - catalogue.date).days
    if age > STALE_DAYS:
        yield f"prices are dated {dated}: {age} days old"
    if age < 0:
        yield f"prices are dated {dated}, which is in the future: check the catalogue's date"
    bought = (host for host in catalogue.hosts if host.capex_usd is not None)
    if without := [host.name for host in bought if "kw" not in host.model_fields_set]:
        yield f"kw is missing for {', '.join(without)}: their power is in no cost"


def _unsupported(one: Candidate, hosts: int) -> Iterator[str]:
    """Rates that the points do not support; the plan buys for what they may be."""
    for supplied in one.provided:
        rates = supplied.rate(hosts - 1) / supplied.factor
        low, middle, high = np.quantile(rates, (0.05, 0.5, 0.95))
        if max(middle / low, high / middle) - 1 > SUPPORTED:
            known = f"{low / middle - 1:+.0%} to {high / middle - 1:+.0%}"
            yield (
                f"{supplied.resource} is known only to {known}, and the plan buys hosts for this doubt; "
                "measure more repetitions, or host counts near the plan's, to reduce it"
            )


def _edge_of_load(one: Candidate) -> Iterator[str]:
    """A warning if the query SLO allows more load than was measured."""
    promise = one.demand.question.query
    if one.query is None or promise is None:
        return
    edge, allowed = one.query.fit.largest_rho, one.query.allowed_rho(promise.limit_s)
    if edge < one.rho_max and float(np.median(allowed)) > edge - 0.01:
        yield (
            f"{promise} may allow more load than was measured: the plan stays at utilization {edge:.2f}, the "
            f"highest measured for {one.query.fit.group}; measure at higher loads"
        )
