"""Units of measured points: the kind of number, and the factor to the kind's canonical unit.

Times become seconds, rates become things a second, byte rates MiB/s, shares percent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["time", "rate", "percent"]

TIMES_S = {
    "us": 1e-6, "ms": 1e-3,
    "s": 1.0, "sec": 1.0, "second": 1.0, "seconds": 1.0,
    "min": 60.0, "minute": 60.0, "minutes": 60.0,
    "h": 3600.0, "hr": 3600.0, "hour": 3600.0, "hours": 3600.0,
    "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
BYTES_MIB = {  # SI prefixes are of 1000 and IEC's of 1024: 1 MB/s is 4.6 % less than 1 MiB/s
    "b": 2.0**-20, "byte": 2.0**-20, "bytes": 2.0**-20,
    "kb": 1e3 / 2**20, "mb": 1e6 / 2**20, "gb": 1e9 / 2**20, "tb": 1e12 / 2**20,
    "kib": 2.0**-10, "mib": 1.0, "gib": 2.0**10, "tib": 2.0**20,
}  # fmt: skip
_NOUNS = """op operation query request row record scan read write job task genome exome sample
    transaction event message"""
COUNTS = {noun + ending for noun in _NOUNS.split() for ending in ("", "s")} | {
    "queries",
    "iops",
    "tx",
}
_BITS = re.compile(r"[kmgtKMGT]i?b\b")
KNOWN = "s, ms, min, h; ops/s, MiB/s, MB/s, genomes/day and the like; percent"


@dataclass(frozen=True)
class Unit:
    """`factor` times a value in this unit is the value in `canonical`."""

    text: str
    kind: Kind
    canonical: str
    factor: float


def parse_unit(text: str) -> Unit:
    """ "min" or "MB/s" as a `Unit`. ValueError for an unknown unit."""
    if _BITS.match(text.strip()):
        raise ValueError(
            f"unit {text!r} may mean bits or bytes; write kB/s, MB/s, or MiB/s for TestDFSIO's mb/sec"
        )
    name = text.strip().lower()
    if name in TIMES_S:
        return Unit(text, "time", "s", TIMES_S[name])
    if name in {"%", "percent", "pct"}:
        return Unit(text, "percent", "percent", 1.0)
    thing, _, period = name.replace(" per ", "/").replace(" ", "").partition("/")
    if name == "iops":
        thing, period = "op", "s"
    if period in TIMES_S and thing in BYTES_MIB:
        return Unit(text, "rate", "MiB/s", BYTES_MIB[thing] / TIMES_S[period])
    if period in TIMES_S and thing in COUNTS:
        noun = "ops" if thing in {"op", "ops", "operation", "operations"} else thing
        return Unit(text, "rate", f"{noun}/s", 1.0 / TIMES_S[period])
    raise ValueError(f"unit {text!r} is not known; known are {KNOWN}")
