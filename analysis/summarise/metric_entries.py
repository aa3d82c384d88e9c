"""Rows of the tables of metrics as the entries of a summary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, get_args

import pandas as pd

from analysis.summary.summary import Metric, MetricName

_ORDER = {name: place for place, name in enumerate(get_args(MetricName))}


def metric_entries(rows: pd.DataFrame | None) -> tuple[Metric, ...]:
    """Rows of `metrics` or `setting_metrics`, in the order of MetricName."""
    if rows is None:
        return ()
    found = [_metric(row) for row in rows.to_dict("records")]
    return tuple(sorted(found, key=_place))


def _metric(row: Mapping[Any, Any]) -> Metric:
    return Metric(
        name=row["name"],
        value=number(row["value"]),
        unit=row["unit"],
        operation=row["operation"],
        latency_kind=row["latency_kind"],
        percentile=number(row["percentile"]),
        scope=row["scope"],
        n=row.get("n", 1),
        points=tuple(row.get("points", ())),
    )


def _place(metric: Metric) -> tuple[int, str, str, float, str]:
    return (
        _ORDER[metric.name],
        metric.operation or "",
        metric.latency_kind or "",
        metric.percentile or 0.0,
        metric.scope or "",
    )


def number(value: float | None) -> float | None:
    """None for NaN: pandas reads a null as NaN, and no table holds NaN."""
    return None if value is None or math.isnan(value) else float(value)
