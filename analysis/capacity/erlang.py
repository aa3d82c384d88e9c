"""Waiting in an M/M/c queue: Erlang-C exactly, and the closed approximation used where it does not apply.

Erlang-C by the recursion of Erlang-B, stable for any c. Approximation (Sakasegawa 1977):
R = S * (1 + k * rho^(sqrt(2(c+1)) - 1) / (c * (1 - rho))); k = (ca^2 + cs^2)/2, so 1 for M/M/c.
"""

from __future__ import annotations

import math

import numpy as np

from analysis.capacity.array import Floats


def waiting_probability(servers: int, utilization: float) -> float:
    """P(an arrival waits). ValueError unless servers >= 1 and 0 <= utilization < 1."""
    if servers < 1 or not 0 <= utilization < 1:
        raise ValueError(f"no queue of {servers} servers at utilization {utilization}")
    offered, blocking = servers * utilization, 1.0
    for count in range(1, servers + 1):
        blocking = offered * blocking / (count + offered * blocking)
    return blocking / (1 - utilization * (1 - blocking))


def response_time_s(servers: int, utilization: float, service_s: float) -> float:
    """Mean time in an M/M/c system, waiting and service."""
    wait = waiting_probability(servers, utilization) * service_s / (servers * (1 - utilization))
    return service_s + wait


def response_percentile_s(
    servers: int, utilization: float, service_s: float, percentile: float
) -> float:
    """The percentile of the time in an M/M/c system, by bisection of its exact distribution."""
    waits = waiting_probability(servers, utilization)
    serve = 1.0 / service_s
    drain = servers * serve * (1 - utilization)
    low, high = 0.0, service_s * 50 * (1 + 1 / (servers * (1 - utilization)))
    for _ in range(100):
        middle = (low + high) / 2
        if _tail(middle, waits, serve, drain) > 1 - percentile / 100:
            low = middle
        else:
            high = middle
    return high


def _tail(time_s: float, waits: float, serve: float, drain: float) -> float:
    """P(response > t): service alone, or an exponential wait and then service."""
    alone = math.exp(-serve * time_s)
    if abs(drain - serve) < 1e-9 * serve:
        return alone * (1 + waits * serve * time_s)
    both = (drain * alone - serve * math.exp(-drain * time_s)) / (drain - serve)
    return (1 - waits) * alone + waits * both


def stretch(utilization: Floats, servers: float) -> Floats:
    """The term of the approximation that k multiplies; shape as utilization."""
    power = math.sqrt(2 * (servers + 1)) - 1
    return np.power(utilization, power) / (servers * (1 - utilization))
