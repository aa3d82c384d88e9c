"""Rows of `slow_seconds`: the slow spells of each trial that telemetry devices watched, with their causes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from density_study.analysis.explanation.causes import Cause, causes, usual_seconds
from density_study.analysis.explanation.course import Array, Course, Happening, Spell
from density_study.analysis.explanation.moved import no_rule
from density_study.analysis.explanation.slow import slow_spells
from density_study.cluster.model.host import MIB
from density_study.workloads import tables
from density_study.workloads.monitors import DEVICES
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_schema
from density_study.workloads.tables.store import dataset, read_table


def explained(run_root: Path) -> dict[Table, pd.DataFrame]:
    """Rows of `slow_seconds` and `latency_seconds`, from the tables that ingest has written. None of a trial
    without a device, or without operations."""
    monitors = read_table(run_root, tables.MONITORS)
    watched = sorted(set(monitors[monitors["kind"].isin(DEVICES)]["trial"]))
    trials = read_table(run_root, tables.TRIALS).set_index("trial")
    slow: list[dict[str, Any]] = []
    latency: list[dict[str, Any]] = []
    for trial in watched:
        course = course_of(run_root, trial, trials.loc[trial])
        if course is not None:
            slow += _rows(trial, course)
            latency += [
                {"trial": trial, "second": second, "worst_ms": worst_ms}
                for second, worst_ms in zip(course.seconds, course.worst_ms, strict=True)
                if math.isfinite(worst_ms)
            ]
    found = {tables.SLOW_SECONDS: slow, tables.LATENCY_SECONDS: latency}
    return {
        table: pd.DataFrame(rows, columns=arrow_schema(table).names)
        for table, rows in found.items()
    }


def _rows(trial: str, course: Course) -> Iterator[dict[str, Any]]:
    spells = slow_spells(course)
    for spell in spells:
        found = causes(course, spell, spells)
        yield {
            "trial": trial,
            "first": spell.first,
            "last": spell.last,
            "lost_s": spell.lost_s,
            "worst_ms": spell.worst_ms,
            "what": spell.what,
            "cause": found[0].kind if found else None,
            "also": [cause.kind for cause in found[1:]],
            "sentence": sentence(course, spell, spells, found),
        }


def sentence(
    course: Course, spell: Spell, spells: Iterable[Spell], found: tuple[Cause, ...]
) -> str:
    """The spell, its cause and the evidence, for people; without a cause, what moved most."""
    if not found:
        return (
            f"{spell.words}: {spell.what}. {no_rule(course, spell, usual_seconds(course, spells))}."
        )
    evidence = "; ".join(cause.evidence for cause in found)
    return f"{spell.words}: {spell.what}. With it: {evidence}."


def course_of(run_root: Path, trial: str, about: Mapping[str, Any]) -> Course | None:
    """The trial after its ramp-up, without the seconds in which its clients start and end; None if there
    are none with operations. about: its row of `trials`."""
    done = _of_trial(run_root, tables.OPERATION_SECONDS, trial)
    start_s, end_s = about["window_start_epoch_s"], about["window_end_epoch_s"]
    if done.empty or pd.isna(start_s):
        return None
    first = max(math.ceil(about["warm_up_s"]), int(done["second"].min()) + 1)
    last = min(math.floor(end_s - start_s) - 1, int(done["second"].max()) - 1)
    if last < first:
        return None
    seconds = pd.RangeIndex(first, last + 1)

    def placed(values: pd.Series[float]) -> Array:
        """By second; NaN where there is none."""
        found: Array = values.reindex(seconds).to_numpy(float)
        return found

    rate = np.nan_to_num(placed(done.set_index("second")["operations"]))  # none done: a rate of 0
    return Course(
        first=first,
        rate=rate,
        worst_ms=placed(_worst_ms(run_root, trial, float(start_s))),
        events=tuple(
            Happening(*(row[name] for name in ("kind", "source", "start_s", "end_s", "what")))
            for row in _of_trial(run_root, tables.DEVICE_EVENTS, trial).to_dict("records")
        ),
        series={
            quantity: {where: placed(values) for where, values in by_place.items()}
            for quantity, by_place in (
                *_of_hosts(_of_trial(run_root, tables.TRIAL_CPU_SERIES, trial)).items(),
                *of_disks(_of_trial(run_root, tables.HOST_DISK_SERIES, trial)).items(),
                *of_devices(_of_trial(run_root, tables.DEVICE_SERIES, trial)).items(),
            )
        },
    )


def _of_trial(run_root: Path, table: Table, trial: str) -> pd.DataFrame:
    rows: pd.DataFrame = (
        dataset(run_root, table).to_table(filter=pc.field("trial") == trial).to_pandas()
    )
    return rows


def _worst_ms(run_root: Path, trial: str, start_s: float) -> pd.Series[float]:
    """The longest successful operation by second: intended latency, if the trial has any."""
    columns = ["begun_s", "length_s", "kind", "value_us"]
    successes = (pc.field("trial") == trial) & pc.field("counted").is_valid()
    logged = dataset(run_root, tables.YCSB_HISTOGRAMS).to_table(columns=columns, filter=successes)
    lists = logged["value_us"].combine_chunks()
    ends = lists.offsets.to_numpy()
    some = ends[1:] > ends[:-1]
    longest_us = lists.values.to_numpy()[ends[1:][some] - 1]  # values ascend
    frame = logged.drop(["value_us"]).to_pandas()[some].assign(ms=longest_us / 1000)
    kind = "intended" if (frame["kind"] == "intended").any() else "closed-loop"
    frame = frame[frame["kind"] == kind]
    second = np.floor(frame["begun_s"] + frame["length_s"] / 2 - start_s).astype(int)
    longest_ms: pd.Series[float] = frame.groupby(second)["ms"].max()
    return longest_ms


def _of_hosts(rows: pd.DataFrame) -> dict[str, dict[str, pd.Series[float]]]:
    """What dool and nodecpu tell of each host: iowait, steal, use, and use by nobody's processes."""
    found: dict[str, dict[str, pd.Series[float]]] = {}
    for host, on_host in rows.groupby("host"):
        whole = on_host[on_host["scope"] == f"host:{host}"].set_index("second")
        if whole.empty:
            continue
        used = 100.0 - whole["cpu_idle"] - whole["cpu_iowait"] - whole["cpu_steal"].fillna(0.0)
        own = on_host[~on_host["scope"].str.startswith(("host:", "guest:"))]
        of_nodes = (own["cpu_user"] + own["cpu_system"]).groupby(own["second"]).sum()
        series = {"iowait": whole["cpu_iowait"], "steal": whole["cpu_steal"], "cpu_used": used}
        if not own.empty:
            series["other_programs"] = (used - of_nodes).clip(lower=0.0)
        for quantity, values in series.items():
            found.setdefault(quantity, {})[str(host)] = values
    return found


def of_disks(rows: pd.DataFrame) -> dict[str, dict[str, pd.Series[float]]]:
    """Disk traffic of each host, MiB/s."""
    found: dict[str, dict[str, pd.Series[float]]] = {}
    for host, on_host in rows.groupby("host"):
        by_second = on_host.set_index("second")
        for quantity in ("disk_read", "disk_write"):
            found.setdefault(quantity, {})[str(host)] = by_second[f"{quantity}_bytes_s"] / MIB
    return found


def of_devices(rows: pd.DataFrame) -> dict[str, dict[str, pd.Series[float]]]:
    """Every metric that was sampled: the rules look at a few, and what no rule explains at all of them."""
    found: dict[str, dict[str, pd.Series[float]]] = {}
    for (name, host, source), same in rows.groupby(["name", "host", "source"]):
        where = str(host) if source == "host" else f"{source} on {host}"
        found.setdefault(str(name), {})[where] = same.set_index("second")["value"]
    return found
