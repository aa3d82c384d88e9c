"""Pairs of trials that measure monitoring overhead (method 21). Pure.

A pair runs one short setting twice in succession on one build, with and without monitors, so that nothing
else differs. Pairs follow the build's other trials and do not change their seeded order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from workloads.base.setting import Setting


@dataclass(frozen=True)
class OverheadTrial:
    """One trial of a pair. `pair` is the pair's number in the run, from 1."""

    setting: Setting
    pair: int
    monitored: bool

    @property
    def suffix(self) -> str:
        """End of the trial's name, after the setting's id."""
        return f"-cost{self.pair}-{'on' if self.monitored else 'off'}"


def cheapest(settings: Sequence[Setting]) -> Setting:
    """The shortest setting with a steady rate; the shortest of all if none has one."""
    steady = [setting for setting in settings if setting.has_steady_rate]
    return min(steady or settings, key=lambda setting: setting.estimate_s)


def overhead_trials(
    build: int, builds: int, pairs: int, settings: Sequence[Setting], seed: int
) -> Iterator[OverheadTrial]:
    """The overhead trials of build number `build` (from 0): pairs are dealt to `builds` in turn.

    The order within a pair is random, so that drift is not mistaken for overhead.
    """
    for pair in range(build + 1, pairs + 1, builds):
        order = Random(f"{seed}/monitor-cost/{pair}").sample((True, False), 2)
        yield from (OverheadTrial(cheapest(settings), pair, monitored) for monitored in order)
