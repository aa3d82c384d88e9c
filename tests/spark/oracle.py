"""The same numbers as the jobs', by plain loops over what the records were made of."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from tests.record_factory import MIB, PERIOD_S, Truth

DOOL = ("user", "system", "idle", "iowait", "steal", "read", "written")


def host_means(truth: Truth) -> dict[str, float]:
    """Mean of each dool column over the window, second by second in steps of a millisecond: of each
    sample as many as lie in the window."""
    sums, weights = dict.fromkeys(DOOL, 0.0), 0.0
    for end_s, cells in truth.dool:
        since, until = max(end_s - PERIOD_S, truth.start_s), min(end_s, truth.end_s)
        weight = max(0.0, until - since)
        weights += weight
        for name, cell in zip(DOOL, cells, strict=True):
            sums[name] += weight * cell
    return {name: total / weights for name, total in sums.items()}


def node_percent(truth: Truth, node: str, cores: int = 2) -> float:
    """A node's user and system ticks at the window's end less those at its start, of what the host's
    cores could spend. A node not yet there had spent none."""
    rounds = [(at_s, sum(nodes.get(node, (0, 0)))) for at_s, nodes in truth.ticks]
    spent = _at(rounds, truth.end_s) - _at(rounds, truth.start_s)
    return 100 * spent / (truth.window_s * 100 * cores)


def _at(rounds: list[tuple[float, int]], when_s: float) -> float:
    for (earlier_s, before), (later_s, after) in pairwise(rounds):
        if earlier_s <= when_s <= later_s:
            return before + (after - before) * (when_s - earlier_s) / (later_s - earlier_s)
    raise ValueError("the rounds do not cover that time")


def measured_us(truth: Truth, operation: str) -> list[int]:
    """Latencies of the whole seconds after the warm-up, ascending."""
    return sorted(
        latency
        for second, latencies in enumerate(truth.latencies_us[operation])
        if truth.operations_start_s + second >= truth.measured_from_s
        for latency in latencies
    )


def percentile_ms(latencies_us: list[int], percentile: str) -> float | None:
    """The least latency that at least p percent do not exceed; None from fewer than 10 / (1 - p)."""
    share = Fraction(percentile) / 100
    if len(latencies_us) * (1 - share) < 10:
        return None
    return latencies_us[math.ceil(len(latencies_us) * share) - 1] / 1000


def operations_s(truth: Truth) -> float:
    """Operations in the whole seconds after the warm-up over those seconds."""
    seconds = [
        second
        for second in range(len(next(iter(truth.latencies_us.values()))))
        if truth.operations_start_s + second >= truth.measured_from_s
    ]
    counts = [len(per[second]) for per in truth.latencies_us.values() for second in seconds]
    return sum(counts) / len(seconds)


def dfsio_rates(truth: Truth) -> dict[str, float]:
    mib = sum(size for size, _ in truth.streams) / MIB
    starts, ends = zip(*truth.maps, strict=True)
    return {
        "throughput_per_stream": mib / (sum(ms for _, ms in truth.streams) / 1000),
        "throughput_map_phase": mib / (max(ends) - min(starts)),
        "throughput_job": mib / (truth.job[1] - truth.job[0]),
        "concurrent_maps": max(
            sum(start <= moment < end for start, end in truth.maps) for moment in starts
        ),
    }
