"""Output of `study capacity carry` and `years`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType, group
from rich.text import Text

from density_study.analysis.capacity.plan.carried import (
    Carried,
    Change,
    Purchase,
    Year,
    carried_sentence,
)
from density_study.analysis.capacity.plan.operations import OperationsPlan
from density_study.analysis.capacity.plan.plan import Excuse, spread
from density_study.analysis.capacity.plan.words import resource_words
from density_study.analysis.capacity.sizing.growth import Growth
from density_study.dags.cli.capacity.plan_display import answer_page, lines
from density_study.dags.cli.layout import titled

SHOWN_REFUSED = 12


def clusters_page(found: Sequence[Carried | OperationsPlan | Excuse]) -> RenderableType:
    """The answer of each cluster; of several, what they carry together comes first."""
    pages = [carried_page(one) if isinstance(one, Carried) else answer_page(one) for one in found]
    loads = [one.genomes_per_day for one in found if isinstance(one, Carried)]
    rates = [one.ops_s for one in found if isinstance(one, OperationsPlan)]
    if len(loads) + len(rates) < 2:
        return Group(*pages)
    total = f"{sum(loads):g} genomes/day" if loads else f"{sum(rates):,.0f} operations/s"
    text = f"{len(loads) + len(rates)} clusters, one for each host type, carry {total} together."
    return Group(Text(text, style="bold"), *pages)


@group()
def carried_page(found: Carried) -> Iterator[RenderableType]:
    """What the hosts carry, their utilization, what one more part changes, and each year of growth."""
    yield Text(carried_sentence(found), style="bold")
    header = ("resource", "utilization", "one host failed", "limit")
    yield titled(f"at {found.genomes_per_day:g} genomes/day, median (90 % range)", header, (
        (resource_words(load.resource), spread(load.rho, ".0%"), spread(load.rho_one_lost, ".0%"),
         f"{load.limit:.0%}")
        for load in found.loads
    ))  # fmt: skip
    yield titled("what would change it", ("change", "genomes/day", ""), map(_change, found.changes))
    if found.full:
        yield titled("when it is full", ("limit", "date"), (
            (one.limit, one.date or "not within 30 years") for one in found.full
        ))  # fmt: skip
    if found.years:
        columns = (
            "year",
            "genomes/day",
            "share",
            "hosts of this type",
            "USD a year",
            "kW",
            "rack units",
        )
        rows = ((str(one.year), *_load(one, found), *_year(one)) for one in found.years)
        yield titled("at the end of each year", columns, rows)
    yield from lines("warnings", map(resource_words, found.warnings))


def _change(one: Change) -> Sequence[str]:
    if one.genomes_per_day is None or one.relative is None:
        return (one.change, "-", resource_words(one.why)) if one.why else (one.change, "none", "")
    return one.change, f"{one.genomes_per_day:g}", f"{one.relative:+.0%}"


def _load(one: Year, found: Carried) -> Sequence[str]:
    share = one.genomes_per_day / found.genomes_per_day
    return f"{one.genomes_per_day:.4g}", f"{share:.0%}"


def _year(one: Year) -> Sequence[str]:
    return (
        "no number suffices" if one.hosts is None else str(one.hosts),
        "-" if one.usd is None else f"{one.usd:,.0f}",
        "-" if one.kw is None else f"{one.kw:.1f}",
        "-" if one.rack_units is None else f"{one.rack_units:g}",
    )


def purchases_page(
    rows: Sequence[Purchase], refused: Sequence[str], grows: Growth
) -> RenderableType:
    """One row for each host type, the cheapest over all years first."""
    header = ("host type", "price", "VMs/host", "disk types", "hosts by year", "USD, all years", "USD/genome",
              "kW", "rack units")  # fmt: skip
    best = next((row for row in rows if row.usd is not None), None)
    sentence = "no host type carries the load of every year"
    if best is not None:
        label = "EXAMPLE, made-up figures: " if best.example else ""
        sentence = (
            f"{label}{best.host_type}, {best.price}: {best.usd:,.0f} USD over {grows.years} years, "
            f"{best.usd_per_genome:.2f} USD per genome, from {grows.today:g} genomes/day at "
            f"{grows.per_year:.0%} growth a year."
        )
    return Group(
        Text(sentence, style="bold"),
        titled(None, header, map(_purchase, rows)),
        *lines("not considered", refused[:SHOWN_REFUSED]),
        *lines("warnings", map(resource_words, best.warnings if best else ())),
    )


def _purchase(row: Purchase) -> Sequence[str]:
    last = row.years[-1]
    return (
        row.host_type,
        row.price,
        str(row.vms_per_host),
        " + ".join(row.disk_types),
        " ".join("-" if year.hosts is None else str(year.hosts) for year in row.years),
        "-" if row.usd is None else f"{row.usd:,.0f}",
        "-" if row.usd_per_genome is None else f"{row.usd_per_genome:.2f}",
        *_year(last)[2:],
    )
