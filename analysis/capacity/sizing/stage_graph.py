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
from dataclasses import dataclass

import numpy as np

from density_study.analysis.capacity import Floats

WARM_UP = 0.2  # share of the genomes that fill the cluster first: not counted (initial transient)
MAX_PASSED_OVER = 20  # limit of backfilling: a longer search is slow and starves the first
EXACT = 1e-9  # shares are sums of fractions: rounding must not keep a stage that fits exactly


@dataclass(frozen=True)
class Service:
    """A stage in the simulation. share: part of the pool, above 0; or `lane`: one genome at a time."""

    name: str
    after: tuple[str, ...]
    service_s: float
    share: float = 0.0
    lane: bool = False


def turnarounds_s(stages: Sequence[Service], arrivals: Floats) -> Floats:
    """Seconds from arrival (ascending seconds) to the last stage's end, of the genomes after the warm-up."""
    return (_ends_s(stages, arrivals) - arrivals)[int(WARM_UP * len(arrivals)) :]


def _ends_s(stages: Sequence[Service], arrivals: Floats) -> Floats:
    """The end of each genome's last stage. A plan takes this loop's time: it has no calls of its own, and one
    number stands for a stage of a genome, so that numbers are in the order of arrival."""
    names = {stage.name: place for place, stage in enumerate(stages)}
    followers: list[list[int]] = [[] for _ in (*stages, "arrival")]  # the last: of the arrival, -1
    for place, stage in enumerate(stages):
        for before in [names[name] for name in stage.after] or [-1]:
            followers[before].append(place)
    wanted = [min(1.0, stage.share) for stage in stages]
    least = min(
        (want for want, stage in zip(wanted, stages, strict=True) if not stage.lane), default=2
    )
    # larger than the pool: in waves
    lasts_s = [stage.service_s * max(1.0, stage.share) for stage in stages]
    lanes = [deque[int]() if stage.lane else None for stage in stages]
    busy = [False] * len(stages)  # lanes
    times, size = arrivals.tolist(), len(stages) + 1
    waits = [[len(stage.after) or 1 for stage in stages] for _ in times]
    left, ends = [len(stages)] * len(times), [0.0] * len(times)
    events: list[tuple[float, int]] = []  # (end, genome * size + stage + 1)
    ready: list[int] = []  # genome * size + stage
    arrived, free = 0, 1.0
    while events or arrived < len(times):
        if arrived < len(times) and (not events or (times[arrived], arrived * size) < events[0]):
            now, genome, place = times[arrived], arrived, -1
            arrived += 1
        else:
            now, number = heapq.heappop(events)
            genome, place = divmod(number - 1, size)
            left[genome] -= 1
            if not left[genome]:
                ends[genome] = now
            if (lane := lanes[place]) is None:
                free += wanted[place]
            elif lane:
                heapq.heappush(events, (now + lasts_s[place], lane.popleft() * size + place + 1))
            else:
                busy[place] = False
        waiting = waits[genome]
        for follower in followers[place]:
            waiting[follower] -= 1
            if waiting[follower]:
                continue
            if (lane := lanes[follower]) is None:
                heapq.heappush(ready, genome * size + follower)
            elif busy[follower]:
                lane.append(genome)
            else:
                busy[follower] = True
                heapq.heappush(events, (now + lasts_s[follower], genome * size + follower + 1))
        kept = []
        while ready and free > EXACT and least <= free + EXACT:
            number = heapq.heappop(ready)
            place = number % size
            if wanted[place] > free + EXACT:
                kept.append(number)
                if len(kept) > MAX_PASSED_OVER:
                    break
                continue
            free -= wanted[place]
            heapq.heappush(events, (now + lasts_s[place], number + 1))
        for number in kept:
            heapq.heappush(ready, number)
    return np.array(ends)
