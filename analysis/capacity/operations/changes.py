"""What another input would lead to: how the fewest hosts, or the largest load, would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from density_study.analysis.capacity.operations.load import Load
from density_study.analysis.capacity.operations.option import Option
from density_study.analysis.capacity.plan.operations import Changed
from density_study.analysis.capacity.sizing.carry import rounded_down

LOOSER = 2.0  # factor of a limit
MORE = 1.1  # factor of the load


def of_hosts(option: Option, load: Load) -> Iterator[Changed]:
    """How many hosts of the chosen option a looser limit or a larger load needs."""
    for name, other, wanted in _looser(option, load):
        yield _hosts(name, other, wanted)
    more = replace(load, ops_s=MORE * load.ops_s)
    yield _hosts(f"with {MORE - 1:.0%} more operations", option, more)


def of_load(every: Sequence[Option], option: Option, load: Load, hosts: int) -> Iterator[Changed]:
    """What one more host, another density or disk type, or a looser limit would carry."""
    yield _load("with one more host", option, load, hosts + 1)
    for other in every:
        if other is not option:
            yield _load(f"as {other.words}", other, load, hosts)
    for name, other, wanted in _looser(option, load):
        yield _load(name, other, wanted, hosts)


def _hosts(name: str, option: Option, load: Load) -> Changed:
    size = option.smallest(load)
    return Changed(change=name, hosts=None if size is None else size.total, ops_s=load.ops_s)


def _load(name: str, option: Option, load: Load, hosts: int) -> Changed:
    most = option.largest(hosts, load)
    return Changed(change=name, hosts=hosts, ops_s=None if most is None else rounded_down(most[0]))


def _looser(option: Option, load: Load) -> Iterator[tuple[str, Option, Load]]:
    for limit in load.limits:
        wider = replace(limit, limit_s=LOOSER * limit.limit_s)
        curves = {wider if one == limit else one: curve for one, curve in option.curves.items()}
        limits = tuple(wider if one == limit else one for one in load.limits)
        yield f"with {wider}", replace(option, curves=curves), replace(load, limits=limits)
