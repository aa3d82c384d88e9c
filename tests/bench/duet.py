"""Duet, tried on two equal clusters: would two variants that take turns decide faster than one after another?

Two clusters of one worker each stand at once, each in its own network. The client of one is halted (SIGSTOP)
while the other works. First they take turns in slices of seconds in random order, then each works for one
window of the same time in sum. No difference exists, so a claim of one is false. Each repetition has two new
clusters. The results are the reason of decision 111.
"""

from __future__ import annotations

import math
import os
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from density_study.analysis.statistics.interval import mean_interval
from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.workloads.base.rows import Columns, only
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.record.record import Record
from density_study.workloads.ycsb.facts.intervals import closed_loop, ends_s, rate
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.workload import YcsbWorkload, client_commands
from tests.bench.client_logs import log_rows
from tests.bench.measurement import Measurement, printed
from tests.live.support.builds import open_build, topology
from tests.support.drafts import draft

LEAST_REPETITIONS = 5
SLICE_S = 4.0
CATCH_UP_S = 0.5  # in which halted timers catch up
WARM_UP_PAIRS = 4
PAIRS = 8
WINDOW_S = PAIRS * SLICE_S
START_S = 15.0  # a client that is halted while it connects fails
CLIENTS_S = START_S + 2 * SLICE_S * (WARM_UP_PAIRS + PAIRS) + 2 * WINDOW_S
TEST_CASE = YcsbTestCase(mix="a", records=20_000, threads=8, duration_s=CLIENTS_S + 15, warm_up_s=0,
                      warm_up_daemons_s=10)  # fmt: skip
GOAL_OF_WIDTH = 1 / 3
GOAL_OF_CLAIMS = 0.05


def bench(repeats: int) -> list[Measurement]:
    """`repeats` pairs of clusters, at least five."""
    order = random.Random(20130226)
    found = [_repetition(order) for _ in range(max(repeats, LEAST_REPETITIONS))]
    by_slices = [statistics.geometric_mean(one.slices) for one in found]
    by_windows = [one.window for one in found]
    width = math.log(_width(by_slices)) / math.log(_width(by_windows))
    within = [mean_interval(one.slices) for one in found]
    share = statistics.fmean(not ends.low <= 1 <= ends.high for ends in within)
    return [
        printed("duet: ratio by slices in turns", "ratio", by_slices),
        printed("duet: ratio by a window each", "ratio", by_windows),
        printed("duet: half width if pairs of slices are the units", "ratio",
                [math.sqrt(_width(one.slices)) for one in found]),
        Measurement("duet: width of the interval over one after another", "ratio", (width,),
                    f"<= {GOAL_OF_WIDTH:.3f}", width <= GOAL_OF_WIDTH),
        Measurement("duet: false claims if pairs of slices are the units", "share", (share,),
                    f"<= {GOAL_OF_CLAIMS:g}", share <= GOAL_OF_CLAIMS),
        printed("duet: rate in the first second of a slice over the rest", "ratio",
                [one.first_second for one in found]),
    ]  # fmt: skip


def _width(ratios: Sequence[float]) -> float:
    """Upper over lower end of the interval of their geometric mean."""
    ends = mean_interval(ratios)
    return ends.high / ends.low


@dataclass(frozen=True)
class _Found:
    """What one repetition shows. Ratios of rates, second cluster over first: of each pair of slices, and of
    the windows."""

    slices: list[float]
    window: float
    first_second: float


class _Variant:
    """A standing cluster and its client, and when they worked."""

    def __init__(self, context: TrialContext) -> None:
        self.context = context
        self.worked: list[tuple[float, float]] = []

    def start_client(self) -> None:
        ((node, command),) = client_commands(self.context, TEST_CASE, "raw")
        raw = self.context.record.raw
        self._client = self.context.transport.start(node, command, raw / "out", raw / "err")
        self._name = command.name

    def wait(self) -> None:
        if self.context.transport.wait(self._client, 120):
            raise RuntimeError(
                (self.context.record.raw / "err").read_text(errors="replace")[-2000:]
            )

    def signal(self, number: signal.Signals) -> None:
        """To the client. Servers that are halted for 12 s lose their sessions, and calls time out."""
        os.kill(self._client.pid, number)

    def intervals(self) -> Columns:
        return closed_loop(log_rows(self.context.record.raw, {self._name: 0.0}))


def _repetition(order: random.Random) -> _Found:
    with ExitStack() as stack:
        both = []
        for _ in range(2):
            one = stack.enter_context(_standing())
            YcsbWorkload().prepare(one.context, TEST_CASE)
            both.append(one)
        for one in both:
            one.start_client()
        time.sleep(START_S)
        for one in both:
            one.signal(signal.SIGSTOP)
        for seconds, pairs in ((SLICE_S, WARM_UP_PAIRS + PAIRS), (WINDOW_S, 1)):
            for _ in range(pairs):
                for one in order.sample(both, 2):
                    _work(one, seconds)
        for one in both:
            one.signal(signal.SIGCONT)
            one.wait()  # its time is up: it writes its last interval
        return _judged(*both)


@contextmanager
def _standing() -> Iterator[_Variant]:
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name:
        site, journal = open_build(Path(name), os.getpid())
        try:
            cluster = bring_up(site, topology(Path(name), 1), ensure_stacks(), journal)
            record = Record.open(Path(name), draft("duet"))
            transport = provider_named("local").transport(site, journal)
            yield _Variant(TrialContext(cluster, transport, record, journal))
        finally:
            tear_down(site, journal)


def _work(one: _Variant, seconds: float) -> None:
    one.signal(signal.SIGCONT)
    began_s = time.time()
    time.sleep(seconds)
    one.worked.append((began_s, time.time()))
    one.signal(signal.SIGSTOP)


def _judged(first: _Variant, second: _Variant) -> _Found:
    rates, firsts, rests = [], [], []
    for one in (first, second):
        intervals = one.intervals()
        rates.append([_rate(intervals, a + CATCH_UP_S, b) for a, b in one.worked])
        slices = one.worked[WARM_UP_PAIRS:-1]
        # whole intervals of a second: the first one may begin a second after the slice
        firsts += [_rate(intervals, a + 0.1, a + 2.2) for a, _ in slices]
        rests += [_rate(intervals, a + 1.2, b) for a, b in slices]
    ratios = [b / a for a, b in zip(*rates, strict=True)]
    first_second = statistics.fmean(firsts) / statistics.fmean(rests)
    return _Found(ratios[WARM_UP_PAIRS:-1], ratios[-1], first_second)


def _rate(intervals: Columns, from_s: float, until_s: float) -> float:
    inside = (intervals["begun_s"] >= from_s) & (ends_s(intervals) <= until_s)
    found = rate(only(intervals, np.asarray(inside)))
    if not found:
        raise RuntimeError(f"no operations in {until_s - from_s:.1f} s of a slice")
    return found
