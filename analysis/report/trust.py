"""The badges beside the headline: what a reader must know before believing a number of this run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from density_study.analysis.findings import MIN_BUILDS
from density_study.analysis.findings.claims import is_whole
from density_study.analysis.report.charts.observations import View
from density_study.analysis.summary.summary import Summary
from density_study.cluster.model.plain import counted


@dataclass(frozen=True)
class Badge:
    """`section`: the id of the part of the page that has the details."""

    level: Literal["good", "doubt", "bad"]
    text: str
    section: str


def trust(view: View) -> tuple[Badge, ...]:
    """Who or what made the records, trials by verdict, the interval method, how much was decided, and what
    is simulated."""
    summary = view.summary
    made = (Badge("doubt", "records made by others", "limits"),) if summary.imported else ()
    return (
        *made,
        *(
            (Badge("bad", "simulated: nothing was measured", "limits"),)
            if summary.is_rehearsal
            else ()
        ),
        *_trials(summary),
        _intervals(summary),
        _decided(summary),
        *(Badge("doubt", text, "limits") for text in view.badges),
    )


def _trials(summary: Summary) -> Iterator[Badge]:
    count = Counter(trial.verdict for trial in summary.trials)
    total, valid = len(summary.trials), count["valid"]
    shown = sum(trial.verdict == "unknown" and trial.counted for trial in summary.trials)
    warned = sum(trial.has_warnings for trial in summary.trials)
    level: Literal["good", "doubt", "bad"] = "good" if valid and not warned else "doubt"
    if not valid and not shown:
        level = "bad"
    warnings = f", {warned} with warnings" if warned else ""
    yield Badge(level, f"{counted(total, 'trial')}: {valid} usable{warnings}", "trials")
    if count["invalid"]:
        yield Badge("bad", f"{count['invalid']} invalid", "trials")
    if shown:
        yield Badge("doubt", f"{shown} unknown, shown without a claim", "trials")
    if unseen := count["unknown"] - shown:
        yield Badge("doubt", f"{unseen} unknown", "trials")


def _intervals(summary: Summary) -> Badge:
    """For all test cases with a valid trial, how many have enough builds for intervals."""
    builds = [one.n_builds for one in summary.test_cases if one.n_builds]
    if not builds:
        return Badge("bad", "no valid number", "trials")
    enough = sum(n >= MIN_BUILDS for n in builds)
    if not enough:
        return Badge("doubt", f"no intervals: {max(builds)} of {MIN_BUILDS} builds", "findings")
    method = "95 % t intervals over builds"
    if summary.precision is not None:
        until = summary.precision.until
        method = (
            f"{method}, for all looks" if until is None else "95 % confidence sequences over builds"
        )
    if enough == len(builds):
        fewest, most = min(builds), max(builds)
        counted = f"{most}" if fewest == most else f"{fewest} to {most}"
        return Badge("good", f"{method} (n = {counted})", "findings")
    return Badge("doubt", f"{method} for {enough} of {len(builds)} results", "findings")


def _decided(summary: Summary) -> Badge:
    compared = [one for one in summary.findings if not is_whole(one)]
    asked = [one for one in compared if one.question]
    if not asked:
        what = "nothing is tested" if compared else "nothing to compare"
        return Badge("doubt", what, "findings")
    decided = sum(one.is_decided for one in asked)
    level: Literal["good", "doubt"] = "good" if decided == len(asked) else "doubt"
    return Badge(level, f"{decided} of {len(asked)} comparisons of questions decided", "findings")
