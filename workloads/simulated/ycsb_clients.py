"""What YCSB's clients leave of a simulated trial: interval logs, summaries and status lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from density_study.cluster.providers.simulated.service_times import service_times
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared
from density_study.workloads.simulated import texts
from density_study.workloads.simulated.histograms import Interval, interval_log
from density_study.workloads.simulated.outcome import Outcome
from density_study.workloads.simulated.trial import SimulatedTrial
from density_study.workloads.simulated.ycsb_model import logged_shares
from density_study.workloads.ycsb.output.measurement import CLEANUP, THINK
from density_study.workloads.ycsb.properties import (
    client_arguments,
    client_name,
    table_of,
    threads_share,
)
from density_study.workloads.ycsb.test_case import YcsbTestCase

START_S = 2.0
"""Seconds from the start of a client's JVM to its first operation, without its warm-up."""
MOST_INTERVALS = 20
"""For a client's log: a real one has an interval each second, which no number of a rehearsal needs."""
_CLEANUP_S = 0.09


class YcsbClients:
    def prepare(self, trial: SimulatedTrial) -> Prepared:
        test_case = _of(trial)
        table, times = table_of(test_case), service_times()["phases_s"]
        if not test_case.is_load and not trial.is_done(f"loaded {table}"):
            load = {"mix": test_case.load_mix, "duration_s": None, "target_percent": None,
                    "target_ops_s": None, "search": None, "neighbour_threads": None}  # fmt: skip
            rate = trial.outcome_of(test_case.model_copy(update=load)).rate
            trial.clock.advance(test_case.records / rate)
        if test_case.warms_up_daemons and not trial.is_done(f"warm {test_case.warmed}"):
            trial.clock.advance(test_case.warm_up_estimate_s(trial.context.cluster.topology.jit))
        trial.clock.advance(times["restore"])
        return Prepared(data_set_mib=test_case.data_mib)

    def run(self, trial: SimulatedTrial) -> tuple[ClientRun, ...]:
        test_case = _of(trial)
        started_s = trial.clock.now_s()
        begun_s = started_s + START_S + test_case.warm_up_client_s
        intervals = _intervals(trial, test_case, trial.outcome)
        lasted_s = intervals[-1].begin_s + intervals[-1].length_s
        ended_s = begun_s + lasted_s + _CLEANUP_S
        for number in range(1, test_case.clients + 1):
            share = threads_share(test_case, number) / test_case.threads
            _write(trial, test_case, client_name(number), begun_s, intervals, share)
        trial.clock.advance(ended_s - started_s)
        nodes = trial.context.cluster.topology.clients
        return tuple(
            ClientRun(
                name=client_name(number), node=nodes[(number - 1) % len(nodes)].name,
                argv=("java", *client_arguments(test_case, f"raw/{client_name(number)}-", number)),
                exit_code=0, stdout=f"raw/{client_name(number)}.out",
                stderr=f"raw/{client_name(number)}.err", start_epoch_s=started_s, end_epoch_s=ended_s,
                begin_epoch_s=begun_s if test_case.clients > 1 else None,
            )
            for number in range(1, test_case.clients + 1)
        )  # fmt: skip

    def collect(self, trial: SimulatedTrial, prepared: Prepared) -> Collected:
        test_case = _of(trial)
        if test_case.is_load:
            trial.is_done(f"loaded {table_of(test_case)}")
        return Collected()


def _of(trial: SimulatedTrial) -> YcsbTestCase:
    assert isinstance(trial.test_case, YcsbTestCase)
    return trial.test_case


def _intervals(trial: SimulatedTrial, test_case: YcsbTestCase, outcome: Outcome) -> list[Interval]:
    """Operations of all clients together, and their speed as mean_s, which is 1 without noise."""
    rng, spread = trial.rng("seconds"), trial.rehearsal.noise.seconds
    if test_case.duration_s is None:
        whole_s = test_case.records / outcome.rate
        bounds = np.linspace(0, whole_s, 1 + int(np.clip(whole_s, 4, MOST_INTERVALS)))
    else:
        cut_s = max(0.0, test_case.warm_up_s - START_S)
        count = int(np.clip(test_case.duration_s - cut_s, 4, MOST_INTERVALS))
        after = np.linspace(ceil(cut_s), test_case.duration_s, 1 + count)
        bounds = np.unique(np.concatenate(([0.0], after)))
    lengths = np.diff(bounds)
    # the mean of many seconds varies less than one
    speeds = np.exp(spread * rng.standard_normal(len(lengths)) / np.sqrt(np.maximum(lengths, 1)))
    paced = bool(outcome.intended_s)
    counts = outcome.rate * lengths * (1 if paced else speeds)
    if test_case.duration_s is None:
        # a load lasts until all rows are written; other counts in the same time would break Little's law
        late = test_case.records / counts.sum()
        bounds, lengths, counts = late * bounds, late * lengths, late * counts
    ends = np.rint(np.cumsum(counts)).astype(int)
    return [
        Interval(float(begin), float(length), int(operations), float(speed))
        for begin, length, operations, speed in zip(
            bounds, lengths, np.diff(ends, prepend=0), speeds, strict=False
        )
    ]


def _write(
    trial: SimulatedTrial,
    test_case: YcsbTestCase,
    name: str,
    begun_s: float,
    intervals: Sequence[Interval],
    share: float,
) -> None:
    """The files of one client, which does `share` of all operations."""
    outcome, sigma = trial.outcome, service_times()["spread"]["sigma"]
    own = [replace(one, operations=round(share * one.operations)) for one in intervals]
    logged = logged_shares(test_case)
    counts: dict[str, int] = {}
    for log, means in (("", outcome.mean_s), ("Intended-", outcome.intended_s)):
        for operation, mean_s in means.items():
            rows = [_at(one, mean_s, logged[operation]) for one in own]
            counts[operation] = sum(row.operations for row in rows)
            text = interval_log(f"{log}{operation}", begun_s, rows, sigma)
            (trial.raw / f"{name}-{log}{operation}.hdr").write_text(text)
    total = sum(one.operations for one in own)
    if not outcome.intended_s:
        rows = [_at(one, outcome.think_s, 1.0) for one in own]
        (trial.raw / f"{name}-{THINK}.hdr").write_text(interval_log(THINK, begun_s, rows, sigma))
    lasted_s = own[-1].begin_s + own[-1].length_s
    threads = max(1, round(share * test_case.threads))
    clean = [Interval(lasted_s, _CLEANUP_S, threads, _CLEANUP_S)]
    (trial.raw / f"{name}-{CLEANUP}.hdr").write_text(interval_log(CLEANUP, begun_s, clean, sigma))
    (trial.raw / f"{name}.out").write_text(texts.ycsb_summary(lasted_s, total, counts))
    lines = [(one.begin_s + one.length_s, one.operations) for one in own]
    (trial.raw / f"{name}.err").write_text(texts.ycsb_status(begun_s, lines))


def _at(one: Interval, mean_s: float, share: float) -> Interval:
    """The interval of one operation: in slow seconds it takes longer."""
    return replace(one, operations=round(share * one.operations), mean_s=mean_s / one.mean_s)
