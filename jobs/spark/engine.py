"""`Engine`: where Spark computes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Engine:
    """`options` of Spark's; `environment` of the process that starts it; `python` as executors call it.
    `address`: the driver's, which executors connect to."""

    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable
    address: str = LOOPBACK


LOCAL = Engine()
"""This machine, with all its cores."""
