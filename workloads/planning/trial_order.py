"""The trials of a build, in a random order that respects their dependencies. Pure.

Pairs of trials that measure monitoring overhead (method 21) follow the other trials and do not change their
order. A pair runs one short test case twice in succession on one build, with and without monitors, so that
nothing else differs. Each telemetry device has pairs of its own: the default monitors, with and without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from density_study.workloads.base.test_case import TestCase


@dataclass(frozen=True)
class PlannedTrial:
    """A test case to run. `pair`: number of its monitoring-overhead pair in the run, from 1; None: a regular
    trial. `device`: the telemetry device that the pair is about; None: all monitors. `measured`: whether what
    the pair is about runs. `probe`: number of a search's probe, from 1; None: no search."""

    test_case: TestCase
    pair: int | None = None
    measured: bool = True
    device: str | None = None
    probe: int | None = None

    @property
    def name(self) -> str:
        """End of the trial's name."""
        if self.probe is not None:
            return f"{self.test_case.id}-probe{self.probe:02d}"
        if self.pair is None:
            return self.test_case.id
        of = f"-{self.device}" if self.device else ""
        return f"{self.test_case.id}-cost{self.pair}{of}-{'on' if self.measured else 'off'}"

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


def trials_of(test_cases: Iterable[TestCase]) -> Iterator[PlannedTrial]:
    """One trial per test case, in their order; of a search, as many probes as it may take."""
    for test_case in test_cases:
        if test_case.sought is None:
            yield PlannedTrial(test_case)
        else:
            for probe in range(1, test_case.sought.probes + 1):
                yield PlannedTrial(test_case, probe=probe)


def random_order(test_cases: tuple[TestCase, ...], rng: Random) -> tuple[TestCase, ...]:
    """A random order in which writers precede the readers of their data, and saturation trials precede
    the trials that target a percentage of their rate.

    Each position is drawn from the test cases that have all they depend on. A read whose data no test case
    writes depends on nothing: its trial prepares the data, unmeasured.
    """
    predecessors = _predecessors(test_cases)
    remaining, ordered = list(range(len(test_cases))), []
    while remaining:
        missing = frozenset(remaining)
        ready = [index for index in remaining if predecessors[index].isdisjoint(missing)]
        chosen = rng.choice(ready)
        remaining.remove(chosen)
        ordered.append(test_cases[chosen])
    return tuple(ordered)


@lru_cache(maxsize=8)  # every build of a plan has the same test cases
def _predecessors(test_cases: tuple[TestCase, ...]) -> tuple[frozenset[int], ...]:
    """For each test case, the indices of the test cases that it depends on."""
    return tuple(
        frozenset(
            index
            for index, other in enumerate(test_cases)
            if other.writes_for(test_case) or other.measures_for(test_case)
        )
        for test_case in test_cases
    )


def _cheapest(test_cases: Sequence[TestCase]) -> TestCase:
    """The shortest test case with a steady rate; the shortest of all if none has one. Never one that breaks
    its
    cluster: the second trial of the pair would have another."""
    whole = [test_case for test_case in test_cases if not test_case.breaks_cluster]
    able = [test_case for test_case in whole if test_case.sought is None] or whole or test_cases
    steady = [test_case for test_case in able if test_case.has_steady_rate]
    return min(steady or able, key=lambda test_case: test_case.estimate_s)


def overhead_trials(
    build: int,
    builds: int,
    pairs: int,
    test_cases: Sequence[TestCase],
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
                yield PlannedTrial(_cheapest(test_cases), number, measured, device)
