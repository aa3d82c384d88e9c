"""The course of each trial from the tables that ingest has written, a batch of trials at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from density_study.analysis.explanation.course import (
    OPERATIONS,
    Array,
    Course,
    Happening,
    Mask,
    Place,
    Series,
    without_gaps,
)
from density_study.analysis.explanation.inferred import (
    between_maps,
    busy_threads,
    calls_of_others,
    handlers_of_others,
    hdfs_of_others,
    outside_servers,
    own_share,
    silent_client,
    within_operations,
    writes_of_others,
)
from density_study.analysis.explanation.once import collecting_clients, roles
from density_study.analysis.explanation.sampled import ACTIVITIES, Rows, Seconds, sampled
from density_study.workloads import tables
from density_study.workloads.tables import Table
from density_study.workloads.tables.store import dataset, table_path

BATCH = 32
TESTDFSIO = "testdfsio"
OF_TABLES = ("locality",)
"""Quantities that tell a job of TestDFSIO nothing: it reads no table."""
_READ = (
    tables.OPERATION_SECONDS,
    tables.TRIAL_CPU_SERIES,
    tables.HOST_DISK_SERIES,
    tables.DEVICE_SERIES,
    tables.DEVICE_EVENTS,
    tables.NODES,
    tables.REGIONS,
    tables.MAP_ATTEMPTS,
    tables.DFSIO_IO,
    tables.YCSB_SUMMARY,
)


def courses(run_root: Path, trials: pd.DataFrame) -> Iterator[tuple[str, Course]]:
    """For each trial that has a rate by second after its ramp-up, in their order. trials: rows of
    `trials`."""
    known = trials[trials["window_start_epoch_s"].notna() & trials["window_end_epoch_s"].notna()]
    for begin in range(0, len(known), BATCH):
        rows = known.iloc[begin : begin + BATCH]
        names = list(rows["trial"])
        batch = {table: _by_trial(run_root, table, names) for table in _READ}
        logged = _logged(run_root, names)
        for about in rows.to_dict("records"):
            name = str(about["trial"])
            of_trial = {table: found.get(name) for table, found in batch.items()}
            course = _course(about, of_trial, logged.get(name))
            if course is not None:
                yield name, course


def _by_trial(run_root: Path, table: Table, trials: Sequence[str]) -> dict[str, pa.Table]:
    if not table_path(run_root, table).is_dir():
        return {}
    rows = dataset(run_root, table).to_table(filter=pc.field("trial").isin(trials))
    codes = rows["trial"].combine_chunks().dictionary_encode()
    order = np.argsort(codes.indices.to_numpy(), kind="stable")
    counts = np.bincount(codes.indices.to_numpy(), minlength=len(codes.dictionary))
    rows, ends = rows.take(order), np.cumsum(counts)
    return {
        str(name): rows.slice(end - count, count)
        for name, count, end in zip(codes.dictionary.to_pylist(), counts, ends, strict=True)
    }


def _course(about: Mapping[Any, Any], rows: Rows, logged: pd.DataFrame | None) -> Course | None:
    done = rows[tables.OPERATION_SECONDS]
    length_s = about["window_end_epoch_s"] - about["window_start_epoch_s"]
    begin, end = math.ceil(about["warm_up_s"]), math.floor(length_s)
    by_second = None
    if done is not None:
        by_second = (
            done.select(["second", "operations"]).to_pandas().set_index("second")["operations"]
        )
        begin, end = (
            max(begin, int(by_second.index.min()) + 1),
            min(end, int(by_second.index.max())),
        )
    elif about["workload"] != TESTDFSIO:
        return None
    if end <= begin:
        return None
    seconds = Seconds(begin, end - begin)
    events = tuple(_events(rows[tables.DEVICE_EVENTS]))
    found = dict(sampled(seconds, rows, events))
    start_s = float(about["window_start_epoch_s"])
    if logged is not None:
        found.update(silent_client(seconds, logged, start_s))
    found.update(dict(writes_of_others(found)))
    mean_ms, between = np.zeros(0), np.zeros(0, bool)
    if by_second is not None:
        rate, unit = np.nan_to_num(seconds.placed(by_second)), OPERATIONS
        found.update(calls_of_others(rate, found))
        found.update(dict(hdfs_of_others(found, about["replication"])))
        found.update(collecting_clients(rows[tables.YCSB_SUMMARY], seconds.count))
        if logged is not None:
            time_ms, operations = within_operations(seconds, logged, start_s)
            found.update(outside_servers(time_ms, operations, found))
            mean_ms = time_ms / np.where(operations > 0, operations, np.nan)
            threads = about["threads"]
            if threads > 0:  # known
                found.update(handlers_of_others(threads, found))
                if pd.notna(about["target_ops_s"]):
                    found.update(busy_threads(time_ms, threads))
        series = Series.of(found, seconds.count)
    else:
        series, own = _of_job(about, found, seconds)
        rate, unit = own * _bytes_moved(series), "MiB/s"
        between = _between_maps(rows, seconds, start_s)
    if not np.isfinite(rate).all():
        return None
    return Course(
        first=seconds.first,
        rate=rate,
        worst_ms=_longest_ms(seconds, logged, start_s),
        events=tuple(event for event in events if event.kind not in ACTIVITIES),
        series=series,
        unit=unit,
        mean_ms=mean_ms,
        roles=dict(roles(rows[tables.NODES])),
        between=between,
    )


def _of_job(
    about: Mapping[Any, Any], found: Mapping[Place, Array], seconds: Seconds
) -> tuple[Series, float]:
    """Series that concern a TestDFSIO job, and its own share of what HDFS moved."""
    own = own_share(about, found)
    series = {place: of for place, of in found.items() if place.quantity not in OF_TABLES}
    others = np.full(seconds.count, 100 * (1 - own))
    series[Place("hdfs_share_of_others", "", "HDFS")] = others
    return Series.of(series, seconds.count), own


def _between_maps(rows: Rows, seconds: Seconds, start_s: float) -> Mask:
    """The seconds between two waves of a job's maps; empty if its attempts are unknown."""
    attempts, summed = rows[tables.MAP_ATTEMPTS], rows[tables.DFSIO_IO]
    if attempts is None or summed is None:
        return np.zeros(0, bool)
    ended = attempts.to_pandas().dropna(subset=["start_epoch_s", "finish_epoch_s"])
    tasks_s = (pc.sum(summed["task_ms"]).as_py() or 0) / 1000
    return between_maps(seconds, ended, tasks_s, start_s)


