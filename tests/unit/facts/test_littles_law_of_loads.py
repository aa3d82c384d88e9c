"""Little's law for loads with every thread simulated, operation by operation."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from density_study.workloads.ycsb.facts.intervals import closed_loop
from density_study.workloads.ycsb.facts.littles_law import littles_law
from tests.unit.facts.made_rows import made_rows

BEGIN_S = 1_795_200_000.0
LOADS = 24
Log = dict[str, list[list[float]]]
"""By operation, for each second, the times (s) of the operations that ended in it."""


def played(rng: random.Random, threads: int, idle: int, seconds: float) -> Log:
    """Threads start when their tables are found and end at different times; a clean-up is recorded
    at its end. An idle thread has nothing to do, and waits."""
    log: Log = defaultdict(lambda: [[] for _ in range(math.ceil(seconds) + 2)])
    for number in range(threads):
        now_s, end_s = rng.uniform(0.1, 0.7), seconds * rng.uniform(0.9, 1.0)
        has_begun = False
        while number >= idle and now_s < end_s:
            between_s, within_s = rng.uniform(0.0001, 0.001), rng.lognormvariate(-5.0, 0.5)
            if has_begun:
                log["THINK"][int(now_s + between_s)].append(between_s)
            now_s += between_s + within_s
            log["INSERT"][int(now_s)].append(within_s)
            has_begun = True
        ended_s = max(now_s, seconds * 0.9 if number < idle else 0.0) + 0.01
        log["CLEANUP"][int(ended_s)].append(0.01)
    return log


def test_all_thread_time_is_accounted_for_except_that_of_idle_threads() -> None:
    rng = random.Random(20130226)
    loads = {
        f"t{number:02}": (rng.randint(2, 12), number % 3 == 0, rng.uniform(8.0, 14.0))
        for number in range(LOADS)
    }
    rows = law_by_trial({
        trial: (threads, played(rng, threads, idle, seconds))
        for trial, (threads, idle, seconds) in loads.items()
    })  # fmt: skip
    for trial, (threads, idle, _) in loads.items():
        assert rows[trial]["closed_loop"], trial
        assert rows[trial]["little_error"] == pytest.approx(idle / threads, abs=0.005), trial


@pytest.mark.parametrize("without", ("THINK", "INSERT", "CLEANUP"))
def test_without_one_of_the_logs_there_is_no_check(without: str) -> None:
    log = played(random.Random(1), 4, 0, 9.0)
    del log[without]
    row = law_by_trial({"t": (4, log)})["t"]
    assert (row["closed_loop"], row["little_error"]) == (False, None)


@pytest.mark.parametrize(("seconds", "has_result"), ((4.9, False), (5.9, True)))
def test_three_whole_intervals_are_needed(seconds: float, has_result: bool) -> None:
    """The first is excluded, and the one in which a thread may have begun to clean up."""
    row = law_by_trial({"t": (4, played(random.Random(2), 4, 0, seconds))})["t"]
    assert row["closed_loop"] == has_result


def law_by_trial(loads: dict[str, tuple[int, Log]]) -> dict[str, dict[str, Any]]:
    """What `littles_law` finds, by trial."""
    found = {}
    for trial, (threads, log) in loads.items():
        about = {"mix": "load", "warm_up_s": 0.0, "window_start_epoch_s": BEGIN_S,
                 "window_end_epoch_s": BEGIN_S + 20.0}  # fmt: skip
        clients = [{"client": "c", "clock_offset_s": 0.0, "threads": threads}]
        rows = made_rows(about, {"clients": clients, "ycsb_histograms": intervals(log)})
        found[trial] = littles_law(rows, closed_loop(rows))
    return found


def intervals(log: Log) -> Iterator[dict[str, Any]]:
    for operation, seconds in log.items():
        for second, times in enumerate(seconds):
            yield {
                "client": "c", "operation": operation, "kind": "closed-loop",
                "begun_s": BEGIN_S + second, "length_s": 1.0, "operations": len(times),
                "time_us": sum(times) * 1e6,
            }  # fmt: skip
