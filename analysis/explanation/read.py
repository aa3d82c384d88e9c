"""The course of each trial from the tables that ingest has written, a batch of trials at a time.

Tables have a row per series and second; they are spread into matrices by sorting codes, not row by row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from density_study.analysis.explanation.course import (
    Array,
    Course,
    Happening,
    Place,
    Series,
)
from density_study.analysis.explanation.once import requests, roles
from density_study.cluster.model.host import MIB
from density_study.workloads import tables
from density_study.workloads.tables import Table
from density_study.workloads.tables.store import dataset, table_path

BATCH = 32
TESTDFSIO = "testdfsio"
NAMENODE = "namenode"
_OF_HOST = {
    "disk_read": "disk_read_bytes_s",
    "disk_write": "disk_write_bytes_s",
    "net_receive": "net_receive_bytes_s",
    "net_send": "net_send_bytes_s",
    "memory_available": "memory_available_bytes",
    "memory_cached": "memory_cached_bytes",
}
_READ = (
    tables.OPERATION_SECONDS,
    tables.TRIAL_CPU_SERIES,
    tables.HOST_DISK_SERIES,
    tables.DEVICE_SERIES,
    tables.DEVICE_EVENTS,
    tables.NODES,
    tables.REGIONS,
)


def courses(run_root: Path, trials: pd.DataFrame) -> Iterator[tuple[str, Course]]:
    """Of each trial that has a rate by second after its ramp-up, in their order. trials: rows of `trials`."""
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


@dataclass(frozen=True)
class _Seconds:
    """The seconds of a trial that count: after its ramp-up, without those in which clients start and end."""

    first: int
    count: int

    def spread(self, rows: pa.Table, by: Sequence[str], values: Sequence[str]) -> _Spread:
        """Each of `values` as a matrix: a row per combination of `by`, a column per second."""
        second = rows["second"].to_numpy() - self.first
        rows = rows.filter(pa.array((second >= 0) & (second < self.count)))
        second = second[(second >= 0) & (second < self.count)]
        code = np.zeros(len(rows), np.int64)
        texts = []
        for name in by:
            coded = rows[name].combine_chunks().dictionary_encode()
            texts.append(np.array(coded.dictionary.to_pylist(), object))
            code = code * max(1, len(coded.dictionary)) + coded.indices.to_numpy()
        found, row = np.unique(code, return_inverse=True)
        keys = []
        for names in reversed(texts):
            keys.append(names[found % max(1, len(names))] if len(names) else np.zeros(0, object))
            found = found // max(1, len(names))
        matrices = {}
        for name in values:
            matrices[name] = np.full((len(keys[0]), self.count), np.nan)
            matrices[name][row, second] = rows[name].to_numpy()
        return _Spread(list(zip(*reversed(keys), strict=True)), matrices)

    def placed(self, values: pd.Series[float]) -> Array:
        """The values by second; NaN where there is none."""
        found: Array = values.reindex(pd.RangeIndex(self.first, self.first + self.count)).to_numpy(
            float
        )
        return found


@dataclass(frozen=True)
class _Spread:
    keys: list[tuple[str, ...]]
    of: Mapping[str, Array]


Rows = Mapping[Table, pa.Table | None]


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
    seconds = _Seconds(begin, end - begin)
    found = dict(_series(seconds, rows))
    series = Series.of(found, seconds.count)
    if by_second is not None:
        rate, unit = np.nan_to_num(seconds.placed(by_second)), "ops/s"
    else:
        rate, unit = _bytes_moved(series), "MiB/s"
    if not np.isfinite(rate).all():
        return None
    return Course(
        first=seconds.first,
        rate=rate,
        worst_ms=_longest_ms(seconds, logged, float(about["window_start_epoch_s"])),
        events=tuple(_events(rows[tables.DEVICE_EVENTS])),
        series=series,
        unit=unit,
        facts=requests(rows[tables.REGIONS]),
        roles=dict(roles(rows[tables.NODES])),
    )


def _bytes_moved(series: Series) -> Array:
    """Of a TestDFSIO job: what DataNodes read and wrote, or what disks did; NaN where nobody counted."""
    for names in (("datanode_read", "datanode_written"), ("disk_read", "disk_write")):
        moved = [series.values[series.rows[name]] for name in names if name in series.rows]
        if moved:
            values = np.vstack(moved)
            total: Array = np.where(
                np.isfinite(values).any(axis=0), np.nansum(values, axis=0), np.nan
            )
            return _without_gaps(total)
    return np.full(series.values.shape[1], np.nan)


def _without_gaps(values: Array) -> Array:
    """A second without a sample has the value of the one before: the counter went on."""
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return values
    at = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    filled: Array = values[known[np.maximum(at, 0)]]
    return filled


def _series(seconds: _Seconds, rows: Rows) -> Iterator[tuple[Place, Array]]:
    cpu, disks, sampled = (
        rows[table]
        for table in (tables.TRIAL_CPU_SERIES, tables.HOST_DISK_SERIES, tables.DEVICE_SERIES)
    )
    if cpu is not None:
        yield from _of_cpu(seconds, cpu, rows[tables.NODES])
    if disks is not None:
        spread = seconds.spread(disks, ["host"], list(_OF_HOST.values()))
        for row, (host,) in enumerate(spread.keys):
            for quantity, column in _OF_HOST.items():
                yield Place(quantity, host), spread.of[column][row] / MIB
    if sampled is not None:
        yield from _of_devices(seconds, sampled)


def _of_cpu(
    seconds: _Seconds, rows: pa.Table, nodes: pa.Table | None
) -> Iterator[tuple[Place, Array]]:
    """iowait, steal, use of each host, and its use by nobody's processes; use of the client."""
    spread = seconds.spread(
        rows, ["host", "scope"], ["cpu_user", "cpu_system", "cpu_iowait", "cpu_steal", "cpu_idle"]
    )
    row_of = {key: row for row, key in enumerate(spread.keys)}
    own = spread.of["cpu_user"] + spread.of["cpu_system"]
    of_node = {(n["host"], n["scope"]): n for n in nodes.to_pylist()} if nodes is not None else {}
    for (host, scope), row in row_of.items():
        if scope == f"host:{host}":
            steal = np.nan_to_num(spread.of["cpu_steal"][row])
            used = 100.0 - spread.of["cpu_idle"][row] - spread.of["cpu_iowait"][row] - steal
            yield Place("iowait", host), spread.of["cpu_iowait"][row]
            yield Place("steal", host), spread.of["cpu_steal"][row]
            yield Place("cpu_used", host), used
            processes = [
                place
                for (where, name), place in row_of.items()
                if where == host and not name.startswith(("host:", "guest:"))
            ]
            if processes:
                of_nodes = np.nansum(own[processes], axis=0)
                some = np.isfinite(own[processes]).any(axis=0)
                yield (
                    Place("other_programs", host),
                    np.where(some, np.maximum(used - of_nodes, 0.0), np.nan),
                )
        elif scope == "client" or scope.startswith("client:"):
            node = of_node.get((host, scope))
            if node is not None and node["cores"]:
                share = own[row] * node["host_cores"] / node["cores"]
                yield Place("client_cpu", host), share