def _bytes_moved(series: Series) -> Array:
    """For a TestDFSIO job: what DataNodes read and wrote, or what disks did; NaN where nobody counted."""
    for names in (("datanode_read", "datanode_written"), ("disk_read", "disk_write")):
        moved = [series.values[series.rows[name]] for name in names if name in series.rows]
        if moved:
            values = np.vstack(moved)
            total: Array = np.where(
                np.isfinite(values).any(axis=0), np.nansum(values, axis=0), np.nan
            )
            return without_gaps(total)
    return np.full(series.values.shape[1], np.nan)


def _events(rows: pa.Table | None) -> Iterator[Happening]:
    for row in rows.to_pylist() if rows is not None else ():
        yield Happening(row["kind"], row["source"], row["start_s"], row["end_s"], row["what"])


def _longest_ms(seconds: Seconds, logged: pd.DataFrame | None, start_s: float) -> Array:
    """The longest successful operation that ended in each second; intended latency, if the trial has any."""
    if logged is None:
        return np.full(seconds.count, np.nan)
    logged = logged[logged["ms"].notna()]
    kind = "intended" if (logged["kind"] == "intended").any() else "closed-loop"
    rows = logged[logged["kind"] == kind]
    second = np.floor(rows["begun_s"] + rows["length_s"] / 2 - start_s).astype(int)
    return seconds.placed(rows["ms"].groupby(second).max())


def _logged(run_root: Path, trials: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Of each interval of the clients' histograms its longest operation, NaN without one, and the time within
    all of them."""
    if not table_path(run_root, tables.YCSB_HISTOGRAMS).is_dir():
        return {}
    columns = [
        "trial",
        "client",
        "begun_s",
        "length_s",
        "kind",
        "value_us",
        "operations",
        "time_us",
    ]
    successes = pc.field("trial").isin(trials) & pc.field("counted").is_valid()
    logged = dataset(run_root, tables.YCSB_HISTOGRAMS).to_table(columns=columns, filter=successes)
    lists = logged["value_us"].combine_chunks()
    ends = lists.offsets.to_numpy()
    some = ends[1:] > ends[:-1]
    longest_us = np.full(len(some), np.nan)
    longest_us[some] = lists.values.to_numpy()[ends[1:][some] - 1]  # values ascend
    frame = logged.drop(["value_us"]).to_pandas().assign(ms=longest_us / 1000)
    return {str(trial): rows for trial, rows in frame.groupby("trial")}
