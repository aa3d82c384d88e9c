"""`Sized`: a candidate with the hosts that meet every SLO together; and the candidates, cheapest first.

A count of hosts is enough in a draw if, with one host failed, every resource, the disks and the turnaround
are within their limits in this same draw. It is enough for a plan if it is so in nine of ten draws: a joint
probability.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count

import numpy as np

from density_study.analysis.capacity.inputs.ranged import not_exceeded
from density_study.analysis.capacity.sizing.candidate import SURE, Candidate
from density_study.analysis.capacity.sizing.turnaround import Turnaround, turnaround

MOST_TIMES = 64  # a plan with more than this multiple of the resources' need is not looked for
OTHER_SEEDS = (
    3.5  # standard errors of the joint probability: the simulated queues add to that of the draws
)


@dataclass(frozen=True)
class Sized:
    """one_lost: turnaround with one host failed; None without stages. `candidate` has the simulated stay."""

    candidate: Candidate
    hosts: int
    one_lost: Turnaround | None
    holds: float  # joint probability that every SLO is met with one host failed

    @property
    def usd_per_genome(self) -> float:
        return self.candidate.usd_per_genome(self.hosts)

    def with_other_seeds(self) -> tuple[int, int]:
        """The least and the most hosts that another seed is likely to find."""
        one, promise = self.candidate, self.candidate.demand.question.turnaround
        error = OTHER_SEEDS * (SURE * (1 - SURE) / len(one.need)) ** 0.5
        shares = (SURE - error, min(1.0, SURE + error))
        low, high = (float(not_exceeded(one.need, share)) for share in shares)
        if promise is not None and self.one_lost is not None:
            # where turnaround decides, other draws may need a host less or more
            late = float((self.one_lost.percentile_s > promise.limit_s).mean())
            low = min(low, self.hosts - 1.0) if low < self.hosts or high <= self.hosts else low
            high = max(high, self.hosts + 1.0) if late > 1 - SURE - error else high
        return int(min(low, self.hosts)), int(max(self.hosts, high if np.isfinite(high) else 0))


@dataclass
class Sizing:
    """Looks for the smallest count of a candidate, and remembers the counts that it checked."""

    candidate: Candidate
    _checked: dict[int, Sized] = field(default_factory=dict)

    @cached_property
    def path_fits(self) -> float:
        """Share of draws in which the critical path is within the SLO: more hosts only shorten queues."""
        promise = self.candidate.demand.question.turnaround
        if promise is None:
            return 1.0
        return float((self.candidate.path_s() <= promise.limit_s).mean())

    def found(self) -> Sized | None:
        """The candidate with the least hosts that are enough; None if no count is."""
        hosts = self.least()
        return None if hosts is None else self.with_hosts(hosts)

    def least(self) -> int | None:
        """The smallest count that is enough in nine of ten draws."""
        need = self.candidate.need
        start = float(not_exceeded(need, SURE))
        if not np.isfinite(start) or self.path_fits < SURE:
            return None
        return smallest(lambda hosts: self.holds(hosts) >= SURE, int(start))

    def holds(self, hosts: int) -> float:
        """The joint probability; an upper bound of it where that is below nine of ten already."""
        bound = self._without_waiting(hosts)
        return bound if bound < SURE - 0.1 else self.with_hosts(hosts).holds

    def _without_waiting(self, hosts: int) -> float:
        promise = self.candidate.demand.question.turnaround
        fits = self.candidate.need <= hosts
        if promise is not None:
            fits = fits & (self.candidate.path_s(hosts - 1) <= promise.limit_s)
        return float(fits.mean())

    def with_hosts(self, hosts: int) -> Sized:
        if hosts not in self._checked:
            self._checked[hosts] = self._simulated(hosts)
        return self._checked[hosts]

    def _simulated(self, hosts: int) -> Sized:
        one = self.candidate
        if not one.demand.profile.stages:
            return Sized(one, hosts, None, float((one.need <= hosts).mean()))
        lost = turnaround(one, hosts - 1)
        # an overloaded draw has no mean; it does not fit, whatever its scratch space
        stable = np.isfinite(lost.mean_s)
        stay_s = np.where(stable, lost.mean_s, one.path_s(hosts - 1))
        one = replace(one, simulated_stay_s=stay_s)
        promise = one.demand.question.turnaround
        fits = stable & (one.need <= hosts)
        if promise is not None:
            fits = fits & (lost.percentile_s <= promise.limit_s)
        return Sized(one, hosts, lost, float(fits.mean()))


def smallest(enough: Callable[[int], bool], start: int) -> int | None:
    """The smallest count from `start` that is enough, if all above it are; None if none is, far beyond."""
    if enough(start):
        return start
    low, step = start, 1
    while not enough(low + step):
        low, step = low + step, 2 * step
        if low > MOST_TIMES * start:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def cheapest_first(
    candidates: Sequence[Candidate], failed: Callable[[Candidate], None]
) -> Iterator[Sized]:
    """Yields for each host type and density the cheapest disk types with their hosts; cheapest first.
    `failed` gets the candidates that meet the SLOs with no count of hosts."""
    # Best-first search (branch and bound; A. Land, A. Doig 1960): the hosts that the resources need bound the
    # cost from below, and turnaround is simulated only where this bound is the least.
    order = count()  # of equal cost, the first candidate
    heap: list[tuple[float, int, Candidate | Sized]] = [
        (round(one.usd_per_genome(one.hosts), 6), next(order), one)
        for one in candidates
        if one.hosts is not None
    ]
    heapq.heapify(heap)
    seen: set[tuple[str, int]] = set()
    while heap:
        _, place, one = heapq.heappop(heap)
        candidate = one.candidate if isinstance(one, Sized) else one
        key = (candidate.host.name, candidate.vms_per_host)
        if key in seen:
            continue
        if isinstance(one, Sized):
            seen.add(key)
            yield one
            continue
        found = Sizing(one).found()
        if found is None:
            failed(one)
        else:
            heapq.heappush(heap, (round(found.usd_per_genome, 6), place, found))
