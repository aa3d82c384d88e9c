"""Validity rules as data: what a trial must satisfy before its numbers are used. `rules.toml` holds them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["invalid", "unknown", "flag"]
IfNull = Literal["unknown", "pass"]
Suite = Literal[
    "completeness", "errors", "samples", "clock", "cpu", "cache", "load", "ranges", "arithmetic",
    "agreement", "network",
]  # fmt: skip
"""The topic of a rule. Great Expectations validates and shows each suite separately."""


@dataclass(frozen=True)
class Rule:
    """Column `check` must lie in [low, high], or be one of `allowed`, if column `only` equals `equal`.

    broken: the trial's verdict if it does not; a `flag` is reported but does not change the verdict.
    null: a null in the column makes the trial unknown; `pass` if a null is normal.
    unseen: a given cluster may not show it: then a null weighs no more than in a record that others made.
    reason, missing: the cause, with {column} for the trial's value. remedy: what to do about it.
    """

    check: str
    suite: Suite
    reason: str
    remedy: str
    missing: str = ""
    low: float | None = None
    high: float | None = None
    allowed: list[str] | None = None
    only: str | None = None
    equal: str | bool | None = None
    broken: Outcome = "invalid"
    null: IfNull = "unknown"
    unseen: bool = False


_DECLARED = Path(__file__).with_name("rules.toml").read_text(encoding="utf-8")
RULES = tuple(Rule(**declared) for declared in tomllib.loads(_DECLARED)["rules"])
GC_BEARABLE = next(rule.high or 0.0 for rule in RULES if rule.check == "client_gc_share")
"""Share of its time that a client may stand still for garbage collection."""
_TARGET = [rule for rule in RULES if rule.check == "target_share"]
TARGET_HELD = (max(rule.low or 0.0 for rule in _TARGET), max(rule.high or 0.0 for rule in _TARGET))
"""Achieved rate over target rate: within this range the latency is that of the target rate."""
