"""The reader of points.csv.

Columns: group, hosts, vms_per_host, disk_type, value, unit, repetition. Three more may follow: `load` (the
rate achieved while a latency or a utilization was measured, things a second), `percentile` (makes a
time a latency) and `operation` (of a latency: READ, SCAN, ...). A lone job's time needs none.
"""

from __future__ import annotations

import logging
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from density_study.analysis.capacity.inputs.csv_rows import (
    Row,
    check_points_are_decimal,
    csv_rows,
    delimiter_of,
)
from density_study.analysis.capacity.inputs.point import MOST_FAULTS, Point, Quantity, check_units
from density_study.analysis.capacity.inputs.point_slips import check_slips
from density_study.analysis.capacity.inputs.unit import Unit, parse_unit
from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.model.plain import one_line
from density_study.cluster.state.plain_file import read_named, why_unread

_log = logging.getLogger(__name__)
COLUMNS = ("group", "hosts", "vms_per_host", "disk_type", "value", "unit", "repetition")
NEEDED = COLUMNS[:-1]
OPTIONAL = ("load", "percentile", "operation")
MOST_BYTES = 2**26
_OLD_COLUMN = re.compile(r"\A(?:sep=.\s+)?.*\bmedium\b", re.IGNORECASE)
"""The column `disk_type` as the header of earlier versions named it."""
MOST = 10_000  # maximum of hosts, and of VMs per host; more is a typing error
NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.I | re.ASCII
)
# A number with separators of thousands or a decimal comma: "1,5" may mean 1.5 or 15, so it is an error.
SEPARATED = re.compile(r"[+-]?\d[\d.,_' \u00a0\u202f]*")


def read_points(path: Path) -> tuple[Point, ...]:
    """The points of a CSV file. InputError, with line and column, for an invalid point."""
    try:
        text = read_named(path, MOST_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        utf16 = isinstance(error, UnicodeDecodeError) and error.object[:2] in (
            b"\xff\xfe",
            b"\xfe\xff",
        )
        why = "they are encoded in UTF-16" if utf16 else why_unread(error)
        raise InputError(
            f"the points cannot be read: {why}.",
            str(path),
            "name a CSV file of measured points, in UTF-8.",
        ) from error
    return parse_points(text, str(path))


def parse_points(text: str, where: str) -> tuple[Point, ...]:
    """The points of a CSV text. `where` names the text in errors, which are those of `read_points`."""
    if _OLD_COLUMN.match(text):
        _log.warning("%s: `medium` is the old name of the column disk_type; rename it", where)
        text = _OLD_COLUMN.sub(lambda head: head[0][: -len("medium")] + "disk_type", text)
    rows = list(csv_rows(text, where, NEEDED, OPTIONAL))
    if delimiter_of(text, NEEDED) != ",":
        check_points_are_decimal(rows, ("hosts", "value", "load"))
    points = _points(rows)
    if not points:
        raise InputError(
            "the file contains no points.", where, "give points at 3 or more host counts."
        )
    check_units(points, where)
    check_slips(rows, points)
    return tuple(points)


def _points(rows: Sequence[tuple[str, Row]]) -> list[Point]:
    seen: dict[tuple[object, ...], int] = defaultdict(int)
    faulty: list[str] = []

    def point(one: tuple[str, Row]) -> Point:
        try:
            return _Line(one[1], one[0]).point(seen)
        except InputError as error:
            faulty.append(one[0])
            if len(faulty) < MOST_FAULTS or one is rows[-1]:
                raise
            raise replace(error, what=f"{error.what} (further lines were not checked)") from error

    return each_of(rows, point, MOST_FAULTS)


@dataclass(frozen=True)
class _Line:
    row: Row
    where: str

    def point(self, seen: dict[tuple[object, ...], int]) -> Point:
        unit = self._unit()
        load, percentile = self._optional("load"), self._optional("percentile")
        quantity = self._quantity(unit, load, percentile)
        group, disk_type = self._text("group"), self._text("disk_type", "unknown")
        operation = self._text("operation", "")
        hosts, vms = self._whole("hosts", 1), self._whole("vms_per_host", 0)
        cell = (group, disk_type, hosts, vms, quantity, percentile, load, operation)
        seen[cell] += 1
        return Point(
            group=group,
            hosts=hosts,
            vms_per_host=vms,
            disk_type=disk_type,
            quantity=quantity,
            value=self._value(unit),
            unit=unit.canonical,
            repetition=seen[cell],
            load=load,
            percentile=percentile,
            operation=operation,
            source=self.where,
        )

    def _cell(self, name: str) -> str:
        return self.row.get(name, "")

    def _text(self, name: str, default: str | None = None) -> str:
        """The cell's text, or `default` if it is empty; without a default, that is an InputError."""
        text = self._cell(name) or default
        if text is None:
            raise self._error(name, "is empty")
        if (shown := one_line(text)) != text:
            raise self._error(name, f"is {shown[:80]!r}, with control characters")
        return text

    def _unit(self) -> Unit:
        try:
            return parse_unit(self._text("unit"))
        except ValueError as error:
            raise InputError(f"{error}.", self.where, "use a known unit.") from error

    def _quantity(self, unit: Unit, load: float | None, percentile: float | None) -> Quantity:
        if percentile is not None and not 1 <= percentile < 100:
            raise self._error("percentile", "must be 1 or more, and below 100, in percent")
        if unit.kind == "time":
            return "time" if percentile is None else "latency"
        if unit.kind == "percent":
            if load is None:
                raise self._error("load", "is empty, but utilization needs it")
            return "utilization"
        return "rate"

    def _whole(self, name: str, least: int) -> int:
        number = self._number(name)
        if number != int(number) or not least <= number <= MOST:
            fault = f"is {self._cell(name)!r}, not a whole number from {least} to {MOST}"
            raise self._error(name, fault)
        return int(number)

    def _positive(self, name: str) -> float:
        number = self._number(name)
        if number <= 0:
            raise self._error(name, f"is {self._cell(name)!r}; it must be positive")
        return number

    def _value(self, unit: Unit) -> float:
        value = self._positive("value") * unit.factor
        if not 0 < value < math.inf:  # a unit's factor may underflow or overflow a number
            fault = f"is {self._cell('value')!r} {unit.text}: no such is measured"
            raise self._error("value", fault)
        return value

    def _optional(self, name: str) -> float | None:
        return self._positive(name) if self._cell(name) else None

    def _number(self, name: str) -> float:
        text = self._text(name)
        if not NUMBER.fullmatch(text):
            hint = "; write it with a point, and without separators"
            fault = f"is {text!r}, not a number{hint if SEPARATED.fullmatch(text) else ''}"
            raise self._error(name, fault)
        number = float(text)
        if not math.isfinite(number):
            raise self._error(name, f"is {text!r}, not a finite number")
        return number

    def _error(self, name: str, fault: str) -> InputError:
        return InputError(
            f"{name} {fault}.", self.where, "correct the line, or remove the measurement."
        )
