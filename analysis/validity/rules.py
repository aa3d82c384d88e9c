"""Validity rules as data: what a trial must satisfy before its numbers are used. `rules.toml` holds them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

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
    unseen: an existing cluster may not show it: then a null weighs no more than in a record that others made.
    reason, missing: the cause, with {column} for the trial's value. remedy: what to do about it, and
    remedy_of_others: where others measured the trial, so that nothing can be measured again.
    """

    check: str
    suite: Suite
    reason: str
    remedy: str
    remedy_of_others: str
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
_AGAIN = "Add a repetition (`study run SPEC --add-repetitions 1`), or clear the trial in Airflow."


def _rule(remedy: str, again: bool = False, **declared: Any) -> Rule:
    """again: measuring the trial again may mend it."""
    whole = f"{remedy} {_AGAIN}" if again else remedy
    return Rule(remedy=whole, remedy_of_others=remedy, **declared)


RULES = tuple(_rule(**declared) for declared in tomllib.loads(_DECLARED)["rules"])
_LOGS = "See the trial's logs, `records/<trial>/logs`."
_RECORDED = "Nobody recorded it. Add it to the map, or accept it (`accept: {{{}: why}}`). Then import again."
GC_BEARABLE = next(rule.high or 0.0 for rule in RULES if rule.check == "client_gc_share")
"""Share of its time that a client may stand still for garbage collection."""
_TARGET = [rule for rule in RULES if rule.check == "target_share"]
TARGET_HELD = (max(rule.low or 0.0 for rule in _TARGET), max(rule.high or 0.0 for rule in _TARGET))
"""Achieved rate over target rate: within this range the latency is that of the target rate."""


def remedy_of(reason: str, imported: bool = False) -> str:
    """What to do about a trial with this reason; where no rule made it, the logs have more. imported: others
    measured it."""
    text = re.sub(r"^(accepted|unchecked): ", "", reason)
    if imported:
        unknown = next((rule.check for rule in RULES if rule.missing == text), None)
        if unknown:
            return _RECORDED.format(unknown)
    exact = [rule for form, rule in _forms() if form.fullmatch(text)]
    flag = f"{text.partition(':')[0]}:"
    same = [rule for rule in RULES if rule.reason.startswith(flag)]  # flags of an older version
    rule = next(iter((*exact, *same)), None)
    if rule is None:
        return _LOGS
    return rule.remedy_of_others if imported else rule.remedy


@cache
def _forms() -> tuple[tuple[re.Pattern[str], Rule], ...]:
    """How the reasons of each rule read, with anything in place of a trial's values."""
    texts = [(text, rule) for rule in RULES for text in (rule.reason, rule.missing) if text]
    return tuple((re.compile(_form(text), re.DOTALL), rule) for text, rule in texts)


def _form(text: str) -> str:
    return ".*?".join(map(re.escape, re.split(r"\{[^{}]*\}", text)))
