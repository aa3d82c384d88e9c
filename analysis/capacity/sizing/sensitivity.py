"""Sensitivity: how the number of hosts needed depends on each uncertain input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.plan.plan import Alternative
from density_study.analysis.capacity.plan.words import input_words, resource_words
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate

TAIL = 0.2  # lowest and highest fifth of an input's draws
SHOWN = 4
MIN_CHANGE = 0.5  # hosts: less is rounding
NOISE = 4.0  # standard errors: of fifty inputs that change nothing, one is often above 3


def sensitivity(
    chosen: Candidate, hosts: int, others: tuple[Alternative, ...], cost_usd: float
) -> tuple[str, ...]:
    """In words: inputs by their effect on hosts, largest first, then the cheapest other host type."""
    moves = sorted(_moves(chosen), key=lambda move: -abs(move[2] - move[1]))
    lines = [
        f"{input_words(name)}: its lowest fifth needs {low:.1f} hosts on average, "
        f"its highest fifth {high:.1f}"
        for name, low, high in moves[:SHOWN]
        if abs(high - low) >= MIN_CHANGE
    ]
    lines += list(_promises(chosen, hosts))
    rivals = [one for one in others if one.host_type != chosen.host.name]
    if rivals:
        best = rivals[0]
        gap = best.usd_per_genome / cost_usd - 1
        name = f"{best.host_type} with {best.vms_per_host} VMs per host"
        more = f"costs {gap:.1%} more" if gap >= 0.0005 else "costs the same"
        lines.append(f"the cheapest other host type, {name}, {more} per genome")
    return tuple(lines) or ("no input changes the number of hosts by more than the draws' noise",)


def _moves(chosen: Candidate) -> Iterator[tuple[str, float, float]]:
    # One-way conditional means (Saltelli et al. 2008, Global Sensitivity Analysis): the mean need in both
    # tails of an input, from the draws there are. One value at a time would miss how inputs interact.
    need = chosen.need
    inputs = {**chosen.demand.drawn, f"CPU speed of {chosen.host.name}": chosen.slots.speed}
    for one in chosen.provided:
        inputs[f"measured rate of {one.supply.group}"] = one.supply.rates[:, 0]
    for name, drawn in inputs.items():
        if float(np.ptp(drawn)) > 0:  # an input without a range has no tails
            low, high = np.quantile(drawn, (TAIL, 1 - TAIL))
            tails = [need[inside & np.isfinite(need)] for inside in (drawn <= low, drawn >= high)]
            if min(map(len, tails)) < 2:
                continue
            lowest, highest = (float(tail.mean()) for tail in tails)
            error = float(np.sqrt(sum(tail.var(ddof=1) / len(tail) for tail in tails)))
            if abs(highest - lowest) > NOISE * error:
                yield name, lowest, highest


def _promises(chosen: Candidate, hosts: int) -> Iterator[str]:
    """The cost of tolerating a host failure, and the second-largest bottleneck."""
    without = float(not_exceeded(chosen.need - 1, SURE))
    if np.isfinite(without) and without < hosts:
        yield f"without tolerance of a host failure, {without:.0f} hosts are enough instead of {hosts}"
    tops = sorted(chosen.needs.items(), key=lambda item: -float(np.median(item[1])))
    if len(tops) > 1:
        first, name = (resource_words(top[0]) for top in tops[:2])
        yield f"without the limit of {first}, {name} needs {float(np.median(tops[1][1])):.0f} hosts"
