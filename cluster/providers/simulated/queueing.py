"""`solve`: rate and residence times of a closed queueing network, exact for product-form networks.

Source: J. P. Buzen, Computational Algorithms for Closed Queueing Networks with Exponential Servers, CACM 16
(1973); F. Baskett, K. M. Chandy, R. R. Muntz and F. G. Palacios, Open, Closed, and Mixed Networks of Queues
with Different Classes of Customers, JACM 22 (1975).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

Terms = NDArray[np.floating[Any]]
_FEW = 500
"""Customers whose weights, at most about e to their number, are within the range of double precision."""


@dataclass(frozen=True)
class Station:
    """`alike` equal stations, over which requests are spread evenly. `demand_s`: service of one request at
    all of them together. `servers` of each; None: nobody waits there, as for think time."""

    name: str
    demand_s: float
    alike: int = 1
    servers: int | None = 1

    def terms(self, customers: int, rate: float) -> Terms:
        """Relative weight of 0, 1, ... customers at one of the stations, in units of 1 / `rate`."""
        number: Terms = np.arange(1, customers + 1, dtype=np.float64)
        if customers > _FEW:
            number = number.astype(np.longdouble)
        at_once = number if self.servers is None else np.minimum(number, self.servers)
        steps: Terms = np.asarray(self.demand_s / self.alike * rate / at_once)
        return np.concatenate((np.ones(1, number.dtype), np.cumprod(steps)))


@dataclass(frozen=True)
class Solution:
    """`rate`: requests per second. `residence_s`: time of a request at a station, waiting included."""

    rate: float
    residence_s: Mapping[str, float]


def solve(stations: Sequence[Station], customers: int) -> Solution:
    """The network with this many customers. ValueError if no station has a demand."""
    used = [station for station in stations if station.demand_s > 0]
    if not used or customers < 1:
        raise ValueError("a closed network needs a customer, and a station with a demand")
    bound = _most(used, customers)  # keeps the weights within the range of numbers
    groups = [_power(one.terms(customers, bound), one.alike) for one in used]
    whole = reduce(_convolved, groups)
    rate = float(bound * whole[customers - 1] / whole[customers])
    residence = {}
    for place, one in enumerate(used):
        alone = one.terms(customers, bound)
        others = [group for at, group in enumerate(groups) if at != place]
        rest = reduce(_convolved, others, _power(alone, one.alike - 1))
        weights = alone * rest[::-1] / whole[customers]
        there = float((weights * np.arange(customers + 1)).sum()) * one.alike
        residence[one.name] = there / rate
    return Solution(rate, residence)


def at_rate(stations: Sequence[Station], customers: int, rate: float) -> Solution:
    """The network whose customers pause so long between requests that they send `rate` of them; the network
    without pauses if they cannot."""
    fastest = solve(stations, customers)
    if fastest.rate <= rate:
        return fastest
    groups = (_power(one.terms(customers, rate), one.alike) for one in stations if one.demand_s > 0)
    rest = reduce(_convolved, groups)
    low, high = 0.0, customers / rate
    for _ in range(50):
        pause = Station("pause", (low + high) / 2, servers=None)
        weights = pause.terms(customers, rate)[::-1]
        # normalisers of customers - 1 and of all customers, by the convolution with only the pauses
        is_faster = rest[:-1] @ weights[1:] > rest @ weights
        low, high = (pause.demand_s, high) if is_faster else (low, pause.demand_s)
    return solve((*stations, pause), customers)


def _most(stations: Sequence[Station], customers: int) -> float:
    """The asymptotic bound on the rate."""
    busiest = max(
        (one.demand_s / one.alike / one.servers for one in stations if one.servers), default=0.0
    )
    alone = customers / math.fsum(one.demand_s for one in stations)
    return min(alone, 1 / busiest) if busiest else alone


def _power(terms: Terms, times: int) -> Terms:
    """The weights of `times` stations together."""
    found = np.zeros_like(terms)
    found[0] = 1
    while times:
        if times % 2:
            found = _convolved(found, terms)
        terms, times = _convolved(terms, terms), times // 2
    return found


def _convolved(first: Terms, later: Terms) -> Terms:
    return np.convolve(first, later)[: len(first)]
