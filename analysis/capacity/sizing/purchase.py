"""`purchases`: a growing load over several years, on each host type of a catalogue.

A year pays the hosts that its end needs. A bought host is paid for its life of three years, a reserved one
for whole terms, also where these reach beyond the last year; power and operations while it works.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue, HostType, Site
from density_study.analysis.capacity.inputs.profile import Profile
from density_study.analysis.capacity.inputs.question import Question
from density_study.analysis.capacity.plan.carried import Purchase, Year
from density_study.analysis.capacity.sizing.candidate import Candidate
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.cautions import warnings
from density_study.analysis.capacity.sizing.growth import YEAR_DAYS, Growth, years
from density_study.analysis.capacity.sizing.plan_maker import examples
from density_study.analysis.capacity.sizing.size import check, ranking
from density_study.analysis.capacity.sizing.sized import Sizing
from density_study.analysis.capacity.sizing.standing import Standing


def purchases(
    question: Question, model: Model, profile: Profile, catalogue: Catalogue, grows: Growth
) -> tuple[tuple[Purchase, ...], tuple[str, ...]]:
    """(one row for each host type, the cheapest over all years first; why others were excluded).
    `question.genomes_per_day` is not used. InputError if an SLO concerns something that the profile lacks."""
    check(question, profile)
    search = Search.of(question, model, profile, catalogue).at(grows.load(grows.years * YEAR_DAYS))
    best: dict[str, Candidate] = {}
    for one, hosts in ranking(search):
        if one.host.name not in best and hosts is not None and Sizing(one).found() is not None:
            best[one.host.name] = one
    rows = [_purchase(one, search, grows) for one in best.values()]
    missing = [host.name for host in catalogue.hosts if host.is_priced and host.name not in best]
    refused = [text for text, _ in search.refused.most_common()]
    refused += [f"{name}: no count is enough in the last year" for name in missing]
    order = sorted(rows, key=lambda row: np.inf if row.usd is None else row.usd)
    return tuple(order), tuple(refused)


def _purchase(one: Candidate, search: Search, grows: Growth) -> Purchase:
    standing = Standing(search, one.host, 0, (one.vms_per_host,))
    found = tuple(years(standing, one.key, grows))
    usd = total_usd(one.host, search.catalogue.site, found, one.fixed_usd)
    most = max((year.hosts or 0 for year in found), default=0)
    genomes = float(grows.genomes(grows.years * YEAR_DAYS, np.array(np.inf)))
    return Purchase(
        host_type=one.host.name,
        price=one.host.price_kind,
        vms_per_host=one.vms_per_host,
        disk_types=one.disk_types,
        years=found,
        usd=usd,
        usd_per_genome=None if usd is None else usd / genomes,
        warnings=tuple(warnings(one, most, search)) if most else (),
        example=examples(search.market.model, search.catalogue),
    )


def total_usd(
    host: HostType, site: Site, found: Sequence[Year], fixed_usd: float = 0.0
) -> float | None:
    """Cost of all years together; None if a year has no host count. fixed_usd: that of a day, without
    hosts."""
    total, before = fixed_usd * YEAR_DAYS * len(found), 0
    for place, year in enumerate(found):
        if year.hosts is None:
            return None
        added, left = year.hosts - before, len(found) - place
        paid = ceil(left / host.term_years) * host.term_years if host.term_years else left
        total += (
            added
            * YEAR_DAYS
            * (paid * host.fixed_usd_per_day() + left * host.running_usd_per_day(site))
        )
        before = year.hosts
    return total
