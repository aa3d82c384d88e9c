"""The jobs' numbers, computed by plain loops over the generated truth of the records."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from itertools import pairwise

from tests.support.truth import MIB, PERIOD_S, Truth

DOOL = ("user", "system", "idle", "iowait", "steal", "read", "written")


def host_means(truth: Truth) -> dict[str, float]:
    """Mean of each dool column over the window after the warm-up, samples weighted by overlap."""
    sums, weights = dict.fromkeys(DOOL, 0.0), 0.0
    for end_s, cells in truth.dool:
        since, until = max(end_s - PERIOD_S, truth.measured_from_s), min(end_s, truth.end_s)
        weight = max(0.0, until - since)
        weights += weight
        for name, cell in zip(DOOL, cells, strict=True):
            sums[name] += weight * cell
    return {name: total / weights for name, total in sums.items()}


def node_percent(truth: Truth, node: str, cores: int = 2) -> float:
    """A node's user and system ticks at the window's end minus those at the end of the warm-up, as
    a percentage of the host's cores. A node without processes yet has used none."""
    rounds = [(at_s, sum(nodes.get(node, (0, 0)))) for at_s, nodes in truth.ticks]
    spent = _at(rounds, truth.end_s) - _at(rounds, truth.measured_from_s)
    return 100 * spent / ((truth.end_s - truth.measured_from_s) * 100 * cores)


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
    """The smallest latency that at least p percent do not exceed; None for fewer than 10 / (1 -
    p)."""
    share = Fraction(percentile) / 100
    if len(latencies_us) * (1 - share) < 10:
        return None
    return latencies_us[max(0, math.ceil(len(latencies_us) * share) - 1)] / 1000


def operations_s(truth: Truth) -> float:
    """Operations in the whole seconds after the warm-up, divided by those seconds."""
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


def cpu_by_second(truth: Truth) -> dict[int, dict[str, float]]:
    """Mean of each of dool's CPU columns in each second after the window's start (negative before
    it), samples weighted by overlap."""
    seconds: dict[int, list[tuple[float, tuple[float, ...]]]] = {}
    for end_s, cells in truth.dool:
        for second, inside_s in _parts(end_s - PERIOD_S - truth.start_s, end_s - truth.start_s):
            seconds.setdefault(second, []).append((inside_s, cells))
    return {
        second: {
            name: sum(w * cells[place] for w, cells in parts) / sum(w for w, _ in parts)
            for place, name in enumerate(DOOL)
        }
        for second, parts in seconds.items()
    }


def node_by_second(truth: Truth, node: str, cores: int = 2) -> dict[int, float]:
    """A node's CPU in each second between the first round and the last, percent of the host's
    cores."""
    rounds = [(at_s - truth.start_s, sum(nodes.get(node, (0, 0)))) for at_s, nodes in truth.ticks]
    first, last = math.ceil(rounds[0][0]), math.floor(rounds[-1][0])
    return {
        second: 100 * (_at(rounds, second + 1) - _at(rounds, second)) / (100 * cores)
        for second in range(first, last)
    }


def operations_by_second(truth: Truth) -> dict[int, float]:
    """Operations in each second of the window; each one-second interval is spread evenly."""
    rates = dict.fromkeys(range(math.ceil(truth.window_s)), 0.0)
    begun_s = truth.operations_start_s - truth.start_s
    for per in truth.latencies_us.values():
        for number, latencies in enumerate(per):
            for second, inside_s in _parts(begun_s + number, begun_s + number + 1):
                rates[second] = rates.get(second, 0.0) + len(latencies) * inside_s
    return rates


def transferred_by_second(truth: Truth) -> dict[int, float]:
    """MiB in each second of the window: each map's share, spread from its start to its end."""
    rates = dict.fromkeys(range(math.ceil(truth.window_s)), 0.0)
    mib = sum(size for size, _ in truth.streams) / MIB / len(truth.maps)
    for start_s, end_s in truth.maps:
        for second, inside_s in _parts(start_s - truth.start_s, end_s - truth.start_s):
            rates[second] += mib * inside_s / (end_s - start_s)
    return rates


def _parts(since_s: float, until_s: float) -> list[tuple[int, float]]:
    """(second, its share) of a span; slivers under half a millisecond are rounding."""
    seconds = range(math.floor(since_s), math.floor(until_s) + 1)
    parts = [(s, min(until_s, s + 1) - max(since_s, s)) for s in seconds]
    return [(second, inside_s) for second, inside_s in parts if inside_s >= 0.0005]


def steadiness(truth: Truth, rates: dict[int, float]) -> tuple[int, float, float]:
    """(seconds, mean, standard deviation) of the whole seconds after the warm-up, between the first
    and the last second with activity."""
    busy = [second for second, rate in rates.items() if rate > 0]
    warm_up_s = truth.measured_from_s - truth.start_s
    measured = [
        rate
        for second, rate in rates.items()
        if min(busy) < second < max(busy) and warm_up_s <= second <= truth.window_s - 1
    ]
    return len(measured), statistics.mean(measured), statistics.stdev(measured)
