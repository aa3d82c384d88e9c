"""The test cases of a rehearsed study as a summary holds them, drawn from the model without records.

The speeds of trials are those of a rehearsal with records and the same seed. Each cell's network is solved
once: noise changes all of its service times alike, so that rates follow the speed, and latencies its inverse.
At a target rate that is an approximation, because waiting grows faster than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from density_study.analysis.findings.power_of_design import made_up
from density_study.analysis.summary.summary import Metric, TestCaseSummary
from density_study.cluster.model.topology import Topology
from density_study.cluster.providers.simulated.noise import SILENT, Noise
from density_study.cluster.providers.simulated.rehearsal import Rehearsal
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.simulated.dfsio_model import seconds_of
from density_study.workloads.simulated.models import model_of
from density_study.workloads.simulated.outcome import Outcome, percentile_s
from density_study.workloads.study.registry import kind_of
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.facts.latency import PERCENTILES

Speeds = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """A test case on a topology: its trials in the order of repetitions, and what the network says of it."""

    topology: Topology
    test_case: TestCase
    steps: tuple[Step, ...]
    outcome: Outcome


class Drawing:
    """Draws rehearsals of a plan whose test cases can be rehearsed."""

    def __init__(self, plan: Plan, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal
        self._cells = tuple(_cells(plan, rehearsal))

    def truth(self) -> tuple[TestCaseSummary, ...]:
        """The test cases as they are in the model, without noise."""
        return self._test_cases(SILENT, 0)

    def test_cases(self, seed: int) -> tuple[TestCaseSummary, ...]:
        """The summaries of the test cases in the rehearsal with this seed."""
        return self._test_cases(self._rehearsal.noise, seed)

    def _test_cases(self, noise: Noise, seed: int) -> tuple[TestCaseSummary, ...]:
        drawn = replace(self._rehearsal, noise=noise, seed=seed)
        return tuple(
            _summary(cell, _speeds(cell, drawn))
            for cell in self._cells
            if cell.test_case.sought is None
        )


def _cells(plan: Plan, rehearsal: Rehearsal) -> Iterator[Cell]:
    trials: dict[tuple[str, str], list[Step]] = {}
    of_build: dict[str, list[Step]] = {}
    for step in plan.trials:
        if step.test_case is not None and step.overhead_pair is None:
            trials.setdefault((plan.builds[step.build], step.test_case.id), []).append(step)
            of_build.setdefault(step.build, []).append(step)
    built = {topology.name: topology for topology in plan.built}
    network = cache(partial(_outcome, rehearsal))
    for (name, _), steps in trials.items():
        topology, test_case = built[name], steps[0].test_case
        assert test_case is not None
        if test_case.target_share is not None:
            measuring = (one.test_case for one in of_build[steps[0].build] if one.test_case)
            rates = [
                network(topology, one).rate for one in measuring if one.measures_for(test_case)
            ]
            test_case = test_case.at_rate(max(rates) * test_case.target_share / 100)
        yield Cell(topology, test_case, tuple(steps), network(topology, test_case))


def _outcome(rehearsal: Rehearsal, topology: Topology, test_case: TestCase) -> Outcome:
    """What the model predicts for a test case, without noise."""
    declared = rehearsal.effects.log_speed(topology, test_case.mode_name)
    return model_of(test_case).outcome(rehearsal, topology, test_case, declared)


def _speeds(cell: Cell, drawn: Rehearsal) -> Speeds:
    """Logarithms, by trial, over the speed of the cell's outcome."""
    mode = cell.test_case.mode_name
    declared = drawn.effects.log_speed(cell.topology, mode)
    return np.array(
        [
            drawn.log_speed(cell.topology, mode, step.repetition, step.build, str(step.trial))
            - declared
            for step in cell.steps
        ]
    )


def _summary(cell: Cell, log_speeds: Speeds) -> TestCaseSummary:
    speeds = np.exp(log_speeds)
    kind, paced = kind_of(cell.test_case.workload), cell.test_case.is_paced
    rates = _rates(cell, speeds)
    metrics = [_metric(kind.rate, kind.rate_unit, np.broadcast_to(rates, speeds.shape))]
    kind_of_latency, means = "closed-loop", cell.outcome.mean_s
    if cell.outcome.intended_s:
        kind_of_latency, means = "intended", cell.outcome.intended_s
    for operation in set(means).intersection(cell.test_case.latency_operations):
        for percentile in PERCENTILES:
            ms = 1000 * percentile_s(means[operation], percentile)
            metrics.append(
                _metric("latency", "ms", ms / speeds, operation=operation,
                        latency_kind=kind_of_latency, percentile=percentile)
            )  # fmt: skip
    metrics += _of_hosts(cell, 1 / speeds if paced else np.ones_like(speeds))
    empty = made_up(cell.topology, cell.test_case, (1.0,) * len(speeds))
    fields = cell.test_case.summary_fields()
    return empty.model_copy(update={"metrics": tuple(metrics), **fields})


def _rates(cell: Cell, speeds: Speeds) -> Speeds:
    if not isinstance(cell.test_case, DfsioTestCase):
        return cell.outcome.rate * (np.ones_like(speeds) if cell.test_case.is_paced else speeds)
    map_s, stream_s = seconds_of(cell.test_case, cell.outcome)
    waves = -(-cell.test_case.files // cell.outcome.at_once)
    return cell.test_case.asked_bytes / 2**20 / (waves * (map_s - stream_s + stream_s / speeds))


def _of_hosts(cell: Cell, by: Speeds) -> list[Metric]:
    """Shares of the hosts' cores: those of workers, as the mean over the study's hosts has them."""
    workers = {node.host for node in cell.topology.workers}
    clients = {node.host for node in cell.topology.clients}
    use, found = cell.outcome.use, []
    for host in cell.topology.occupied:
        busy = 100 * (use.servers * (host.name in workers) + use.clients * (host.name in clients))
        used = np.clip(busy * by, 0.1, 99.0)
        waiting = (100 - used) * use.disks * (host.name in workers) / 4
        waiting = waiting * min(1.0, len(host.disks) / host.cores)
        scope = f"host:{host.name}"
        found += [
            _metric("cpu_used", "percent", used, scope=scope),
            _metric("cpu_iowait", "percent", np.maximum(waiting, 0.01), scope=scope),
            _metric("cpu_idle", "percent", 100 - used - waiting, scope=scope),
        ]
    if isinstance(cell.test_case, DfsioTestCase):
        found.append(_metric("concurrent_maps", "count", cell.outcome.at_once * np.ones_like(by)))
    return found


def _metric(name: str, unit: str, points: Speeds, **more: object) -> Metric:
    values = tuple(points.tolist())
    fields = {"name": name, "unit": unit, "value": float(np.median(points)), "points": values}
    return Metric.model_validate({**fields, **more})
