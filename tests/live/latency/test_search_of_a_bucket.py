"""A known answer: the search finds the capacity of a token bucket, under the real YCSB client."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from density_study.workloads.base.search import (
    LatencyLimit,
    Next,
    Probe,
    Search,
    answer_of,
    next_probe,
)
from density_study.workloads.base.values import ClientRun, Window
from density_study.workloads.execution.searching import judged
from density_study.workloads.ycsb.properties import client_arguments
from density_study.workloads.ycsb.test_case import YcsbTestCase
from tests.live.support.java_client import YCSB, compiled, instead, java_argv
from tests.support.drafts import draft

pytestmark = [pytest.mark.live, pytest.mark.slow, pytest.mark.timeout(600)]

CAPACITY = 1500.0
NOISE = 0.1
LIMIT_MS = 200
"""Varying capacity lets a queue grow below its mean: reflected Brownian motion, whose stationary length is
exponential with mean s^2 / (2 d). At a share u of the capacity, the queue in seconds drifts by d = -(1 - u)
a second, and a capacity that is drawn anew each tenth of a second adds the variance s^2 = 0.1 * NOISE^2. So
p99 = ln(100) * 0.0005 / (1 - u) s, which is 200 ms at 98.8 % of the capacity, and 100 ms at 97.7 %. Source:
Harrison, Brownian Motion and Stochastic Flow Systems, 1985."""
SEARCH = Search(
    limits=(LatencyLimit(operation="READ", percentile=99, ms=LIMIT_MS),),
    start_ops_s=400,
    duration_s=12,
)
TEST_CASE = YcsbTestCase(
    mix="c", records=1000, threads=16, duration_s=12, warm_up_s=3, search=SEARCH
)


@pytest.mark.parametrize("noise", [0.0, NOISE])
def test_the_capacity_is_found_within_five_percent_in_twelve_probes(
    tmp_path: Path, noise: float
) -> None:
    path = compiled(tmp_path, "AnsweringDb", "BucketDb")
    probes: list[Probe] = []
    while isinstance(found := next_probe(SEARCH, probes, 400), Next):
        probe = Probe(number=len(probes) + 1, kept=None, **vars(found))
        probes.append(_measured(tmp_path / f"p{probe.number}", path, probe, noise))
    ended = answer_of(SEARCH, probes)
    assert ended.answer is not None, [probe.verdict for probe in probes]
    assert ended.exact, [(probe.load, probe.verdict) for probe in probes]
    assert len(probes) <= 12
    assert ended.answer.load == pytest.approx(CAPACITY, rel=0.05)


def _measured(record: Path, path: list[str], probe: Probe, noise: float) -> Probe:
    """The probe after one run of a client, judged from its files as a trial's is."""
    raw = record / "raw"
    raw.mkdir(parents=True)
    test_case = TEST_CASE.at_probe(probe)
    words = instead(
        client_arguments(test_case, f"{raw}/ycsb-1-"), "-db", "org.densitystudy.ycsb.BucketDb"
    )
    bucket = ("-p", f"bucket.rate={CAPACITY}", "-p", f"bucket.noise={noise}")
    begun_s = time.time()
    with (raw / "out").open("wb") as out, (raw / "err").open("wb") as err:
        command = java_argv(path, YCSB, *words, *bucket)
        subprocess.run(command, stdout=out, stderr=err, check=True, timeout=60)
    ended_s = time.time()
    client = ClientRun(
        name="ycsb-1", node="c1", argv=tuple(words), exit_code=0, stdout="raw/out", stderr="raw/err",
        start_epoch_s=begun_s, end_epoch_s=ended_s,
    )  # fmt: skip
    manifest = draft("t").model_copy(
        update={
            "test_case": test_case,
            "probe": probe,
            "window": Window(start_epoch_s=begun_s, end_epoch_s=ended_s),
            "clients": (client,),
        }
    )
    return judged(manifest, record)
