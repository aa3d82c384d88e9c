"""How Hadoop and HBase read the value of a property, and which values they bear. Pure.

A value that they cannot read ends a daemon when it starts, or counts as not set: the study would compare two
equal clusters. Properties that are not in value_kinds.txt may have any value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_INT, _LONG = 2**31 - 1, 2**63 - 1
_PREFIXES = "kmgtpe"
_KINDS = {
    "int": (r"[+-]?\d+", "a whole number without a unit"),
    "long": (r"[+-]?\d+", "a whole number without a unit"),
    "bytes": (
        rf"-?\d+[{_PREFIXES}]?",
        "a whole number of bytes, with k, m, g, t, p, e or no unit,",
    ),
    "decimal": (r"[+-]?(\d+\.?\d*|\.\d+)(e-?\d+)?f?", "a number without a unit"),
    "switch": ("true|false", "true or false"),
    "time": (
        r"-?\d+ ?(ns|us|ms|s|m|h|d)?",
        "a whole number with ns, us, ms, s, m, h, d or no unit",
    ),
}
"""Kind -> what org.apache.hadoop.conf.Configuration can read, in lower case, and in words."""
_UNREADABLE = {
    "switch": "other words count as not set",
    "": "a daemon that reads it ends with an error",
}


@dataclass(frozen=True)
class ValueKind:
    kind: str
    least: float | None
    most: float | None
    why: str
    """What a value outside of the range would do; empty if no more is known than that it makes no sense."""


def kind_fault(name: str, value: str) -> str:
    """Why this value fails, or has no effect; empty if it does not, or the property is not in the table."""
    known = value_kinds().get(name)
    if known is None:
        return ""
    form, words = _KINDS[known.kind]
    text = value.strip().lower()
    if not re.fullmatch(form, text):
        because = _UNREADABLE.get(known.kind, _UNREADABLE[""])
        return f"{name} is {words}, not {value[:80]!r}: {because}"
    if known.kind in ("switch", "time"):
        return ""
    number = _number(text)
    limit = {"int": _INT, "long": _LONG, "bytes": _LONG}.get(known.kind)
    if limit and not -limit <= number <= limit:
        return f"{name} is {words} up to {limit:,}, not {value[:80]!r}: {_UNREADABLE['']}"
    most = float("inf") if known.most is None else known.most
    if known.least is None or known.least <= number <= most:
        return ""
    span = (
        f"from {known.least:,.0f} to {most:,.0f}"
        if known.most
        else f"of at least {known.least:,.0f}"
    )
    because = f": {known.why}" if known.why else ""
    return f"{name} is {words} {span}, not {value[:80]!r}{because}"


def _number(text: str) -> float:
    power = _PREFIXES.find(text[-1]) + 1
    if power:
        return float(int(text[:-1]) * 1024**power)
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text.rstrip("f"))


@cache
def value_kinds() -> Mapping[str, ValueKind]:
    """The table of value_kinds.txt: property -> its kind."""
    kinds: dict[str, ValueKind] = {}
    heading = ValueKind("", None, None, "")
    for line in Path(__file__).with_name("value_kinds.txt").read_text().splitlines():
        if found := re.fullmatch(r"\[(\w+)(?: (\d+)\.\.(\d+)?)?\] ?(.*)", line):
            kind, least, most, why = found.groups()
            heading = ValueKind(
                kind, float(least) if least else None, float(most) if most else None, why
            )
        elif not line.startswith("#"):
            kinds.update(dict.fromkeys(line.split(), heading))
    return kinds
