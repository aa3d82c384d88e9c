"""The summary's part of the tables of series, in constant memory.

Each table is read batch by batch, and seconds are averaged into longer steps if there are too many. A run
without these tables has no series; that is not an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow.acero import (
    AggregateNodeOptions,
    Declaration,
    ExecNodeOptions,
    FilterNodeOptions,
    ProjectNodeOptions,
    ScanNodeOptions,
)

from density_study.analysis.summarise.read_rows import optional, rows_of
from density_study.analysis.summary.series import (
    CpuSeries,
    DeviceSeries,
    EventMark,
    LatencyCurve,
    RateSeries,
    SlowSpell,
    TrialSeries,
    Values,
)
from density_study.workloads import tables
from density_study.workloads.monitors.devices import devices
from density_study.workloads.tables import Table

MAX_NUMBERS = 150_000  # in all series of a summary: about 1 MB of the report
MAX_POINTS = 400  # in one series: a panel is a few hundred pixels wide
MOST_EVENTS = 100  # of a trial: the longest
SHORTEST_EVENT_S = 0.05
STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600)
CPU_PARTS = ("user", "system", "iowait", "steal", "irq", "idle")
_CPU = [f"cpu_{part}" for part in CPU_PARTS]
_DEVICE = ["device", "host", "source", "name", "unit"]
_WIDTHS = {tables.TRIAL_CPU_SERIES: len(_CPU), tables.TRIAL_RATE_SERIES: 1}


def trial_series(
    run_root: Path, trials: Sequence[str], max_numbers: int = MAX_NUMBERS
) -> tuple[TrialSeries, ...]:
    """The series of each of `trials` that has any, in their order.

    Seconds are averaged over the shortest step in STEPS_S with which all series together have at most
    `max_numbers` numbers, and none has more than MAX_POINTS points.
    """
    step_s = _step_s(run_root, max_numbers)
    cpu = _by_trial(_binned(run_root, tables.TRIAL_CPU_SERIES, step_s, ["host", "scope"], _CPU))
    rates = _by_trial(
        _binned(run_root, tables.TRIAL_RATE_SERIES, step_s, ["name", "unit"], ["rate"])
    )
    longest = _by_trial(_binned(run_root, tables.LATENCY_SECONDS, step_s, [], ["worst_ms"]))
    watched = pc.field("trial").isin(pa.array(_drawn(run_root, max_numbers * step_s), pa.string()))
    sampled = _by_trial(
        _binned(run_root, tables.DEVICE_SERIES, step_s, _DEVICE, ["value"], watched)
    )
    events = _by_trial(optional(run_root, tables.DEVICE_EVENTS))
    slow = _by_trial(optional(run_root, tables.SLOW_SECONDS))
    latency = _by_trial(optional(run_root, tables.LATENCY_PERCENTILES))
    return tuple(
        TrialSeries(
            trial=trial,
            step_s=step_s,
            cpu=tuple(_cpu(cpu[trial])) if trial in cpu else (),
            rates=(
                *(_rates(rates[trial]) if trial in rates else ()),
                *(_longest(longest[trial]) if trial in longest else ()),
            ),
            latency=tuple(_curves(latency[trial])) if trial in latency else (),
            devices=tuple(_devices(sampled[trial])) if trial in sampled else (),
            events=tuple(_events(events[trial])) if trial in events else (),
            slow=tuple(_slow(slow[trial])) if trial in slow else (),
        )
        for trial in trials
        if trial in cpu or trial in rates or trial in latency or trial in sampled
    )


def _step_s(run_root: Path, max_numbers: int) -> int:
    numbers, longest_s = 0, 0
    for table, width in _WIDTHS.items():
        rows = rows_of(run_root, table)
        numbers += rows.count_rows() * width
        longest_s = max(longest_s, _span_s(rows))
    return next(
        (s for s in STEPS_S if numbers / s <= max_numbers and longest_s / s <= MAX_POINTS),
        STEPS_S[-1],
    )


def _drawn(run_root: Path, max_numbers: int) -> list[str]:
    """The trials whose device series are kept: those with slow seconds or causes first, as many as have
    `max_numbers` together. Of ten hosts with twelve disks, a trial has a thousand series."""
    by_trial = AggregateNodeOptions([("trial", "hash_count", None, "numbers")], ["trial"])
    steps = [
        ("scan", ScanNodeOptions(rows_of(run_root, tables.DEVICE_SERIES))),
        ("aggregate", by_trial),
    ]
    counted = _streamed(steps).to_pandas()
    slow = {
        trial
        for table in (tables.SLOW_SECONDS, tables.TRIAL_CAUSES)
        for trial in rows_of(run_root, table).to_table(columns=["trial"])["trial"].to_pylist()
    }
    counted = counted.assign(calm=~counted["trial"].isin(slow)).sort_values(["calm", "trial"])
    few = counted[counted["numbers"].cumsum() <= max_numbers]
    return list(few["trial"])


def _span_s(rows: ds.Dataset) -> int:
    """Seconds from the earliest second of any trial to the latest."""
    ends = [("second", "min", None, "first"), ("second", "max", None, "last")]
    steps = [("scan", ScanNodeOptions(rows)), ("aggregate", AggregateNodeOptions(ends))]
    (found,) = _streamed(steps).to_pylist()
    return max(found["last"] or 0, 0) - min(found["first"] or 0, 0) + 1


def _binned(
    run_root: Path,
    table: Table,
    step_s: int,
    by: list[str],
    values: list[str],
    rows: pc.Expression | None = None,
) -> pd.DataFrame:
    """trial, `by`, at_s and the mean of each of `values` over step_s seconds from at_s on."""
    keys = ["trial", *by, "at_s"]
    step = pc.scalar(float(step_s))
    at_s = pc.multiply(pc.floor(pc.divide(pc.field("second"), step)), step).cast("int64")
    columns = ["trial", *by, *values]
    means = [(value, "hash_mean", None, value) for value in values]
    found: pd.DataFrame = _streamed([
        ("scan", ScanNodeOptions(rows_of(run_root, table), filter=rows)),
        *([("filter", FilterNodeOptions(rows))] if rows is not None else []),
        ("project", ProjectNodeOptions([*map(pc.field, columns), at_s], [*columns, "at_s"])),
        ("aggregate", AggregateNodeOptions(means, keys)),
    ]).to_pandas()  # fmt: skip
    return found.sort_values(keys)


def _streamed(steps: list[tuple[str, ExecNodeOptions]]) -> pa.Table:
    """The result of the steps, which Arrow computes batch by batch."""
    # one thread: the order of additions changes the last digits of a sum
    declared = [Declaration(name, options) for name, options in steps]
    return Declaration.from_sequence(declared).to_table(use_threads=False)


def _by_trial(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(trial): rows for trial, rows in frame.groupby("trial")}


def _cpu(rows: pd.DataFrame) -> Iterator[CpuSeries]:
    for (scope, host), same in rows.groupby(["scope", "host"]):
        parts: dict[str, Any] = {part: _values(same[f"cpu_{part}"], 2) for part in CPU_PARTS}
        known = {part: v for part, v in parts.items() if any(one is not None for one in v)}
        yield CpuSeries(scope=str(scope), host=str(host), at_s=_whole(same["at_s"]), **known)


def _rates(rows: pd.DataFrame) -> Iterator[RateSeries]:
    for (name, unit), same in rows.groupby(["name", "unit"]):
        yield RateSeries.model_validate(
            {
                "name": name,
                "unit": unit,
                "at_s": _whole(same["at_s"]),
                "rate": _values(same["rate"], 3),
            }
        )


def _devices(rows: pd.DataFrame) -> Iterator[DeviceSeries]:
    """Yields the series of devices in the order of devices.toml, by source."""
    known = {(d.name, m.name): m for d in devices().values() for m in d.metrics}
    order = {key: place for place, key in enumerate(known)}
    groups = [(tuple(map(str, key)), same) for key, same in rows.groupby(_DEVICE)]
    groups.sort(key=lambda one: (order.get((one[0][0], one[0][3]), -1), one[0]))
    for (device, host, source, name, unit), same in groups:
        metric = known.get((device, name))
        yield DeviceSeries(
            device=device,
            host=host,
            source=source,
            name=name,
            label=metric.label if metric else name,
            chart=metric.chart if metric else name,
            unit=unit,
            at_s=_whole(same["at_s"]),
            value=_values(same["value"], 3),
        )


def _events(rows: pd.DataFrame) -> Iterator[EventMark]:
    """The MOST_EVENTS longest; a reader could not see the mark of a short collection."""
    lasting = rows.assign(lasted_s=rows["end_s"] - rows["start_s"])
    lasting = lasting[lasting["lasted_s"] >= SHORTEST_EVENT_S].nlargest(MOST_EVENTS, "lasted_s")
    for row in lasting.sort_values(["start_s", "source", "kind"]).to_dict("records"):
        times = {name: round(float(row[name]), 3) for name in ("start_s", "end_s")}
        yield EventMark(kind=row["kind"], source=row["source"], what=row["what"], **times)


def _slow(rows: pd.DataFrame) -> Iterator[SlowSpell]:
    for row in rows.sort_values("first").to_dict("records"):
        yield SlowSpell(
            first=int(row["first"]),
            last=int(row["last"]),
            cause=None if pd.isna(row["cause"]) else str(row["cause"]),
            also=tuple(row["also"]),
            sentence=str(row["sentence"]),
        )


def _longest(rows: pd.DataFrame) -> Iterator[RateSeries]:
    values = _values(rows["worst_ms"], 3)
    yield RateSeries(name="longest_operation", unit="ms", at_s=_whole(rows["at_s"]), rate=values)


def _curves(rows: pd.DataFrame) -> Iterator[LatencyCurve]:
    known = rows[rows["value_us"].notna()].sort_values("percentile")
    for (operation, kind), same in known.groupby(["operation", "latency_kind"]):
        behind = same["operations"].iloc[0]
        yield LatencyCurve.model_validate(
            {
                "operation": operation,
                "latency_kind": kind,
                "operations": None if pd.isna(behind) else int(behind),
                "percentile": tuple(map(float, same["percentile"])),
                "ms": tuple(float(value_us) / 1000.0 for value_us in same["value_us"]),
            }
        )


def _whole(column: pd.Series[int]) -> tuple[int, ...]:
    return tuple(map(int, column))


def _values(column: pd.Series[float], digits: int) -> Values:
    """Rounded to the number of decimals that the summary keeps."""
    return tuple(None if pd.isna(one) else round(float(one), digits) for one in column)
