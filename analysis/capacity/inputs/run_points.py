"""Points of a study's run, from its tables: valid trials only, one point per trial and number.

The group is the test case without its target rate, so that a sweep of targets and the saturation they are a
share of are in one group; a variant's version and configuration are part of it. Trials without a target give
rates. Trials with a target give utilizations at the achieved load and, if they sustained it, latencies
(intended time if recorded).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import Any

import pandas as pd

from density_study.analysis.capacity.inputs.point import Point, Quantity
from density_study.analysis.validity.rules import TARGET_HELD
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.variant import HOSTS_LEVEL
from density_study.cluster.providers.simulated import is_rehearsal, refused
from density_study.workloads import tables
from density_study.workloads.study.registry import kinds
from density_study.workloads.tables.store import read_table

TARGET = re.compile(r"-at[0-9.]+(pct|ps)$")
ALL_CPU = ("host:",)
CLUSTER_CPU = ("host-less-client:", *ALL_CPU)  # without the client, if it was measured separately


def run_points(run_root: Path) -> tuple[Point, ...]:
    """InputError if the run has no valid trial of known density and disk type, or is a rehearsal or a duet;
    StudyError if it was not analysed."""
    trials = read_table(run_root, tables.TRIALS).set_index("trial")
    if any(map(is_rehearsal, trials["provider"])):
        raise refused(str(run_root))
    if "rested_s" in trials and trials["rested_s"].notna().any():
        raise InputError(
            "the run is a duet: its clusters had half of each host's memory.",
            str(run_root),
            "name a run of a study without the key duet.",
        )
    verdicts = read_table(run_root, tables.VERDICTS).set_index("trial")["verdict"]
    nodes = read_table(run_root, tables.NODES)
    metrics = read_table(run_root, tables.METRICS).dropna(subset=["value"])
    workers = nodes[nodes["roles"].map(lambda roles: "worker" in list(roles))]
    hosts = {str(trial): set(names) for trial, names in workers.groupby("trial")["host"]}
    valid = trials[verdicts.reindex(trials.index) == "valid"].sort_values("order")
    # imported records may lack them, and a point without its place in the model is none
    valid = valid[valid["vms_per_host"].notna() & (valid["disk_type"] != "unknown")]
    valid = valid[valid.index.isin(hosts)]
    if "studied" in valid:  # tables of earlier versions, which had no searches, lack it
        valid = valid[valid["studied"] | valid["overhead_pair"].notna()]
    for column in ("fault", "phase"):  # no steady load: neither has a latency at one utilization
        if column in valid:
            valid = valid[valid[column].isna()]
    by_trial = {str(trial): rows for trial, rows in metrics.groupby("trial")}
    points = [
        point
        for trial, row in valid.iterrows()
        if str(trial) in by_trial
        for point in _of_trial(run_root, str(trial), row, hosts[str(trial)], by_trial[str(trial)])
    ]
    if not points:
        raise InputError(
            "the run has no valid trial of known density and disk type.",
            str(run_root),
            "name a run that has one.",
        )
    return tuple(_with_shares(points))


def _with_shares(points: Sequence[Point]) -> Iterator[Point]:
    # Saturation of the same build: builds of a variant differ by a few percent, and near saturation that
    # multiplies a latency.
    reached = {_build(point): point.value for point in points if point.quantity == "rate"}
    for point in points:
        most = reached.get(_build(point))
        share = None if point.load is None or most is None else point.load / most
        yield point.model_copy(update={"share": share})


def _build(point: Point) -> tuple[object, ...]:
    """The build and its workload: each repetition has one build per variant."""
    return (*point.variant, point.hosts, point.repetition)


def _of_trial(
    root: Path, trial: str, row: pd.Series, hosts: Set[str], metrics: pd.DataFrame
) -> Iterator[Point]:
    kind = kinds().get(str(row["workload"]), kinds()["ycsb"])  # the rate of most
    rates = metrics.loc[metrics["name"] == kind.rate, "value"]
    if rates.empty or rates.iloc[0] <= 0:
        return
    rate = float(rates.iloc[0])

    def point(quantity: Quantity, value: float, unit: str, **more: Any) -> Point:
        return Point(
            group=_group(row),
            hosts=len(hosts),
            vms_per_host=int(row["vms_per_host"]),
            disk_type=str(row["disk_type"]),
            quantity=quantity,
            value=value,
            unit=unit,
            repetition=int(row["repetition"]),
            source=f"{root.name}/{trial}",
            **more,
        )

    has_target = bool(TARGET.search(str(row["test_case"])))
    if not has_target:
        yield point("rate", rate, kind.rate_unit)
    used = _host_cpu(metrics, hosts, CLUSTER_CPU)
    if used is not None and used > 0:
        yield point("utilization", used, "percent", load=rate)
    if has_target and _held(row, rate):
        # including the client, which slows down workers on its host
        percent = _host_cpu(metrics, hosts, ALL_CPU)
        busy = None if percent is None else percent / 100
        for one in _latencies(metrics):
            # milliseconds in the table
            yield point("latency", one["value"] / 1e3, "s", load=rate, busy=busy,
                        percentile=one["percentile"], operation=one["operation"])  # fmt: skip


def _group(row: pd.Series) -> str:
    """The test case without its target, and what else but hosts, density and disk type distinguishes the
    variant."""
    levels = (level for level in map(str, row.get("levels", ())) if not level.endswith(HOSTS_LEVEL))
    return " ".join((TARGET.sub("", str(row["test_case"])), *levels))


def _held(row: pd.Series, rate: float) -> bool:
    """Whether the trial sustained its target rate: otherwise its latency is that of its backlog."""
    low, high = TARGET_HELD
    target = row["target_ops_s"]
    return bool(pd.isna(target) or low * target <= rate <= high * target)


def _host_cpu(metrics: pd.DataFrame, hosts: Set[str], scopes: Sequence[str]) -> float | None:
    """Mean used CPU of the workers' hosts, percent of their cores, by the first of `scopes` there is."""
    used = metrics[metrics["name"] == "cpu_used"]
    for scope in scopes:
        rows = used[used["scope"].isin([scope + host for host in hosts])]
        if not rows.empty:
            return float(rows["value"].mean())
    return None


def _latencies(metrics: pd.DataFrame) -> Iterator[pd.Series]:
    rows = metrics[(metrics["name"] == "latency") & (metrics["value"] > 0)]
    intended = rows[rows["latency_kind"] == "intended"]
    for _, one in (rows if intended.empty else intended).iterrows():
        if 0 < float(one["percentile"]) < 100:
            yield one
