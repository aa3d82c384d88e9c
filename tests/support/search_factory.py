"""A run with searches, in the real formats: per build a saturation trial and probes of known results."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from density_study.workloads.base.search import LatencyLimit, Probe, Search
from tests.support.records.factory import RUN, RunFactory
from tests.support.truth import Truth

MIX = "read45-insert55"
LIMIT_MS = 5.0
SEARCH = Search(
    limits=(LatencyLimit(operation="READ", percentile=99, ms=LIMIT_MS),),
    start_percent=50,
    step_percent=30,
    probes=6,
    duration_s=18.0,
)


def probe_of(number: int, load: float, kept: bool | None = None, **more: Any) -> Probe:
    values = {"stretch": 1.0, "because": "a test", **more}
    return Probe(number=number, load=load, kept=kept, **values)


def add_probe(
    factory: RunFactory,
    build: str,
    probe: Probe,
    median_ms: float = 1.0,
    search: Search = SEARCH,
    **knobs: Any,
) -> Truth:
    """A probe whose clients achieve its load, with intended read latencies around `median_ms`."""
    rate = round(probe.load)
    truth = factory.ycsb(
        build, MIX, rate=rate, search=search, target_ops_s=probe.load, records=12_600, **knobs
    )
    rng = random.Random(truth.trial)
    seconds = truth.latencies_us["READ"]
    truth.latencies_us["Intended-READ"] = [
        [round(1000 * median_ms * rng.lognormvariate(0, 0.3)) for _ in second] for second in seconds
    ]
    truth.probe = probe
    truth.trial += f"-probe{probe.number:02d}"
    factory._builds[truth.trial] = build
    return truth


def search_run(folder: Path) -> RunFactory:
    """Two builds with a saturation trial of 700 ops/s and three probes each: 350 kept, 560 rejected, and the
    answer between them, which on the second build is higher."""
    factory = RunFactory(folder / RUN)
    for build, answer in (("b1-v1-flash", 440), ("b1-v2-flash", 480)):
        factory.ycsb(build, MIX, rate=700, records=12_600)
        add_probe(factory, build, probe_of(1, 350, True))
        add_probe(factory, build, probe_of(2, 560, False, stretch=1.5), median_ms=9.0)
        add_probe(factory, build, probe_of(3, answer, True, stretch=1.5), median_ms=2.0)
    return factory
