"""`Measurement`: what a name that YCSB measures under says: READ, Intended-SCAN, INSERT-FAILED, ...

Source: `site.ycsb.DBWrapper` and `Measurements` of YCSB 0.17.0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

# The client's own time between two operations of a closed loop, recorded like an operation.
THINK = "THINK"
CLEANUP = "CLEANUP"  # a client thread has finished
VERIFY = "VERIFY"  # of a read's content, with dataintegrity=true
NOT_OF_USERS = (CLEANUP, THINK, VERIFY)  # not user requests
READ_MODIFY_WRITE = "READ-MODIFY-WRITE"

Instrument = Literal["hdr", "bucket", "raw"]

_INTENDED = "Intended-"
_OPERATIONS = "READ-MODIFY-WRITE|READ|UPDATE|INSERT|SCAN|DELETE|CLEANUP|VERIFY|THINK"
_NAME = re.compile(rf"(Hdr|Bucket|Raw)?({_OPERATIONS})(?:-([A-Z_]+))?")
_INSTRUMENTS: dict[str, Instrument] = {"Hdr": "hdr", "Bucket": "bucket", "Raw": "raw"}


@dataclass(frozen=True)
class Measurement:
    """name: as YCSB prints it. operation: without prefixes and suffix; the name itself if unknown.

    intended: measured from the time the operation should have begun (method 10).
    outcome: FAILED, NOT_FOUND, ... of a measurement of failures; None for one of successes.
    instrument: which of two combined measurement types took it; None where there is one.
    """

    name: str
    operation: str
    intended: bool = False
    outcome: str | None = None
    instrument: Instrument | None = None


@lru_cache(maxsize=64)  # asked for every interval of a log
def measurement(name: str) -> Measurement:
    """Read a name. Never fails: an unknown operation is taken as it is."""
    intended = name.startswith(_INTENDED)
    bare = name.removeprefix(_INTENDED)
    match = _NAME.fullmatch(bare)
    if not match:
        return Measurement(name, bare, intended)
    prefix, operation, outcome = match.groups()
    return Measurement(name, operation, intended, outcome, _INSTRUMENTS.get(prefix or ""))
