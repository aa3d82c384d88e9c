"""Quantities of a study file: `96 GiB`, `10 min`, `2000/s`. pint converts units; a bare number is
rejected."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

MAX_DAYS = 30
_LONGEST = 100
_FORM = re.compile(r"\s*[-+]?(\d[\d_]*)?\.?\d+([eE][-+]?\d{1,3})?\s*[A-Za-zµ%/ ]{1,30}")


@cache
def _registry() -> Any:
    import pint  # takes half a second: import it only when needed

    return pint.UnitRegistry()


@cache
def _converted(value: str, unit: str) -> float:
    """A study is read once per task and its texts repeat; pint takes half a millisecond for each."""
    return float(_registry().Quantity(value).to(unit).magnitude)


def magnitude(value: object, unit: str, example: str) -> float:
    """`value` ("96 GiB") in `unit`. ValueError describes the fault and shows an example."""
    if not isinstance(value, str):
        raise ValueError(f"{value!r} has no unit; write, for example, {example}")
    fault = f"{value[:80]!r} is not a quantity in {unit}; write, for example, {example}"
    if len(value) > _LONGEST or not _FORM.fullmatch(
        value
    ):  # pint evaluates expressions: 9**9**9 s takes half a minute
        raise ValueError(fault)
    try:
        return _converted(value, unit)
    except Exception as error:  # pint raises many types for invalid text
        raise ValueError(fault) from error


def _positive(value: object, unit: str, example: str) -> float:
    number = magnitude(value, unit, example)
    if not number > 0 or number == float("inf"):
        raise ValueError(f"{value!r} must be positive and finite, for example {example}")
    return number


def _whole(value: object, unit: str, example: str, plural: str) -> int:
    number = _positive(value, unit, example)
    if number != int(number):
        decimal = re.search(r"([kKMGT])B$", str(value).strip())
        if decimal:
            binary = re.sub(r"B$", "iB", str(value).strip().replace("kB", "KB"))
            raise ValueError(
                f"{value!r} is decimal, and not a whole number of {plural}; write {binary}"
            )
        raise ValueError(
            f"{value!r} is not a whole number of {plural}; write, for example, {example}"
        )
    return int(number)


def whole_mib(value: object) -> int:
    """ "96 GiB" to 98304. ValueError as `magnitude`."""
    return _whole(value, "MiB", "96 GiB", "MiB")


def _whole_bytes(value: object) -> int:
    return _whole(value, "byte", "1 MiB", "bytes")


_SEVERAL = re.compile(r"(?:(\d+) ?d)? ?(?:(\d+) ?h)? ?(?:(\d+) ?m(?:in)?)? ?(?:(\d+) ?s)?")
_SECONDS_OF = (86400, 3600, 60, 1)


def _one_unit(value: object) -> object:
    """ "1h30m" and "24 min 43 s" in seconds; anything else as it is."""
    parts = _SEVERAL.fullmatch(value.strip()) if isinstance(value, str) else None
    if parts is None or not any(parts.groups()):
        return value
    return f"{sum(int(n or 0) * s for n, s in zip(parts.groups(), _SECONDS_OF, strict=True))} s"


def duration(seconds: float) -> str:
    """Seconds as `45 s`, `24 min 43 s`, `2 h 5 min` or, from 100 hours, `12 d 3 h`; the smaller unit is left
    out if it is 0. `seconds` reads it."""
    whole_s = round(max(0.0, seconds))
    units = (("d", 86400, 100 * 3600), ("h", 3600, 3600), ("min", 60, 60), ("s", 1, 1))
    at = next((at for at, (_, _, least_s) in enumerate(units) if whole_s >= least_s), 3)
    shown = list[str]()
    for unit, length_s, _ in units[at : at + 2]:
        count, whole_s = divmod(whole_s, length_s)
        shown += [f"{count} {unit}"] if count or not shown else []
    return " ".join(shown)


def seconds(value: object) -> float:
    """ "10 min", "1h30m" or "24 min 43 s" to seconds. ValueError as `magnitude`, and for durations above the
    maximum of a trial."""
    number = _positive(_one_unit(value), "s", "10 min")
    if number > MAX_DAYS * 86400:
        raise ValueError(f"{value!r} exceeds the maximum of {MAX_DAYS} days")
    return number


def percent(value: object, example: str) -> float:
    """ "70%" to 70.0. ValueError describes the fault and shows an example."""
    found = float("nan")
    if isinstance(value, str) and value.strip().endswith("%"):
        with suppress(ValueError):
            found = float(value.strip().removesuffix("%"))
    if not 0 < found <= 100:
        raise ValueError(
            f"{value!r} is not a percentage above 0 and up to 100; write, for example, {example}"
        )
    return found


def milliseconds(value: object) -> float:
    """ "20 ms" to 20.0. ValueError as `magnitude`."""
    return _positive(value, "ms", "20 ms")


def written_in(unit: str) -> WithJsonSchema:
    """JSON Schema of a quantity: text. `unit` is the unit of the model's value, and so of a default."""
    return WithJsonSchema({"type": "string", "x-unit": unit})


@dataclass(frozen=True)
class NodeShare:
    """A part of the memory of each node."""

    percent: float


_NODE_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,2})?%) of node")


def size_or_share(value: object) -> object:
    """ "96 GiB" to 98304, and "60% of node" to a `NodeShare`. ValueError as `magnitude`."""
    if isinstance(value, str) and (share := _NODE_SHARE.fullmatch(value.strip())):
        return NodeShare(percent(share[1], "60% of node"))
    if isinstance(value, str) and "%" in value:
        raise ValueError(
            f"{value[:80]!r} is not a share of a node; write, for example, 60% of node"
        )
    return value if isinstance(value, NodeShare) else whole_mib(value)


SizeMib = Annotated[int, BeforeValidator(whole_mib), written_in("MiB")]
"""A size in whole MiB, written with its unit: `64 MiB`, `1 GiB`."""
SizeOrShare = Annotated[int | NodeShare, BeforeValidator(size_or_share), written_in("MiB")]
"""A size in whole MiB, or a share of the node's memory: `31 GiB`, `60% of node`."""
Percent = Annotated[float, BeforeValidator(lambda value: percent(value, "25%")), written_in("%")]
"""Above 0 and up to 100, written with its unit: `25%`."""
SizeBytes = Annotated[int, BeforeValidator(_whole_bytes), written_in("byte")]
"""A size in whole bytes, written with its unit: `1 MiB`, `1 MB`."""
Seconds = Annotated[float, BeforeValidator(seconds), written_in("s")]
"""A duration in seconds, written with its unit: `15 s`, `10 min`."""
