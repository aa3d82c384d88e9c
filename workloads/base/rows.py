"""`Rows`: the tables of one trial, and `Facts`: what they tell. The facts of each workload and instrument
are pure functions of the rows, in the module `facts` of its folder.

The first look, searches, stop rules and the analysis call the same functions: each number has one place.
Unknown is None. Standard library and numpy only: Spark's executors load these modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy.typing as npt

T = TypeVar("T")
Row = dict[str, Any]
Array = npt.NDArray[Any]
Columns = Mapping[str, Array]
MIB_S, PERCENT, OPS_S = "MiB/s", "percent", "ops/s"
_STEPS = 1e9


class Rows(Protocol):
    """The tables of one trial. docs/reference/tables.md lists their columns."""

    @property
    def trial(self) -> Row:
        """The trial's row of `trials`."""

    def of(self, table: str, *columns: str) -> Sequence[Row]:
        """The trial's rows of a table: all columns without lists, unless some are named."""

    def arrays(self, table: str, *columns: str) -> Columns:
        """The trial's rows by column: null is NaN in numbers, False in flags and None in texts."""


@dataclass
class Facts:
    """metrics: rows of the table `metrics`, without the trial. checks: columns of the table `checks`."""

    metrics: list[Row] = field(default_factory=list)
    checks: Row = field(default_factory=dict)


def metric(name: str, unit: str, value: float | None, **which: Any) -> Row:
    """A row of `metrics`. which: operation, latency_kind, percentile and scope, where they apply."""
    return {"name": name, "unit": unit, "value": None if value is None else float(value), **which}


def only(columns: Columns, rows: Array) -> dict[str, Array]:
    """The rows where the condition holds, or with these indices."""
    return {name: values[rows] for name, values in columns.items()}


def window_s(trial: Row) -> float | None:
    """Length of the trial's window; None without one."""
    start_s, end_s = trial["window_start_epoch_s"], trial["window_end_epoch_s"]
    if start_s is None or end_s is None or not end_s > start_s:
        return None
    return float(end_s - start_s)


def has_rates(trial: Row) -> bool:
    """Whether the trial should have rates: it has a window, or others made it."""
    return window_s(trial) is not None or bool(trial["imported"])


def over(amount: float | None, whole: float | None) -> float | None:
    """amount / whole; None if one is unknown, or `whole` is not above 0."""
    return amount / whole if amount is not None and whole is not None and whole > 0 else None


def if_all(values: Iterable[T | None]) -> list[T] | None:
    """The values; None if there are none, or one is unknown: a partial sum would look like a whole one."""
    whole = list(values)
    known = [value for value in whole if value is not None]
    return known if known and len(known) == len(whole) else None


def known(values: Iterable[T | None]) -> list[T]:
    return [value for value in values if value is not None]


def largest(values: Iterable[float | None]) -> float | None:
    """The largest value; None if one is unknown."""
    whole = if_all(values)
    return None if whole is None else max(whole)


def relative_error(value: float | None, truth: float | None) -> float | None:
    """|value - truth| / truth."""
    return over(None if value is None or truth is None else abs(value - truth), truth)


def exact_sum(values: Iterable[float | None]) -> float | None:
    """Sum in fixed point, in units of 1e-9. Unknown values are skipped; without any, None.

    It is the same for every order of the values, where a floating-point sum differs in its last bits.
    """
    steps = [round(float(value) * _STEPS) for value in values if value is not None]
    return sum(steps) / _STEPS if steps else None
