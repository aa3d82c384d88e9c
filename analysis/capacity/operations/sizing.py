"""`size_operations`, the cheapest hosts for a load, and `carry_operations`, the load that existing hosts
carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from density_study.analysis.capacity.curves.model import Model
from density_study.analysis.capacity.inputs.catalogue import Catalogue, HostType
from density_study.analysis.capacity.inputs.ranged import quantiles
from density_study.analysis.capacity.operations.changes import of_hosts, of_load
from density_study.analysis.capacity.operations.curves import curves
from density_study.analysis.capacity.operations.load import Load
from density_study.analysis.capacity.operations.option import Option, Size
from density_study.analysis.capacity.operations.options import Options
from density_study.analysis.capacity.plan.operations import Changed, OperationsPlan, OtherOption
from density_study.analysis.capacity.plan.plan import Evidence, Excuse, utc_now
from density_study.analysis.capacity.sizing.carry import rounded_down
from density_study.analysis.capacity.sizing.cautions import price_warnings
from density_study.analysis.capacity.sizing.plan_maker import examples

SHOWN = 8


@dataclass(frozen=True)
class _Found:
    option: Option
    size: Size
    ops_s: float

    def usd_per_hour(self, catalogue: Catalogue) -> float:
        return self.option.usd_per_hour(self.size, catalogue.site) or 0.0


def size_operations(load: Load, model: Model, catalogue: Catalogue) -> OperationsPlan | Excuse:
    """The cheapest option that carries the load, or why none does."""
    options = Options(load, model, catalogue)
    every = list(options.all())
    sized = ((one, one.smallest(load)) for one in every)
    found = [_Found(one, size, load.ops_s) for one, size in sized if size is not None]
    if not found:
        return _excuse(options, every, str(load))
    found.sort(key=lambda one: (one.usd_per_hour(catalogue), one.size.total))
    best = found[0]
    return _plan(options, best, False, of_hosts(best.option, load), found[1:])


def carry_operations(
    load: Load, model: Model, catalogue: Catalogue, host: HostType
) -> OperationsPlan | Excuse:
    """The largest load that the hosts of one type carry; `load.ops_s` is not used. `host` has a count."""
    options = Options(load, model, catalogue)
    every, count = list(options.of(host)), host.count or 0
    most = ((one, one.largest(count, load)) for one in every)
    found = [_Found(one, largest[1], largest[0]) for one, largest in most if largest is not None]
    if not found:
        return _excuse(
            options, every, f"operations of {load.group} on {count} hosts of {host.name}"
        )
    best = max(found, key=lambda one: one.ops_s)
    best = replace(best, ops_s=rounded_down(best.ops_s))
    return _plan(options, best, True, of_load(every, best.option, load, count))


def _plan(
    options: Options,
    best: _Found,
    stands: bool,
    changes: Iterable[Changed],
    others: Sequence[_Found] = (),
) -> OperationsPlan:
    option, size, catalogue = best.option, best.size, options.catalogue
    load = replace(options.load, ops_s=best.ops_s)
    rho = option.rho(size, load.ops_s)
    carried = size.clusters * option.carried[:, option.place(size)]
    return OperationsPlan(
        created=utc_now(),
        stands=stands,
        ops_s=load.ops_s,
        group=load.group,
        slos=load.slos,
        host_type=option.host.name,
        clusters=size.clusters,
        hosts_per_cluster=size.hosts,
        vms_per_host=option.vms_per_host,
        disk_type=option.disk_type,
        probability=option.holds(size, load.ops_s),
        carried_ops_s=quantiles(carried),
        latency_ms={
            limit.quantity: quantiles(1e3 * curve.seconds(rho))
            for limit, curve in option.curves.items()
        },
        utilization=quantiles(rho),
        bottleneck=option.tightest(),
        usd_per_hour=option.usd_per_hour(size, catalogue.site),
        changes=tuple(changes),
        alternatives=tuple(_others(others[:SHOWN], catalogue)),
        curves=tuple(curves(option, size, load)),
        evidence=tuple(_evidence(option, catalogue)),
        warnings=tuple(_warnings(options, option, size, stands)),
        left_out=tuple(text for text, _ in options.refused.most_common(SHOWN)),
        example=examples(options.model, catalogue),
        price_basis=catalogue.price_basis,
        price_date=catalogue.date.isoformat(),
    )


def _others(found: Sequence[_Found], catalogue: Catalogue) -> Iterator[OtherOption]:
    for one in found:
        yield OtherOption(
            host_type=one.option.host.name,
            vms_per_host=one.option.vms_per_host,
            disk_type=one.option.disk_type,
            hosts=one.size.total,
            clusters=one.size.clusters,
            usd_per_hour=one.usd_per_hour(catalogue),
        )


def _evidence(option: Option, catalogue: Catalogue) -> Iterator[Evidence]:
    supply, speed = option.supply, option.host.cpu_speed
    on = f"{supply.group}, hosts {supply.hosts[0]:.0f} to {supply.measured}"
    yield Evidence(number="rate at saturation", based_on=on, tag="measured")
    for limit, curve in option.curves.items():
        fit = curve.fit
        on = f"{fit.loads} loads up to a utilization of {fit.largest_rho:.2f}, {fit.hosts} hosts"
        yield Evidence(number=limit.quantity, based_on=on, tag="measured")
    words = f"{speed.value:g} ({speed.low:g} to {speed.high:g}): {speed.source}"
    yield Evidence(number="CPU speed relative to the measured host", based_on=words, tag=speed.tag)
    prices = f"{catalogue.price_basis}, {catalogue.date.isoformat()}"
    yield Evidence(number="prices", based_on=prices, tag="catalogue")


def _warnings(options: Options, option: Option, size: Size, stands: bool) -> Iterator[str]:
    load, supply = options.load, option.supply
    if stands and (idle := (option.host.count or 0) - size.total) > 0:
        known = f"{load.group} was measured up to {supply.measured} hosts"
        remedy = (
            ""
            if load.split
            else ": measure more, or give --split if several clusters may share the load"
        )
        yield f"{idle} of {option.host.count} hosts stand idle in this answer: {known}{remedy}"
    if size.clusters > 1:
        yield (
            f"the load is divided over {size.clusters} clusters that share no table: clients must choose a "
            "cluster by the key, and each cluster gets an equal part"
        )
    if size.hosts - 1 > supply.measured:
        yield (
            f"{size.hosts - 1} hosts are beyond the {supply.measured} that were measured: a wider interval"
        )
    if option.assumed is not None:
        yield f"{option.host.name}: {option.assumed}"
    if load.data_gib is None:
        yield "the size of the table is not counted: give it with --data-gib"
    yield (
        "the rate is that of the measured table: a table that is larger relative to the memory of the hosts "
        "reads more from disks"
    )
    yield from supply.notes
    edge = min((curve.fit.largest_rho for curve in option.curves.values()), default=1.0)
    if edge < float(np.median(option.allowed[option.tightest()])) + 0.01:
        yield f"nothing was measured beyond a utilization of {edge:.2f}: the limits may allow more"
    yield from price_warnings(options.catalogue)


def _excuse(options: Options, every: Sequence[Option], wanted: str) -> Excuse:
    load = options.load
    reasons = [text for text, _ in options.refused.most_common(SHOWN)]
    steps = []
    for option in sorted(every, key=lambda one: -float(one.sure.max()))[:SHOWN]:
        most = float(option.sure.max())
        hosts = int(option.supply.hosts[-1]) + 1
        reasons.append(
            f"{option.words}: up to {hosts} hosts carry {most:,.0f} operations/s with {option.tightest()}; "
            f"{load.group} was measured up to {option.supply.measured} hosts, and there is no forecast "
            f"beyond {hosts - 1}"
        )
    if every and not load.split:
        steps.append(
            "measure at larger host counts, or give --split if several clusters can share the load"
        )
    if options.refused:
        steps.append("measure what the reasons name, then fit the model again")
    if load.limits:
        steps.append("relax the limits of latency")
    return Excuse(
        created=utc_now(),
        requested=wanted,
        slos=load.slos,
        reasons=tuple(reasons) or ("no combination of host type, density and disk type remains",),
        next_steps=tuple(steps) or ("add host types to the catalogue",),
    )
