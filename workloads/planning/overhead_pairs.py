"""The trials that measure what the monitors themselves cost (method 21). Pure.

Pairs of one cheap setting, once with the monitors on and once with them off, on one build and right
after each other, so that nothing else differs. They come after a build's other trials, whose seeded order
stays what it is without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from workloads.spec.settings import Setting, YcsbSetting


@dataclass(frozen=True)
class Part:
    """One trial of a pair. `pair` is the pair's number in the run, from 1."""

    setting: Setting
    pair: int
    monitored: bool

    @property
    def suffix(self) -> str:
        """What its trial's name ends with, beside the setting's id."""
        return f"-cost{self.pair}-{'on' if self.monitored else 'off'}"


def cheapest(settings: Sequence[Setting]) -> Setting:
    """The setting the pairs are of: the shortest YCSB run, whose rate is the steadiest; else the
    shortest of all."""
    runs = [s for s in settings if isinstance(s, YcsbSetting) and not s.is_load]
    return min(runs or settings, key=lambda setting: setting.estimate_s)


def parts_of(
    build: int, builds: int, pairs: int, settings: Sequence[Setting], seed: int
) -> Iterator[Part]:
    """The trials of those pairs that fall to the `build`-th (from 0) of `builds`: pairs go round them.

    Which of a pair comes first is drawn: what drifts must not be taken for the monitors.
    """
    for pair in range(build + 1, pairs + 1, builds):
        order = Random(f"{seed}/monitor-cost/{pair}").sample((True, False), 2)
        yield from (Part(cheapest(settings), pair, monitored) for monitored in order)
