"""Which rules hold by coincidence: a randomisation test over windows, or trials, that are not slow.

A series that comes and goes is beyond its limits in some seconds, and with many places and many rules some
series is so in most of them. So a rule's margin in the slow spell is compared with its margins in windows of
the same length that are not slow, of the trial and of others of its test case. A rule is surprising by its
margin over the mean of its largest ones elsewhere, one in 20. The p-value is the share of windows in which
the most surprising rule of all is at least as surprising: it holds whatever the number of rules and places,
and however uneven the series (Westfall and Young, Resampling-Based Multiple Testing, 1993). The spell counts
as one of the windows. For slow trials, trials that are not slow are the windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from density_study.analysis.explanation.causes import judged, strongest
from density_study.analysis.explanation.course import Array, Course, Usual, mean_of_windows
from density_study.analysis.explanation.rules import Rule

CHANCE = 0.02
"""For each slow spell. Names come in groups, and trials have several spells: this keeps them below one name
in 20 healthy trials."""
LARGEST, FEWEST_LARGEST = 0.05, 3
NEAR = 0.2  # of its limit: a rule that never comes nearer is as surprising as one that does
MOST_WINDOWS = 400  # of a test case, over its trials
FEWEST_WINDOWS = 10  # of each trial


def coincidences(
    here: Mapping[Rule, float], windows: Mapping[Rule, Array], tests: int = 1
) -> set[Rule]:
    """For the rules that hold `here`, those of which chance is no worse an explanation. windows: margins of
    each rule where nothing is slow. tests: among how many CHANCE is divided; with few windows, to be more
    surprising than all of them is enough."""
    names = [rule for rule, margin in here.items() if margin > 1]
    count = len(next(iter(windows.values()), ()))
    if not names or not count:
        return set()
    p = _p({**windows, **{rule: windows.get(rule, np.zeros(count)) for rule in names}}, here)
    allowed = max(CHANCE / tests, 1 / (count + 1))
    return {rule for rule in names if p[rule] > allowed * (1 + 1e-9)}


def _p(windows: Mapping[Rule, Array], here: Mapping[Rule, float]) -> Mapping[Rule, float]:
    every = np.array([[here.get(rule, 0.0), *of_rule] for rule, of_rule in windows.items()])
    count = min(max(FEWEST_LARGEST, round(LARGEST * every.shape[1])), every.shape[1] - 1)
    largest = np.sort(every, axis=1)[:, -count - 1 :]
    # Of the others only: among few, a margin is never far beyond a mean that it is part of.
    others = (largest.sum(axis=1, keepdims=True) - np.maximum(every, largest[:, :1])) / count
    surprise = np.where(every > 1, every / np.maximum(others, NEAR), 0.0)
    most = surprise.max(axis=0)
    return {
        rule: float(np.mean(most >= own[0])) for rule, own in zip(windows, surprise, strict=True)
    }


class Windows:
    """For the trials of a test case on a topology: margins of each rule in windows of seconds in no spell."""

    def __init__(self, courses: Sequence[Course], usual: Sequence[Usual]) -> None:
        self._of = list(zip(courses, usual, strict=True))
        self._known: dict[int, Mapping[Rule, Array]] = {}

    def of(self, length_s: int) -> Mapping[Rule, Array]:
        """The margins of each rule in windows of `length_s` seconds."""
        if length_s not in self._known:
            each = max(FEWEST_WINDOWS, MOST_WINDOWS // len(self._of))
            parts = [_margins(course, usual, length_s, each) for course, usual in self._of]
            every = dict.fromkeys(rule for part, _ in parts for rule in part)
            self._known[length_s] = {
                rule: np.concatenate([part.get(rule, np.zeros(n)) for part, n in parts])
                for rule in every
            }
        return self._known[length_s]


def _margins(
    course: Course, usual: Usual, length_s: int, most: int
) -> tuple[Mapping[Rule, Array], int]:
    value = mean_of_windows(course.values[:, usual.seconds], length_s, most)
    signs = judged(course.series, "spell", value, usual.centre, usual.spread)
    return strongest(signs, value.shape[1]), value.shape[1]
