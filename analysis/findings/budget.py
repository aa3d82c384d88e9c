"""The design with the most power on a study's questions within a budget of time. Pure.

It chooses the questions, and with them the test cases and variants, the length of YCSB's windows, and the
repetitions. The objective is the sum of the questions' powers; of equal designs, the cheapest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

from density_study.analysis.findings.question import Cell
from density_study.analysis.findings.question_power import PlannedQuestion
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import (
    ASSUMED_SECOND,
    MAX_UNITS,
    MIN_UNITS,
    optimal_units,
    spread_of_build,
)
from density_study.workloads.planning.plan import MAX_TRIALS

SHORTEST_S = 30.0
"""The shortest measured window that a budget may lead to."""
SHARES = (1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1)
"""Shares of the windows that the study asks for, which a budget tries in turn."""
TRIED = (*range(MIN_UNITS, 12), *(round(12 * 1.2**power) for power in range(25)))
"""Repetitions whose power is compared: all where it bends, then a geometric series up to 1,000."""
MAX_EXHAUSTIVE = 10
"""With more questions, whole subsets are too many: the ones that cost most for their power are dropped."""


@dataclass(frozen=True)
class CellCost:
    """Seconds of a test case on a variant. `window_s`: length of its window without ramp-up; 0: the length is
    fixed. `shared`: what the first trial of a build pays for all that name the same key. `trials`: how many,
    as a search has several."""

    around_s: float
    window_s: float = 0.0
    shared: tuple[tuple[Hashable, float], ...] = ()
    trials: int = 1


Costs = Mapping[Cell, CellCost]


@dataclass(frozen=True)
class QuestionCells:
    """A question, and the cells that it needs, with those that write their data."""

    question: PlannedQuestion
    cells: frozenset[Cell]


@dataclass(frozen=True)
class WindowNoise:
    """Standard deviations of logarithms: between builds of a repetition, and of a second's rate."""

    between: float
    second: float = ASSUMED_SECOND


@dataclass(frozen=True)
class Design:
    """`share`: part of the windows that the study requests. `powers`: by question, those left out
    included."""

    questions: tuple[str, ...]
    cells: frozenset[Cell]
    share: float
    repetitions: int
    seconds: float
    powers: Mapping[str, float]

    @property
    def value(self) -> float:
        """Sum of the powers. What is less than 0.1 % apart is equal."""
        return round(sum(self.powers.values()), 3)


