"""Overhead of the harness: YCSB inside a trial against the same YCSB by hand.

One cluster of two workers; paired runs in turns, each from the same restored table. Inside: a whole
trial with its monitors. By hand: the same command line, started with a shell's means only.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from density_study.cluster.lifecycle.bring_up import bring_up
from density_study.cluster.lifecycle.tear_down import tear_down
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.providers.local.transport import entry_of
from density_study.cluster.providers.provider import provider_named
from density_study.cluster.providers.stacks import ensure_stacks
from density_study.cluster.state.journal import Journal
from density_study.workloads.base.workload import TrialContext
from density_study.workloads.execution.run import Run
from density_study.workloads.execution.saturation import measured_ops_s
from density_study.workloads.execution.trial import run_trial
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.record import Record
from density_study.workloads.ycsb.facts.intervals import closed_loop, rates_after_ramp_up
from density_study.workloads.ycsb.test_case import YcsbTestCase
from density_study.workloads.ycsb.workload import YcsbWorkload, client_commands
from tests.bench.client_logs import log_rows
from tests.bench.measurement import Measurement, at_least, printed
from tests.live.support.builds import open_build, topology
from tests.support.drafts import draft, plan, study

GOAL = 0.98
MIN_PAIRS = 5
TEST_CASE = YcsbTestCase(mix="read45-insert55", records=50_000, threads=8, duration_s=24, warm_up_s=10,
                      warm_up_daemons_s=20)  # fmt: skip


def bench(repeats: int) -> list[Measurement]:
    """`repeats` pairs, at least five."""
    with tempfile.TemporaryDirectory(prefix="density-bench-") as name:
        folder = Path(name)
        site, journal = open_build(folder, os.getpid())
        try:
            cluster = bring_up(site, topology(folder), ensure_stacks(), journal)
            pairs = _pairs(_Standing(folder, cluster, journal), max(repeats, MIN_PAIRS))
        finally:
            tear_down(site, journal)
    inside, by_hand = zip(*pairs, strict=True)
    ratios = [with_harness / other for with_harness, other in pairs]
    return [
        at_least("YCSB in a study over YCSB by hand", "ratio", ratios, GOAL),
        printed("YCSB in a study", "ops/s", list(inside)),
        printed("YCSB by hand", "ops/s", list(by_hand)),
    ]


class _Standing:
    """The cluster, and a run folder for its numbered trials."""

    def __init__(self, folder: Path, cluster: Cluster, journal: Journal) -> None:
        name, build = cluster.topology.name, cluster.site.root.name
        alike = plan().model_copy(
            update={"topologies": {name: cluster.topology}, "builds": {build: name}}
        )
        self.run = Run(folder / "runs" / "bench" / "r1", study(), alike, journal)
        self.cluster = cluster
        self.transport = provider_named("local").transport(cluster.site, journal)
        self._number = 0

    def inside(self) -> float:
        """A trial as in a study, and its rate."""
        step = self._step()
        manifest = run_trial(self.run, step, self.cluster, self.transport)
        if manifest.state != "complete":
            raise RuntimeError("; ".join(manifest.reasons))
        return measured_ops_s(self.run.records / manifest.trial, manifest)

    def by_hand(self) -> float:
        """Prepared like a trial; then the client only, without monitors."""
        record = Record.open(self.run.records, draft(str(self._step().trial)))
        bench = TrialContext(self.cluster, self.transport, record, self.run.journal)
        YcsbWorkload().prepare(bench, TEST_CASE)
        ((_, command),) = client_commands(bench, TEST_CASE, "raw")
        began_s = time.time()
        with (record.raw / "out").open("wb") as out, (record.raw / "err").open("wb") as err:
            environment = {**os.environ, **command.env}
            inside = entry_of(self.cluster.site.tag, self.run.journal)
            subprocess.run(
                [*inside, *command.argv],
                env=environment,
                cwd=command.cwd,
                stdout=out,
                stderr=err,
                check=True,
            )
        rows = log_rows(record.raw, {command.name: began_s + TEST_CASE.warm_up_s})
        (rate,) = rates_after_ramp_up(closed_loop(rows), [command.name]).values()
        if rate is None:
            raise RuntimeError("the client's logs hold no operations after the ramp-up")
        return rate

    def _step(self) -> Step:
        self._number += 1
        build = self.cluster.site.root.name
        return Step(index=self._number, kind="trial", repetition=1, build=build, label="bench",
                    trial=f"bench-{self._number}", order=self._number, test_case=TEST_CASE,
                    estimate_s=1.0)  # fmt: skip


def _pairs(standing: _Standing, count: int) -> list[tuple[float, float]]:
    """Alternates the order of the pairs: a trend over time affects both sides equally."""
    standing.inside()  # loads the table, warms the daemons, is not counted
    pairs = []
    for pair in range(count):
        if pair % 2:
            other = standing.by_hand()
            pairs.append((standing.inside(), other))
        else:
            pairs.append((standing.inside(), standing.by_hand()))
    return pairs
