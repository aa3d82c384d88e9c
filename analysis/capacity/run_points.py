"""Points of a study's run, from its tables: valid trials only, one point a trial and number.

The group is the setting without its target rate, so that a sweep of targets and the saturation they
are a share of belong together. Throughput of trials without a target makes rates; trials with one make
latencies (intended time where it was recorded), if they held it, and utilizations at the load they
achieved.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis import tables
from analysis.capacity.points import Point, Quantity
from analysis.rules import TARGET_HELD
from analysis.store import read_table
from cluster.errors import InputError

TARGET = re.compile(r"-at[0-9.]+(pct|ps)$")
RATES = {"testdfsio": ("throughput_map_phase", "MiB/s"), "ycsb": ("throughput", "ops/s")}
CPU_SCOPES = ("host-less-client:", "host:")


def run_points(run_root: Path) -> tuple[Point, ...]:
    """InputError if the run has no valid trial; StudyError if it was not analysed yet."""
    trials = read_table(run_root, tables.TRIALS).set_index("trial")
    verdicts = read_table(run_root, tables.VERDICTS).set_index("trial")["verdict"]
    nodes = read_table(run_root, tables.NODES)
    metrics = read_table(run_root, tables.METRICS).dropna(subset=["value"])
    workers = nodes[nodes["roles"].map(lambda roles: "worker" in list(roles))]
    hosts = {str(trial): int(n) for trial, n in workers.groupby("trial")["host"].nunique().items()}
    valid = trials[verdicts.reindex(trials.index) == "valid"].sort_values("order")
    by_trial = {str(trial): rows for trial, rows in metrics.groupby("trial")}
    points = [
        point
        for trial, row in valid.iterrows()
        if str(trial) in by_trial
        for point in _of_trial(run_root, str(trial), row, hosts[str(trial)], by_trial[str(trial)])
    ]
    if not points:
        raise InputError("the run has no valid trial.", str(run_root), "name a run that has one.")
    return tuple(points)


def _of_trial(
    root: Path, trial: str, row: pd.Series, hosts: int, metrics: pd.DataFrame
) -> Iterator[Point]:
    name, unit = RATES.get(str(row["workload"]), ("throughput", "ops/s"))
    rate = _value(metrics[metrics["name"] == name])
    if rate is None or rate <= 0:
        return

    def point(quantity: Quantity, value: float, unit: str, **more: object) -> Point:
        return Point.model_validate(
            {
                "group": TARGET.sub("", str(row["setting"])),
                "hosts": hosts,
                "vms_per_host": int(row["vms_per_host"]),
                "medium": str(row["medium"]),
                "quantity": quantity,
                "value": value,
                "unit": unit,
                "repetition": int(row["block"]),
                "source": f"{root.name}/{trial}",
                **more,
            }
        )

    has_target = bool(TARGET.search(str(row["setting"])))
    if not has_target:
        yield point("rate", rate, unit)
    used = _host_cpu(metrics)
    if used is not None and used > 0:
        yield point("utilization", used, "percent", load=rate)
    if has_target and _held(row, rate):
        for one in _latencies(metrics):
            yield point("latency", one["value"] / 1e3, "s", load=rate,
                        percentile=one["percentile"], operation=one["operation"])  # fmt: skip


def _held(row: pd.Series, rate: float) -> bool:
    """Whether the trial did its target rate: one that fell behind, or was still catching up, has the
    latency of its queue."""
    low, high = TARGET_HELD
    target = row["target_ops_s"]
    return bool(pd.isna(target) or low * target <= rate <= high * target)


def _value(rows: pd.DataFrame) -> float | None:
    return None if rows.empty else float(rows["value"].iloc[0])


def _host_cpu(metrics: pd.DataFrame) -> float | None:
    """Mean used CPU of the hosts, percent of their cores, without the client where it was told apart."""
    used = metrics[metrics["name"] == "cpu_used"]
    for scope in CPU_SCOPES:
        rows = used[used["scope"].str.startswith(scope, na=False)]
        if not rows.empty:
            return float(rows["value"].mean())
    return None


def _latencies(metrics: pd.DataFrame) -> Iterator[pd.Series]:
    rows = metrics[(metrics["name"] == "latency") & (metrics["value"] > 0)]
    intended = rows[rows["latency_kind"] == "intended"]
    for _, one in (rows if intended.empty else intended).iterrows():
        if 0 < float(one["percentile"]) < 100:
            yield one
