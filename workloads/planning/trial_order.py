"""The trials of a build, in a random order that respects their dependencies. Pure.

Pairs of trials that measure monitoring overhead (method 21) follow the other trials and do not change their
order. A pair runs one short setting twice in succession on one build, with and without monitors, so that
nothing else differs. Each telemetry device has pairs of its own: the default monitors, with and without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from density_study.workloads.base.setting import Setting


@dataclass(frozen=True)
class PlannedTrial:
    """A setting to run. `pair`: number of its monitoring-overhead pair in the run, from 1; None: a regular
    trial. `device`: the telemetry device that the pair is about; None: all monitors. `measured`: whether what
    the pair is about runs. `probe`: number of a search's probe, from 1; None: no search."""

    setting: Setting
    pair: int | None = None
    measured: bool = True
    device: str | None = None
    probe: int | None = None

    @property
    def name(self) -> str:
        """End of the trial's name."""
        if self.probe is not None:
            return f"{self.setting.id}-probe{self.probe:02d}"
        if self.pair is None:
            return self.setting.id
        of = f"-{self.device}" if self.device else ""
        return f"{self.setting.id}-cost{self.pair}{of}-{'on' if self.measured else 'off'}"

    @property
    def monitored(self) -> bool:
        """Whether the monitors run."""
        return self.measured or self.device is not None

    @property
    def devices(self) -> tuple[str, ...] | None:
        """The devices that run; None: those of the study."""
        if self.device is None:
            return None
        return (self.device,) if self.measured else ()


def trials_of(settings: Iterable[Setting]) -> Iterator[PlannedTrial]:
    """One trial per setting, in their order; of a search, as many probes as it may take."""
    for setting in settings:
        if setting.sought is None:
            yield PlannedTrial(setting)
        else:
            for probe in range(1, setting.sought.probes + 1):
                yield PlannedTrial(setting, probe=probe)


def random_order(settings: tuple[Setting, ...], rng: Random) -> tuple[Setting, ...]:
    """A random order in which writers precede the readers of their data, and saturation trials precede
    the trials that target a percentage of their rate.

    Each position is drawn from the settings that have all they depend on. A read whose data no setting
    writes depends on nothing: its trial prepares the data, unmeasured.
    """
    predecessors = _predecessors(settings)
    remaining, ordered = list(range(len(settings))), []
    while remaining:
        missing = frozenset(remaining)
        ready = [index for index in remaining if predecessors[index].isdisjoint(missing)]
        chosen = rng.choice(ready)
        remaining.remove(chosen)
        ordered.append(settings[chosen])
    return tuple(ordered)


@lru_cache(maxsize=8)  # every build of a plan has the same settings
def _predecessors(settings: tuple[Setting, ...]) -> tuple[frozenset[int], ...]:
    """For each setting, the indices of those it depends on."""
    return tuple(
        frozenset(
            index
            for index, other in enumerate(settings)
            if other.writes_for(setting) or other.measures_for(setting)
        )
        for setting in settings
    )


def _cheapest(settings: Sequence[Setting]) -> Setting:
    """The shortest setting with a steady rate; the shortest of all if none has one. Never one that breaks its
    cluster: the second trial of the pair would have another."""
    whole = [setting for setting in settings if not setting.breaks_cluster]
    able = [setting for setting in whole if setting.sought is None] or whole or settings
    steady = [setting for setting in able if setting.has_steady_rate]
    return min(steady or able, key=lambda setting: setting.estimate_s)


def overhead_trials(
    build: int,
    builds: int,
    pairs: int,
    settings: Sequence[Setting],
    seed: int,
    devices: Sequence[str] = (),
) -> Iterator[PlannedTrial]:
    """The overhead trials of build number `build` (from 0): pairs are dealt to `builds` in turn. `pairs` of
    all monitors, then as many of each device.

    The order within a pair is random, so that drift is not mistaken for overhead.
    """
    for place, device in enumerate((None, *devices)):
        for pair in range(build + 1, pairs + 1, builds):
            number = place * pairs + pair
            order = Random(f"{seed}/monitor-cost/{number}").sample((True, False), 2)
            for measured in order:
                yield PlannedTrial(_cheapest(settings), number, measured, device)
