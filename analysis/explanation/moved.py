"""What moved most with a slow spell that no rule explains, over every series that was sampled.

A quantity moved if its mean in the spell lies SPREADS robust standard deviations from its median in the other
seconds, up or down. A series that is usually constant has no deviation, so a share of its median, and one
unit of it, count as well. One of hundreds of series always moves most: whether that is more than chance is
judged by a randomisation test, in which windows of other seconds stand in for the spell.
"""

from __future__ import annotations

import numpy as np

from density_study.analysis.explanation.course import (
    Array,
    Course,
    Place,
    Series,
    Spell,
    Usual,
    mean_of_rows,
    mean_of_windows,
    share_of_seconds,
)
from density_study.analysis.explanation.spells import AMONG
from density_study.analysis.explanation.words import compared
from density_study.analysis.summary.numbers import probability

SPREADS = 4.0
SHARE = 0.02  # of the median
MOST = 3  # in a sentence
CHANCE = 0.05
FEWEST_WINDOWS = 19  # fewer cannot make CHANCE
MOST_WINDOWS = 200
NO_RULE = "No rule held"


def no_rule(course: Course, spell: Spell, seconds: np.typing.NDArray[np.bool_]) -> str:
    """The end of the sentence about a spell for which no rule holds. seconds: those of no spell."""
    series = _with_pauses(course)
    usual = Usual.of(series.values, seconds)
    value = mean_of_rows(series.values[:, course.within(*spell.core)])
    scores = _scores(value[:, None], usual)[:, 0]
    known = int(np.isfinite(scores).sum())
    if not known:
        return f"{NO_RULE}, and nothing was sampled with it"
    scores = np.nan_to_num(scores, nan=0.0)
    chance = _of_chance(series, usual, spell.core[1] - spell.core[0] + 1)
    p = (1 + int((chance >= scores.max()).sum())) / (1 + len(chance))
    moved = np.flatnonzero(scores >= SPREADS)
    if not len(moved) or (len(chance) >= FEWEST_WINDOWS and p > CHANCE):
        few = "" if len(chance) >= FEWEST_WINDOWS else ", as far as so few other seconds can tell"
        counted = (
            f"of {known} sampled series none" if known > 1 else "the only sampled series has not"
        )
        test = f" ({probability(p)}, {len(chance)} random windows)" if not few else ""
        return f"{NO_RULE}; {counted} moved more than in other seconds{test}{few}"
    order = moved[np.argsort(-scores[moved], kind="stable")]
    texts = [
        compared(series.places[row], float(value[row]), float(usual.centre[row]), AMONG)
        for row in order
    ]
    more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
    return f"{NO_RULE}. Moved most: {'; '.join(texts[:MOST])}{more}"


def _scores(values: Array, usual: Usual) -> Array:
    """How many spreads each value lies from its row's usual one; NaN where it is not known."""
    away = np.abs(values - usual.centre[:, None])
    spread = usual.spread + SHARE * np.abs(usual.centre) + 1.0 / SPREADS
    scores: Array = away / spread[:, None]
    return scores


def _of_chance(series: Series, usual: Usual, length: int) -> Array:
    """The largest score of all series in each window of this number of usual seconds."""
    means = mean_of_windows(series.values[:, usual.seconds], length, MOST_WINDOWS)
    largest: Array = np.nan_to_num(_scores(means, usual), nan=0.0).max(axis=0)
    return largest


def _with_pauses(course: Course) -> Series:
    """Its series, and of each second the share in which a daemon paused."""
    kinds = sorted({(event.kind, event.source) for event in course.events})
    shares = {
        Place(f"time in a {kind}", "", source): 100
        * share_of_seconds(
            (e for e in course.events if (e.kind, e.source) == (kind, source)), course.seconds
        )
        for kind, source in kinds
    }
    more = Series.of(shares, len(course.rate))
    return Series((*course.series.places, *more.places), np.vstack([course.values, more.values]))
