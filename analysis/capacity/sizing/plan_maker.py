"""The chosen candidate as a `Plan`: every number with its quantiles and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from density_study.analysis.capacity import Floats
from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import DAYS, Catalogue
from density_study.analysis.capacity.inputs.example import EXAMPLE
from density_study.analysis.capacity.inputs.ranged import UncertainValue, quantiles
from density_study.analysis.capacity.plan.plan import (
    Alternative,
    Evidence,
    Load,
    Plan,
    Quantiles,
    StageRow,
    Survival,
    utc_now,
)
from density_study.analysis.capacity.sizing.candidate import COMPUTE, Candidate
from density_study.analysis.capacity.sizing.candidates import Search
from density_study.analysis.capacity.sizing.cautions import other_seeds, warnings
from density_study.analysis.capacity.sizing.demand import HOUR_S
from density_study.analysis.capacity.sizing.plan_curves import plan_curves
from density_study.analysis.capacity.sizing.sensitivity import sensitivity
from density_study.analysis.capacity.sizing.sized import Sized
from density_study.analysis.capacity.sizing.turnaround import Turnaround, turnaround

SHOWN_ALTERNATIVES = 5
SHOWN_LEFT_OUT = 12


def make_plan(best: Sized, others: Sequence[Sized], search: Search) -> Plan:
    """others: the next cheapest, which meet the same SLOs."""
    chosen, hosts = best.candidate, best.hosts
    question, catalogue = chosen.demand.question, search.catalogue
    alternatives = tuple(_alternatives(others[:SHOWN_ALTERNATIVES]))
    cost = chosen.usd_per_genome(hosts)
    hour = cost * question.genomes_per_day / 24
    pressed = pressure(chosen, hosts)
    bound, share = bottleneck(pressed)
    return Plan(
        created=utc_now(),
        genomes_per_day=question.genomes_per_day,
        profile=chosen.demand.profile.profile,
        slos=question.slos,
        host_type=chosen.host.name,
        hosts=hosts,
        hosts_needed=quantiles(chosen.need),
        vms_per_host=chosen.vms_per_host,
        vms=hosts * max(1, chosen.vms_per_host),
        disk_type_sequential=chosen.disk_type_sequential,
        disk_type_random=chosen.disk_type_random,
        usd_per_genome=quantiles(_costs(chosen, search)),
        usd_per_genome_as_bought=cost,
        usd_3_years_per_daily_genome=cost * DAYS,
        usd_per_hour=hour,
        operations_per_usd_hour={
            one.resource: float(np.median(one.rate(hosts))) / hour for one in chosen.provided
        },
        # the load may grow until the first resource reaches its limit
        headroom=quantiles(1.0 / np.max(list(pressed.values()), axis=0) - 1.0),
        bottleneck=bound,
        bottleneck_share=share,
        loads=tuple(loads(chosen, hosts)),
        stages=tuple(_stages(chosen, hosts)),
        turnaround_p95_h=hours(turnaround(chosen, hosts) if best.one_lost else None),
        query_p95_s=query(chosen, hosts),
        survival=Survival(all_slos=best.holds, turnaround_p95_h=hours(best.one_lost)),
        storage_tib={m: quantiles(gib / 1024) for m, gib in chosen.stored_gib.items()},
        sensitivity=sensitivity(chosen, hosts, alternatives, cost),
        evidence=tuple(
            Evidence(number=number, based_on=on, tag=tag)
            for number, on, tag in _sources(chosen, search)
        ),
        alternatives=alternatives,
        left_out=tuple(text for text, _ in search.refused.most_common(SHOWN_LEFT_OUT)),
        warnings=(*other_seeds(best, others), *warnings(chosen, hosts, search)),
        example=examples(search.market.model, catalogue),
        price_basis=catalogue.price_basis,
        price_date=catalogue.date.isoformat(),
        hold_out=hold_out(search),
        draws=question.draws,
        seed=question.seed,
        curves=tuple(plan_curves(best)),
    )


def _alternatives(others: Sequence[Sized]) -> Iterator[Alternative]:
    for other in others:
        one = other.candidate
        yield Alternative(
            host_type=one.host.name,
            vms_per_host=one.vms_per_host,
            disk_types=(one.disk_type_sequential, one.disk_type_random),
            hosts=other.hosts,
            usd_per_genome=other.usd_per_genome,
            bottleneck=bottleneck(pressure(one, other.hosts))[0],
        )


def pressure(one: Candidate, hosts: int) -> dict[str, Floats]:
    """Utilization over its limit, by resource; infinite at a limit of 0."""
    return {
        name: np.where(limit > 0, rho / np.maximum(limit, 1e-9), np.inf)
        for name, (rho, limit) in one.rhos(hosts).items()
    }


def bottleneck(pressed: dict[str, Floats]) -> tuple[str, float]:
    """The resource that is the most pressed in the most draws, and the share of those draws."""
    # by draw, not by medians: two uncertain resources may each be the bottleneck in half of the cases
    counts = np.bincount(np.stack(list(pressed.values())).argmax(axis=0))
    return list(pressed)[int(counts.argmax())], float(counts.max() / counts.sum())


def _costs(one: Candidate, search: Search) -> Floats:
    """USD per genome of the hosts that each draw needs, including the error of prices."""
    rng = np.random.default_rng([one.demand.question.seed, 6])
    # the half width of a 90 % interval of normal (here log-normal) errors is 1.645 sigma
    error = search.catalogue.site.price_error / 1.645
    prices = np.exp(error * rng.standard_normal(one.demand.question.draws))
    day_usd = one.need * one.host_day_usd + one.fixed_usd
    return day_usd / one.demand.question.genomes_per_day * prices


def loads(one: Candidate, hosts: int) -> Iterator[Load]:
    """Utilization of each resource with `hosts`."""
    whole, lost = one.rhos(hosts), one.rhos(hosts - 1)
    for name, (rho, limit) in whole.items():
        yield Load(
            resource=f"{name} ({one.slots.bound_by()})" if name == COMPUTE else name,
            rho=quantiles(rho),
            rho_one_lost=quantiles(lost[name][0]),
            limit=float(np.median(limit)),
        )


def _stages(one: Candidate, hosts: int) -> Iterator[StageRow]:
    for stage in one.demand.profile.stages:
        disk_types = {one.disk_type_of(resource) for resource in stage.demands}
        yield StageRow(
            stage=stage.name,
            disk_type=", ".join(sorted(disk_types)) or "-",
            hours=quantiles(one.stage_s(stage, hosts) / HOUR_S),
            share=quantiles(one.slots.hosts_busy(stage) / hosts),
        )


def hours(found: Turnaround | None) -> Quantiles | None:
    """The percentile of turnaround."""
    return None if found is None else quantiles(found.percentile_s / HOUR_S)


def query(one: Candidate, hosts: int) -> Quantiles | None:
    """Seconds of a query with `hosts`; None without an SLO for queries."""
    rho = one.rhos(hosts).get("hbase_scan")
    return None if one.query is None or rho is None else quantiles(one.query.seconds(rho[0]))


def _sources(one: Candidate, search: Search) -> Iterator[tuple[str, str, str]]:
    """Each number that the plan rests on, its source and the source's tag."""
    for supplied in one.provided:
        supply = supplied.supply
        on = f"{supply.group}, hosts {supply.hosts[0]:.0f} to {supply.measured}"
        tag = "catalogue" if supply.group == "the catalogue's disks" else "measured"
        yield f"rate of {supplied.resource}", on, tag
    speed = one.host.cpu_speed
    yield "CPU speed relative to the measured host", _range(speed), speed.tag
    if one.query is not None:
        fit = one.query.fit
        on = f"{fit.group} p{fit.percentile:g} at {fit.loads} loads up to rho {fit.largest_rho:.2f}"
        yield "query latency", on, "measured"
    for name, value in one.demand.profile.ranges():
        yield name, _range(value), value.tag
    prices = f"{search.catalogue.price_basis}, {search.catalogue.date.isoformat()}"
    yield "prices", prices, "catalogue"


def _range(value: UncertainValue) -> str:
    return f"{value.value:g} ({value.low:g} to {value.high:g}): {value.source}"


def examples(model: Model, catalogue: Catalogue) -> tuple[str, ...]:
    """Inputs of the plan that are the shipped example, whose figures are made up."""
    found = [source for source in model.sources if source.startswith(EXAMPLE)]
    if catalogue.is_example:
        found.append(f"{EXAMPLE} catalogue {catalogue.catalogue}")
    return tuple(found)


def hold_out(search: Search) -> str:
    """Median and p90 of the leave-one-out errors of interior cells, over all curves."""
    model = search.market.model
    # the first and last would be extrapolated, which a plan does only above, with a warning
    interior = [cell for curve in model.scaling for cell in curve.cells[1:-1]]
    errors = [abs(cell.left_out) for cell in interior if cell.left_out is not None]
    if not errors:
        return "no curve over hosts has an interior point to leave out"
    median, p90 = np.median(errors), np.quantile(errors, 0.9)
    return f"leave-one-out, interior: median {median:.1%}, p90 {p90:.1%} of {len(errors)} points"
