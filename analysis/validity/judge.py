"""The verdict on a trial: the rules of `rules.toml`, applied to the trial's facts. Pure, and the only judge:
the first look at a record and the analysis both use it.

Invalid outranks unknown, and unknown outranks valid.

In a record of this program, a missing fact means that something broke. In a record that others made, nobody
may have recorded the fact. There it weighs no more than the violation that it could hide: it is a flag where
a violation is a flag, and otherwise the verdict is unknown. Such a trial is counted (its numbers are shown)
but supports no claim, unless the map accepts the check as unknown. The same holds for what an existing
cluster (provider `existing`) does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from density_study.analysis.validity.rules import RULES, Outcome, Rule

SEVERITY = ("valid", "unknown", "invalid")  # a verdict outranks those before it
Facts = Mapping[str, Any]


class _Words(Formatter):
    """A fact that is not known is called so, whatever its format: a reason is never lost to it."""

    def format_field(self, value: object, format_spec: str) -> str:
        return "unknown" if value is None else str(super().format_field(value, format_spec))


_WORDS = _Words()


@dataclass(frozen=True)
class Finding:
    """A rule that a trial violates, or whose fact is missing.

    rule: its place among the rules. outcome: what it makes of the trial; a `flag` changes nothing.
    excused: nobody could have recorded the missing fact.
    """

    rule: int
    outcome: Outcome
    reason: str
    missing: bool = False
    excused: bool = False


@dataclass(frozen=True)
class Judgement:
    """What the rules find in a trial, in the order of the rules."""

    findings: tuple[Finding, ...] = ()

    @property
    def verdict(self) -> str:
        return _worst(self.findings)

    @property
    def counted(self) -> bool:
        """Whether the numbers are shown: the trial is valid, or misses only what nobody could record."""
        return all(one.excused for one in self._relevant if one.outcome != "flag")

    @property
    def reasons(self) -> tuple[str, ...]:
        """All that there is to say about the trial, flags included. For an invalid trial only what is wrong:
        a failed trial lacks many facts."""
        return tuple(one.reason for one in self._relevant)

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons that decide; none for a valid trial."""
        verdict = self.verdict
        return tuple(one.reason for one in self.findings if one.outcome == verdict)

    @property
    def flags(self) -> tuple[str, ...]:
        """What to know about the trial, whatever its verdict."""
        return tuple(one.reason for one in self._relevant if one.outcome == "flag")

    @property
    def _relevant(self) -> tuple[Finding, ...]:
        wrong = tuple(one for one in self.findings if not one.missing)
        return wrong if _worst(wrong) == "invalid" else self.findings


def verdict_row(facts: Facts, judgement: Judgement) -> dict[str, Any]:
    """A row of the table `verdicts`."""
    return {
        "trial": facts["trial"],
        "verdict": judgement.verdict,
        "counted": judgement.counted,
        "reasons": list(judgement.reasons),
    }


def judge(facts: Facts) -> Judgement:
    """Apply every rule whose `check` is among `facts`; a fact of None is unknown.

    The first look leaves out facts that need other trials. The analysis has a value or None for each.
    """
    return Judgement(tuple(_findings(facts)))


def _findings(facts: Facts) -> Iterator[Finding]:
    for place, rule in enumerate(RULES):
        if rule.check not in facts or not (rule.only is None or facts.get(rule.only) == rule.equal):
            continue
        value = facts[rule.check]
        if value is not None:
            if not _allows(rule, value):
                yield Finding(place, rule.broken, _WORDS.vformat(rule.reason, (), facts))
        elif rule.null == "unknown":
            yield _missing(place, rule, facts)


def _missing(place: int, rule: Rule, facts: Facts) -> Finding:
    excused = bool(facts.get("imported") or (facts.get("existing") and rule.unseen))
    outcome: Outcome = "unknown"
    reason = rule.missing
    if excused and rule.check in (facts.get("accepted") or ()):
        outcome, reason = "flag", f"accepted: {rule.missing}"
    elif excused and rule.broken == "flag":
        outcome, reason = "flag", f"unchecked: {rule.missing}"
    return Finding(place, outcome, reason, missing=True, excused=excused)


def _allows(rule: Rule, value: Any) -> bool:
    if rule.allowed is not None:
        return value in rule.allowed
    return (rule.low is None or value >= rule.low) and (rule.high is None or value <= rule.high)


def _worst(findings: Iterable[Finding]) -> str:
    deciding = (one.outcome for one in findings if one.outcome != "flag")
    return max(deciding, key=SEVERITY.index, default="valid")
