"""A provisional verdict on one trial: the rules whose facts are known already, applied without a library.

The verdict of a run's analysis comes from `analysis.validity.verdicts`, which applies all rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from density_study.analysis.validity.rules import RULES, Rule

SEVERITY = ("valid", "unknown", "invalid")  # a verdict outranks those before it
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Provisional:
    """reasons: why the trial is not valid. flags: what to know about it, whatever its verdict."""

    verdict: str
    reasons: tuple[str, ...]
    flags: tuple[str, ...]


def judge(facts: Facts, rules: Sequence[Rule] = RULES) -> Provisional:
    """The verdict of the rules whose `check` is among `facts`; a fact of None is unknown."""
    found: list[tuple[str, str]] = []
    for rule in rules:
        if rule.check not in facts or not _concerns(rule, facts):
            continue
        value = facts[rule.check]
        if value is None:
            excused = rule.unseen and facts.get("given") and rule.broken == "flag"
            outcome = "flag" if excused else "unknown"
            found += [(outcome, rule.missing)] if rule.null == "unknown" else []
        elif not _allows(rule, value):
            found.append((rule.broken, rule.reason.format(**facts)))
    judged = [(outcome, reason) for outcome, reason in found if outcome != "flag"]
    verdict = max((outcome for outcome, _ in judged), key=SEVERITY.index, default="valid")
    return Provisional(
        verdict,
        tuple(reason for outcome, reason in judged if outcome == verdict),
        tuple(reason for outcome, reason in found if outcome == "flag"),
    )


def _concerns(rule: Rule, facts: Facts) -> bool:
    return rule.only is None or facts.get(rule.only) == rule.equal


def _allows(rule: Rule, value: Any) -> bool:
    if rule.allowed is not None:
        return value in rule.allowed
    return (rule.low is None or value >= rule.low) and (rule.high is None or value <= rule.high)
