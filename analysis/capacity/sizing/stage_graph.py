"""Turnaround of genomes through the stage graph, by discrete-event simulation.

Genomes arrive as a Poisson process and pass through their stages as the graph allows. A stage occupies a
share of one pool (its tasks over all task slots of the cluster) for its service time; a stage larger than
the pool occupies all of it, in several waves. Ready stages start in the genomes' order of arrival, and a
stage that fits may overtake one that does not (backfilling, Lifka 1995). A stage with a separate lane (the
load into HBase) serves one genome at a time.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from density_study.analysis.capacity import Floats

WARM_UP = 0.2  # share of the genomes that fill the cluster first: not counted (initial transient)
MAX_PASSED_OVER = 20  # limit of backfilling: a longer search is slow and starves the first
EXACT = 1e-9  # shares are sums of fractions: rounding must not keep a stage that fits exactly


@dataclass(frozen=True)
class Service:
    """A stage in the simulation. share: of the pool, above 0; or `lane`: one genome at a time."""

    name: str
    after: tuple[str, ...]
    service_s: float
    share: float = 0.0
    lane: bool = False


def turnarounds_s(stages: Sequence[Service], arrivals: Floats) -> Floats:
    """Seconds from arrival (ascending seconds) to the last stage's end, of the genomes after the warm-up."""
    ends = _Simulation(stages, arrivals).run()
    return (ends - arrivals)[int(WARM_UP * len(arrivals)) :]


@dataclass
class _Simulation:
    stages: Sequence[Service]
    arrivals: Floats
    _events: list[tuple[float, int, int]] = field(default_factory=list)
    _ready: list[tuple[int, int]] = field(default_factory=list)
    _lanes: dict[int, deque[int]] = field(default_factory=dict)
    _busy: set[int] = field(default_factory=set)
    _free: float = 1.0

    def run(self) -> Floats:
        """The end of each genome's last stage."""
        # stage -1 is the arrival, which the first stages follow
        names = {stage.name: place for place, stage in enumerate(self.stages)}
        self._followers: list[list[int]] = [[] for _ in (*self.stages, "arrival")]
        for place, stage in enumerate(self.stages):
            for before in [names[name] for name in stage.after] or [-1]:
                self._followers[before].append(place)
        self._wanted = [min(1.0, stage.share) for stage in self.stages]
        # larger than the pool: in waves
        self._lasts_s = [stage.service_s * max(1.0, stage.share) for stage in self.stages]
        waits = [len(stage.after) or 1 for stage in self.stages]
        self._waits = [list(waits) for _ in self.arrivals]
        left = [len(self.stages)] * len(self.arrivals)
        ends = np.zeros(len(self.arrivals))
        self._events = [(float(time), genome, -1) for genome, time in enumerate(self.arrivals)]
        heapq.heapify(self._events)
        while self._events:
            now, genome, place = heapq.heappop(self._events)
            if place >= 0:
                left[genome] -= 1
                self._release(place)
                if not left[genome]:
                    ends[genome] = now
            self._ready_after(genome, place)
            self._start(now)
        return ends

    def _release(self, place: int) -> None:
        if self.stages[place].lane:
            self._busy.discard(place)
        else:
            self._free += self._wanted[place]

    def _ready_after(self, genome: int, place: int) -> None:
        """Queue the genome's stages that waited for this one only."""
        waits = self._waits[genome]
        for follower in self._followers[place]:
            waits[follower] -= 1
            if waits[follower]:
                continue
            if self.stages[follower].lane:
                self._lanes.setdefault(follower, deque()).append(genome)
            else:
                heapq.heappush(self._ready, (genome, follower))

    def _start(self, now: float) -> None:
        for place, queue in self._lanes.items():
            if queue and place not in self._busy:
                self._busy.add(place)
                heapq.heappush(self._events, (now + self._lasts_s[place], queue.popleft(), place))
        # a plan takes this loop's time: what is looked up in it is local
        ready, free, kept = self._ready, self._free, []
        while ready and free > EXACT:
            genome, place = one = heapq.heappop(ready)
            if self._wanted[place] > free + EXACT:
                kept.append(one)
                if len(kept) > MAX_PASSED_OVER:
                    break
                continue
            free -= self._wanted[place]
            heapq.heappush(self._events, (now + self._lasts_s[place], genome, place))
        self._free = free
        for one in kept:
            heapq.heappush(ready, one)
