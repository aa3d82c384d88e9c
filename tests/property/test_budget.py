"""Designs within a budget: never over it, never worse for more time, and as good as any other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from density_study.analysis.findings.budget import (
    CellCost,
    QuestionCells,
    WindowNoise,
    best_design,
    least_s,
    most_repetitions,
    repetition_s,
)
from density_study.analysis.findings.question import Question, Rule
from density_study.analysis.findings.question_power import PlannedQuestion
from density_study.analysis.statistics.looks import Looks
from density_study.analysis.statistics.power import optimal_units, spread_of_build
from density_study.workloads.planning.plan import MAX_TRIALS

BUILD_S = 40.0
Case = tuple[tuple[QuestionCells, ...], dict[tuple[str, str], CellCost], WindowNoise]


def _asked(name: str, ratio: float, cells: list[tuple[str, str]]) -> QuestionCells:
    rule = Rule(low=1.0, expected=ratio)
    comparison = Question(
        id=name, family=name, subject="s", measure="m", variants="b over a", rule=rule, first=(1.0,),
        later=(1.0,), cells=tuple(cells),
    )  # fmt: skip
    return QuestionCells(PlannedQuestion(name, (comparison,), 1), frozenset(cells))


def _case(
    asked: Sequence[tuple[float, float]], window_s: float, between: float, trials: int = 1
) -> Case:
    """Of each question: the ratio that it expects, and the seconds around a window of its two variants, each
    with that many trials."""
    questions, costs = [], {}
    for number, (ratio, around_s) in enumerate(asked):
        cells = [(f"case{number}", "a"), (f"case{number}", "b")]
        questions.append(_asked(f"q{number}", ratio, cells))
        cost = CellCost(around_s, window_s, (("data", 300.0),), trials)
        costs |= dict.fromkeys(cells, cost)
    return tuple(questions), costs, WindowNoise(between)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Up to three questions on two variants each, without windows or with long ones."""
    one = st.tuples(st.floats(1.02, 1.5), st.floats(10.0, 2000.0))
    asked = draw(st.lists(one, min_size=1, max_size=3))
    return _case(asked, draw(st.sampled_from([0.0, 540.0])), draw(st.floats(0.01, 0.1)))


@given(cases(), st.floats(600.0, 200_000.0), st.floats(1.0, 5.0))
@settings(max_examples=60, deadline=None)
def test_a_design_is_within_its_budget_and_more_time_is_no_worse(
    case: Case, budget_s: float, more: float
) -> None:
    asked, costs, noise = case
    small = best_design(asked, costs, BUILD_S, noise, budget_s)
    large = best_design(asked, costs, BUILD_S, noise, budget_s * more)
    for design, most_s in ((small, budget_s), (large, budget_s * more)):
        if design is not None:
            each_s = repetition_s(design.cells, costs, BUILD_S, design.share)
            assert design.repetitions >= 5
            assert design.repetitions * each_s <= most_s * (1 + 1e-9)
    if small is not None:
        assert large is not None and large.value >= small.value


def test_a_design_has_no_more_trials_than_a_plan_may_have() -> None:
    asked, costs, noise = _case([(1.02, 10.0)], 0.0, 0.1, trials=20)
    found = best_design(asked, costs, BUILD_S, noise, 1e7)
    assert found is not None and 200 < found.repetitions <= MAX_TRIALS // 40


@given(cases())
@settings(max_examples=60, deadline=None)
def test_the_least_time_is_enough_and_less_is_not(case: Case) -> None:
    asked, costs, noise = case
    enough_s = least_s(asked, costs, BUILD_S, noise)
    found = best_design(asked, costs, BUILD_S, noise, enough_s * 1.0001)
    assert found is not None and found.repetitions == 5
    assert best_design(asked, costs, BUILD_S, noise, enough_s * 0.9999) is None


# All three questions win at a share of the windows that only two of them would try by themselves.
@example(_case([(1.5, 10.0), (1.25, 50.0), (1.5, 839.0)], 540.0, 0.09375), 19135.0)
@given(cases(), st.floats(600.0, 50_000.0))
@settings(max_examples=30, deadline=None)
def test_no_other_design_has_more_power(case: Case, budget_s: float) -> None:
    """Brute force over questions and repetitions, at the windows that were chosen."""
    asked, costs, noise = case
    found = best_design(asked, costs, BUILD_S, noise, budget_s)
    share = found.share if found else 1.0
    best = 0.0
    for size in range(1, len(asked) + 1):
        for subset in combinations(asked, size):
            cells = frozenset[tuple[str, str]]().union(*(one.cells for one in subset))
            each_s = repetition_s(cells, costs, BUILD_S, share)
            for repetitions in range(5, min(1000, int(budget_s / each_s)) + 1):
                powers = (
                    PlannedQuestion(
                        one.question.name,
                        one.question.comparisons,
                        size,
                        looks=1 / Looks(5, most_repetitions(repetitions)).share(repetitions),
                    ).power(repetitions, _spread(one, costs, share, noise))
                    for one in subset
                )
                best = max(best, sum(powers))
    assert best <= (found.value if found else 0.0) + 0.001


def _spread(
    one: QuestionCells, costs: dict[tuple[str, str], CellCost], share: float, noise: WindowNoise
) -> float:
    window_s = share * costs[min(one.cells)].window_s
    if not window_s:
        return noise.between
    return spread_of_build(noise.between, noise.second, window_s)


@given(st.floats(60.0, 5000.0), st.floats(0.01, 0.1), st.floats(0.05, 0.5))
def test_the_optimal_window_has_the_least_variance_for_its_cost(
    around_s: float, between: float, second: float
) -> None:
    best_s = optimal_units(around_s, 1.0, between, second)

    def cost_of_certainty(window_s: float) -> float:
        return spread_of_build(between, second, window_s) ** 2 * (around_s + window_s)

    for other in (0.5, 0.9, 1.1, 2.0):
        assert cost_of_certainty(best_s) <= cost_of_certainty(other * best_s) * (1 + 1e-9)