def allowed_repetitions(cells: Iterable[Cell], costs: Costs) -> int:
    """The most repetitions of these cells that a plan may have."""
    return min(MAX_UNITS, MAX_TRIALS // sum(costs[cell].trials for cell in cells))


def most_repetitions(fitting: int) -> int:
    """The last repetition that may run, if this number of every test case fits: answered questions leave
    time to the others. Each further look costs some error, so not many more."""
    return min(MAX_UNITS, fitting + (fitting + 1) // 2)


def best_design(
    asked: Sequence[QuestionCells],
    costs: Costs,
    build_s: float,
    noise: WindowNoise,
    budget_s: float,
) -> Design | None:
    """The questions, windows and repetitions with the most power within `budget_s`; None if not even one
    question fits with five repetitions. `build_s`: time of a bring-up and a tear-down."""
    able = [one for one in asked if not one.question.obstacle]
    names = [one.question.name for one in asked]

    @cache  # subsets and repetitions meet again and again
    def power(name: str, of: int, share: float, repetitions: int) -> float:
        question = asked[names.index(name)].question
        looks = 1 / Looks(MIN_UNITS, most_repetitions(repetitions)).share(repetitions)
        alone = replace(question, of=of, sequential=False, looks=looks)
        return alone.power(repetitions, _spread(question, costs, share, noise))

    shares = _shares(able, costs, build_s, noise)
    best: Design | None = None
    for subset in _subsets(able):
        if best and len(subset) < best.value:
            break  # no power is above 1, and what follows is no larger
        # Every subset tries the same shares: else one that would win at another's share is overlooked.
        cells = _cells(subset)
        least = _least_share(cells, costs)
        for share in {max(share, least) for share in shares}:
            each_s = repetition_s(cells, costs, build_s, share)
            most = min(allowed_repetitions(cells, costs), int(budget_s / each_s))
            design = _fitted(subset, cells, names, share, each_s, most, power)
            if design and (not best or _rank(design) > _rank(best)):
                best = design
    return best


def least_s(
    asked: Sequence[QuestionCells], costs: Costs, build_s: float, noise: WindowNoise
) -> float:
    """Seconds of the least that `best_design` finds a design for: five repetitions of one question, with the
    shortest windows."""
    able = [one for one in asked if not one.question.obstacle]
    share = min(_shares(able, costs, build_s, noise))
    return MIN_UNITS * min(
        repetition_s(cells, costs, build_s, max(share, _least_share(cells, costs)))
        for cells in (_cells(alone) for alone in _subsets(able) if len(alone) == 1)
    )


def _shares(
    able: Sequence[QuestionCells], costs: Costs, build_s: float, noise: WindowNoise
) -> set[float]:
    return {*SHARES, *(_optimal_share(one.cells, costs, build_s, noise) for one in able)}


def _rank(design: Design) -> tuple[float, float, float]:
    return design.value, -design.seconds, design.share


def _subsets(able: Sequence[QuestionCells]) -> Iterator[tuple[QuestionCells, ...]]:
    """The largest first."""
    sizes = range(len(able), 0, -1)
    if len(able) <= MAX_EXHAUSTIVE:
        for size in sizes:
            yield from combinations(able, size)
        return
    by_size = sorted(able, key=lambda one: len(one.cells))
    yield from (tuple(by_size[:size]) for size in sizes)


def _optimal_share(
    cells: Collection[Cell], costs: Costs, build_s: float, noise: WindowNoise
) -> float:
    """The classical optimum of nested sampling, as a share of the longest window; 1 without windows."""
    windows = [costs[cell].window_s for cell in cells if costs[cell].window_s]
    if not windows:
        return 1.0
    around_s = repetition_s(cells, costs, build_s, 0.0) / len(windows)
    return min(1.0, optimal_units(around_s, 1.0, noise.between, noise.second) / max(windows))


def _least_share(cells: Iterable[Cell], costs: Costs) -> float:
    windows = [costs[cell].window_s for cell in cells if costs[cell].window_s]
    return min(1.0, SHORTEST_S / min(windows)) if windows else 1.0


def repetition_s(cells: Iterable[Cell], costs: Costs, build_s: float, share: float) -> float:
    """Seconds of one repetition of these cells, with this share of their windows."""
    total, shared = 0.0, dict[tuple[str, Hashable], float]()
    variants = set()
    for case, variant in cells:
        cost = costs[case, variant]
        variants.add(variant)
        total += cost.around_s + share * cost.window_s
        for key, seconds in cost.shared:  # a trial that writes its data itself makes it free
            at = variant, key
            shared[at] = min(shared.get(at, seconds), seconds)
    return total + sum(shared.values()) + build_s * len(variants)


def _fitted(
    subset: Sequence[QuestionCells],
    cells: frozenset[Cell],
    names: Sequence[str],
    share: float,
    each_s: float,
    most: int,
    power: Callable[[str, int, float, int], float],
) -> Design | None:
    """The subset with the fewest of `most` repetitions that have the most power. `each_s`: of one."""
    if most < MIN_UNITS:
        return None
    chosen = tuple(one.question.name for one in subset)
    of = sum(len(one.question.comparisons) for one in subset)

    def design(repetitions: int) -> Design:
        powers = dict.fromkeys(names, 0.0)
        powers.update((name, power(name, of, share, repetitions)) for name in chosen)
        return Design(chosen, cells, share, repetitions, repetitions * each_s, powers)

    # Not always the most: where hardly anything can be decided, each further look costs more than it brings.
    tried = [*(some for some in TRIED if some < most), most]
    goal = max(design(some).value for some in tried)
    at = next(place for place, some in enumerate(tried) if design(some).value >= goal)
    low, high = tried[at - 1] + 1 if at else MIN_UNITS, tried[at]
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if design(middle).value >= goal else (middle + 1, high)
    return design(low)


def _spread(question: PlannedQuestion, costs: Costs, share: float, noise: WindowNoise) -> float:
    windows = [share * costs[cell].window_s for cell in question.cells if costs[cell].window_s]
    if not windows:
        return noise.between
    return spread_of_build(noise.between, noise.second, min(windows))


def _cells(subset: Iterable[QuestionCells]) -> frozenset[Cell]:
    return frozenset[Cell]().union(*(one.cells for one in subset))
