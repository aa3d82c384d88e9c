"""Aggregate the canary's times around a trial, while the cluster rests, and within its window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from density_study.workloads.rows.arrays.arrow_tables import Array
from density_study.workloads.rows.raw.trial_context import Subject

WORKS = ("compute", "memory", "wake", "touch")


def speed_rows(samples: pa.Table, subject: Subject) -> Iterator[dict[str, Any]]:
    """Rows of `machine_speed`. samples: `device_samples` of one complete file of the canary. Means are
    geometric: a block that a scheduler cut in two counts, but does not decide."""
    assert subject.facts.window is not None
    begin_s, end_s = subject.facts.window
    at_s = subject.facts.at_s(samples["epoch_s"].to_numpy())
    before, after = at_s <= begin_s, at_s > end_s
    for work in WORKS:
        logs = _logs(samples, f"{work}_us")
        parts = (before, after, ~(before | after))
        first, last, busy = (logs[part & np.isfinite(logs)] for part in parts)
        resting = np.concatenate([first, last])
        several = len(resting) > 1
        yield {
            "trial": subject.trial,
            "host": subject.host,
            "work": work,
            "around_us": _mean(resting),
            "around_error": float(np.std(resting, ddof=1) / np.sqrt(len(resting))) if several else None,
            "around_moved": float(last.mean() - first.mean()) if len(first) and len(last) else None,
            "blocks": len(resting),
            "within_us": _mean(busy),
        }  # fmt: skip


def _mean(logs: Array) -> float | None:
    return float(np.exp(logs.mean())) if len(logs) else None


def _logs(samples: pa.Table, column: str) -> Array:
    """NaN where a sample has no such value, or zero."""
    found = np.full(len(samples), np.nan)
    for place, row in enumerate(samples.select(["names", "values"]).to_pylist()):
        value = dict(zip(row["names"], row["values"], strict=True)).get(column, 0.0)
        if value > 0:
            found[place] = np.log(value)
    return found