def _of_devices(seconds: _Seconds, rows: pa.Table) -> Iterator[tuple[Place, Array]]:
    """Every metric that was sampled, and of each daemon whether it answered at all."""
    spread = seconds.spread(rows, ["name", "host", "source"], ["value"])
    values = spread.of["value"]
    by_daemon: dict[tuple[str, str], list[int]] = {}
    for row, (name, host, source) in enumerate(spread.keys):
        of_namenode = source.rpartition("/")[2].partition("-")[0] == NAMENODE
        yield Place(f"{NAMENODE}_{name}" if of_namenode else name, host, source), values[row]
        if "/" in source:
            by_daemon.setdefault((host, source), []).append(row)
    polled = [row for daemon in by_daemon.values() for row in daemon]
    any_known = np.isfinite(values[polled]).any(axis=0)
    for (host, source), of_daemon in by_daemon.items():
        answered = np.isfinite(values[of_daemon]).any(axis=0)
        silent = np.where(any_known, np.where(answered, 0.0, 100.0), np.nan)
        if answered.any():
            yield Place("silent", host, source), silent


def _events(rows: pa.Table | None) -> Iterator[Happening]:
    for row in rows.to_pylist() if rows is not None else ():
        yield Happening(row["kind"], row["source"], row["start_s"], row["end_s"], row["what"])


def _longest_ms(seconds: _Seconds, logged: pd.DataFrame | None, start_s: float) -> Array:
    """The longest successful operation that ended in each second; intended latency, if the trial has any."""
    if logged is None:
        return np.full(seconds.count, np.nan)
    kind = "intended" if (logged["kind"] == "intended").any() else "closed-loop"
    rows = logged[logged["kind"] == kind]
    second = np.floor(rows["begun_s"] + rows["length_s"] / 2 - start_s).astype(int)
    return seconds.placed(rows["ms"].groupby(second).max())


def _logged(run_root: Path, trials: Sequence[str]) -> dict[str, pd.DataFrame]:
    """The longest operation of each interval of the clients' histograms."""
    if not table_path(run_root, tables.YCSB_HISTOGRAMS).is_dir():
        return {}
    columns = ["trial", "begun_s", "length_s", "kind", "value_us"]
    successes = pc.field("trial").isin(trials) & pc.field("counted").is_valid()
    logged = dataset(run_root, tables.YCSB_HISTOGRAMS).to_table(columns=columns, filter=successes)
    lists = logged["value_us"].combine_chunks()
    ends = lists.offsets.to_numpy()
    some = ends[1:] > ends[:-1]
    longest_us = lists.values.to_numpy()[ends[1:][some] - 1]  # values ascend
    frame = logged.drop(["value_us"]).to_pandas()[some].assign(ms=longest_us / 1000)
    return {str(trial): rows for trial, rows in frame.groupby("trial")}
