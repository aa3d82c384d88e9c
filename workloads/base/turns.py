"""Turns of two trials that are measured at once: each client works only in its own ones."""

from __future__ import annotations

from random import Random

from pydantic import Field

from density_study.workloads.base.values import Frozen

Spans = tuple[tuple[float, float], ...]
LEAD_S = 1.0
"""From the common start of the clients to the first turn: YCSB makes its threads meanwhile."""


class Turns(Frozen):
    """When a trial works, beside another one, in order: seconds from the first turn of either; in a manifest,
    epoch seconds of the controller's clock."""

    beside: str = Field(description="the trial that worked in the other turns")
    own: Spans
    all_s: float = Field(description="length of the turns of both")

    def since(self, start_s: float) -> Turns:
        """The same turns, with the first one at `start_s`."""
        own = tuple((start_s + begin_s, start_s + end_s) for begin_s, end_s in self.own)
        return self.model_copy(update={"own": own})


def drawn(trials: tuple[str, str], own_s: float, turn_s: float, rng: Random) -> tuple[Turns, Turns]:
    """The turns of two trials with `own_s` seconds each.

    They work in pairs of turns, each pair in random order: neither follows the other by rule, and a drift
    favours none. Turns last `turn_s`, or a little more or less, so that all are equal. Two that follow each
    other are one.
    """
    pairs = max(1, round(own_s / turn_s))
    edges_s = [round(number * own_s / pairs, 3) for number in range(2 * pairs + 1)]
    own: tuple[list[tuple[float, float]], ...] = ([], [])
    for pair in range(pairs):
        for place, whose in enumerate(rng.sample((0, 1), 2)):
            begin_s, end_s = edges_s[2 * pair + place : 2 * pair + place + 2]
            if own[whose] and own[whose][-1][1] == begin_s:
                begin_s = own[whose].pop()[0]
            own[whose].append((begin_s, end_s))
    first, second = trials
    return (
        Turns(beside=second, own=tuple(own[0]), all_s=2 * own_s),
        Turns(beside=first, own=tuple(own[1]), all_s=2 * own_s),
    )
