"""Aggregate a device's samples over each second of a trial, and find the events that its counters tell of.

Works on one file, which holds all rounds of one device on one host; see
`workloads.rows.monitors.host_aggregates`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads import tables
from density_study.workloads.monitors.canary import NAME as CANARY
from density_study.workloads.monitors.devices import DeviceMetric, devices
from density_study.workloads.rows.arrays.arrow_tables import Array
from density_study.workloads.rows.arrays.spans import by_second
from density_study.workloads.rows.monitors.canary_aggregates import speed_rows
from density_study.workloads.rows.monitors.sampling_rounds import sampling_rounds
from density_study.workloads.rows.raw.trial_context import Subject
from density_study.workloads.tables import Table
from density_study.workloads.tables.arrow import arrow_table


def device_tables(
    samples: pa.Table, subjects: Sequence[Subject]
) -> Iterator[tuple[Table, pa.Table]]:
    """Rows of `monitor_rounds`, `device_series`, `device_events` and, of the canary, `machine_speed`.

    samples: `device_samples` of complete files, concatenated in the order of `subjects`.
    """
    begin = 0
    for subject in subjects:
        rows = samples.slice(begin, subject.rows)
        begin += subject.rows
        about = {"trial": subject.trial, "host": subject.host}
        at_s = np.unique(rows["epoch_s"].to_numpy())
        before_s = np.append(np.nan, at_s[:-1])[: len(at_s)]
        found = sampling_rounds(subject.kind, about, at_s, before_s, subject.facts)
        yield tables.MONITOR_ROUNDS, arrow_table(tables.MONITOR_ROUNDS, found)
        if subject.facts.window is not None and subject.kind in devices():
            about["device"] = subject.kind
            sources = list(_sources(rows))
            for table, of_source in (
                (tables.DEVICE_SERIES, _series),
                (tables.DEVICE_EVENTS, _events),
            ):
                found = [row for source in sources for row in of_source(about, source, subject)]
                yield table, arrow_table(table, found)
            if subject.kind == CANARY:
                found = list(speed_rows(rows, subject))
                yield tables.MACHINE_SPEED, arrow_table(tables.MACHINE_SPEED, found)


class _Source:
    """The samples of one source: times (the file's clock), and each column with NaN for unknown values."""

    def __init__(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        self.name = name
        self.lines = [row["line"] for row in rows]
        self.epoch_s = np.array([row["epoch_s"] for row in rows])
        self._columns: dict[str, Array] = {}
        for place, row in enumerate(rows):
            for column, value in zip(row["names"], row["values"], strict=True):
                if column not in self._columns:
                    self._columns[column] = np.full(len(rows), np.nan)
                self._columns[column][place] = value

    def values(self, column: str) -> Array:
        return self._columns.get(column, np.full(len(self.epoch_s), np.nan))

    def rises(self, column: str) -> Array:
        """Increase of a counter since the sample before; NaN where it is not known, or a daemon restarted."""
        rises = np.append(np.nan, np.diff(self.values(column)))
        return np.where(rises < 0, np.nan, rises)


def _sources(rows: pa.Table) -> Iterator[_Source]:
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows.to_pylist():
        by_name.setdefault(row["source"], []).append(row)
    for name, found in sorted(by_name.items()):
        yield _Source(name, found)


def _series(about: dict[str, str], source: _Source, subject: Subject) -> Iterator[dict[str, Any]]:
    window, period_s = subject.facts.window, subject.facts.period_s
    assert window is not None
    passed_s = np.append(np.nan, np.diff(source.epoch_s))
    for metric in devices()[subject.kind].metrics:
        values = _values(metric, source, passed_s)
        # a counter's increase is a mean since the last sample; a gauge tells of its own period only
        lasted_s = passed_s if metric.rate or metric.ratio else np.fmin(passed_s, period_s)
        known = np.isfinite(values)
        since_s, until_s = subject.facts.spans_s(source.epoch_s, lasted_s)
        span, second, inside_s = by_second(since_s[known], until_s[known], window)
        weights = np.zeros(0) if not len(second) else np.bincount(second - second.min(), inside_s)
        sums = (
            np.bincount(second - second.min(), inside_s * values[known][span])
            if len(second)
            else weights
        )
        for place in np.flatnonzero(weights > 0):
            yield {
                **about,
                "source": source.name,
                "name": metric.name,
                "unit": metric.unit,
                "second": int(place + second.min()),
                "value": float(sums[place] / weights[place]),
            }


def _events(about: dict[str, str], source: _Source, subject: Subject) -> Iterator[dict[str, Any]]:
    """What counters tell of: it ended since the sample before. Several that followed each other lasted as
    long as their sum, within that time; the longest one may have begun before it."""
    window = subject.facts.window
    assert window is not None
    for event in devices()[subject.kind].events:
        counts, longest_ms = source.rises(event.count), source.values(event.longest_ms)
        passed_ms = 1000 * np.append(np.nan, np.diff(source.epoch_s))
        together_ms = np.minimum(counts * source.values(event.mean_ms), passed_ms)
        lasted_ms = np.fmax(longest_ms, together_ms)
        since_s, until_s = subject.facts.events_s(source.epoch_s, lasted_ms / 1000)
        is_own = (until_s > since_s) | (not subject.facts.turns)
        for place in np.flatnonzero((counts > 0) & np.isfinite(longest_ms) & is_own):
            many = f"{int(counts[place])} of them, the longest " if counts[place] > 1 else ""
            yield {
                **about,
                "source": source.name,
                "line": source.lines[place],
                "kind": event.kind,
                "start_s": float(since_s[place] - window[0]),
                "end_s": float(until_s[place] - window[0]),
                "what": f"{many}{longest_ms[place] / 1000:.1f} s",
            }


def _values(metric: DeviceMetric, source: _Source, passed_s: Array) -> Array:
    """The metric at each sample; NaN where it is unknown, and where nothing was counted."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if metric.rate:
            values = source.rises(metric.rate) / passed_s
        elif metric.ratio:
            counted = source.rises(metric.ratio[1])
            values = np.where(counted > 0, source.rises(metric.ratio[0]) / counted, np.nan)
        else:
            values = source.values(metric.gauge)
            if metric.when:
                values = np.where(source.rises(metric.when) > 0, values, np.nan)
    return values * metric.scale
