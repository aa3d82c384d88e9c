"""`Engine`: the master, options and environment of Spark."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Engine:
    """`options`: Spark options. `environment`: variables of the process that starts Spark. `python`:
    interpreter of the executors. `address`: address of the driver, which executors connect to."""

    options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    python: str = sys.executable
    address: str = LOOPBACK


LOCAL = Engine()
"""This machine, with all its cores."""
