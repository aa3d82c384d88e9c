"""The findings as a forest plot: a table in which each ratio, with its interval, stands on a common scale.

Positions are percentages of the scale's width, so that the plot fits any window and any sheet of paper.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log

from density_study.analysis.findings.claims import is_whole
from density_study.analysis.report.charts.findings_table import probability, shared_why
from density_study.analysis.report.charts.palette import VERDICT, Style
from density_study.analysis.report.charts.quantity import interval, ratio
from density_study.analysis.summary.summary import Finding, Summary, verdict_words
from density_study.cluster.model.plain import capitalised

APART = 24.0
"""Percent of the scale between two ticks at least: on paper its column is narrow, and `×1.05` is wide."""
COARSE = (0.25, 0.4, 0.5, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0)
FINE = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75)
FINER = tuple(round(0.7 + 0.05 * step, 2) for step in range(17))
FINEST = tuple(round(0.9 + 0.01 * step, 2) for step in range(21))


@dataclass(frozen=True)
class Row:
    """`at`, `low` and `high` are places on the scale, in percent; `ref` points into summary.json. `p` is
    adjusted. `why`: the reason if it is inconclusive; otherwise the other columns are the reason."""

    ref: str
    label: str
    verdict: str
    words: str
    has_warnings: bool
    style: Style
    why: str
    p: str
    ratio: str
    interval: str
    at: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Group:
    """Comparisons of one measure between the same variants, by the same rule."""

    title: str
    variants: str
    rule: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True)
class Forest:
    """`one`: the place of the ratio 1, no difference. `tested`: whether any p is known. `why`: the reason,
    if all comparisons are undecided for the same one; otherwise empty, and each row has its own."""

    groups: tuple[Group, ...]
    ticks: tuple[Tick, ...]
    one: float
    tested: bool
    why: str


def forest(summary: Summary) -> Forest:
    """Every comparison of the run. A claim of the talk as a whole has no ratio and is not one."""
    numbered = [(at, one) for at, one in enumerate(summary.findings) if not is_whole(one)]
    low, high = _domain([finding for _, finding in numbered])
    scale = _Scale(low, high)
    claims = {one.family for one in summary.findings if is_whole(one)}
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    flagged = {(one.test_case, one.topology) for one in summary.trials if one.has_warnings}
    for at, finding in numbered:
        # what other packages compare may not name its test cases: then it may use any of them
        used = flagged & {*finding.cells} if finding.cells else flagged
        groups.setdefault(_group(finding, claims), []).append(_row(at, finding, scale, bool(used)))
    ticks = tuple(Tick(scale.place(tick), f"×{tick:g}") for tick in _ticks(scale))
    made = tuple(Group(*key[:3], tuple(rows)) for key, rows in groups.items())
    tested = any(finding.p_adjusted is not None for _, finding in numbered)
    asked = [finding for _, finding in numbered if finding.verdict != "measured"]
    why = "" if any(finding.is_decided for finding in asked) else shared_why(asked)
    return Forest(made, ticks, scale.place(1.0), tested, why)


@dataclass(frozen=True)
class _Scale:
    """Logarithmic, because half and double are equally far from 1."""

    low: float
    high: float

    def place(self, value: float) -> float:
        return 100.0 * log(value / self.low) / log(self.high / self.low)


def _group(finding: Finding, claims: Collection[str | None]) -> tuple[str, str, str, str]:
    """Title, variants and rule of the finding's group, and its family: families are not mixed."""
    family = finding.family or ""
    if finding.measure is None:
        return "", "", "", family
    title = capitalised(finding.measure)
    if family in claims:
        title = f"Claim {family}: {finding.measure}"
    if family.startswith("expect-"):
        title = f"Hypothesis {family.removeprefix('expect-')}: {finding.measure}"
    variants = ", ".join(filter(None, (finding.variants, finding.among)))
    return title, variants, finding.rule or "", family


def _row(at: int, finding: Finding, scale: _Scale, has_warnings: bool) -> Row:
    effect = finding.effect if finding.effect and finding.effect > 0 else None
    places: dict[str, float] = {}
    if effect and finding.low and finding.high and min(finding.low, finding.high) > 0:
        places = {"low": scale.place(finding.low), "high": scale.place(finding.high)}
    return Row(
        ref=f"/findings/{at}",
        label=finding.subject if finding.subject and finding.measure else finding.statement,
        verdict=finding.verdict,
        words=verdict_words(finding.verdict),
        has_warnings=has_warnings,
        style=VERDICT[finding.verdict],
        why=finding.why if finding.verdict == "inconclusive" else "",
        p=probability(finding.p_adjusted).removeprefix("p ").removeprefix("= "),
        ratio=ratio(finding.effect),
        interval=interval(finding.low, finding.high, ""),
        at=None if effect is None else scale.place(effect),
        **places,
    )


def _domain(findings: Sequence[Finding]) -> tuple[float, float]:
    """Both ends of a scale that holds 1 and every effect with its interval, with a margin."""
    values = (end for f in findings for end in (f.effect, f.low, f.high))
    ends = [1.0, *(end for end in values if end is not None and end > 0)]
    low, high = min(ends), max(ends)
    room = (high / low) ** 0.06 if high > low else 1.1
    return low / room, high * room


def _ticks(scale: _Scale) -> list[float]:
    """1, and on each side of it round ratios within the scale, as many as have room."""
    below, above = (_outwards(scale, *ends) for ends in ((scale.low, 1.0), (1.0, scale.high)))
    return [*reversed(below), 1.0, *above]


def _outwards(scale: _Scale, low: float, high: float) -> list[float]:
    """Those on one side: powers of ten if there is one, else of the level with the most, the coarsest of
    equals."""
    powers = [10.0**power for power in range(-6, 7)]
    wide = [step * power for power in powers for step in (1.0, 2.0, 5.0)]
    levels = (powers, wide, COARSE, FINE, FINER, FINEST)
    found = [_apart([one for one in level if low <= one <= high], scale) for level in levels]
    return found[0] or max(found, key=len)


def _apart(level: Sequence[float], scale: _Scale) -> list[float]:
    """The ticks that have room, from 1 outwards, without 1 itself."""
    kept = [1.0]
    for tick in sorted(level, key=lambda one: abs(log(one))):
        if abs(scale.place(tick) - scale.place(kept[-1])) >= APART:
            kept.append(tick)
    return kept[1:]
