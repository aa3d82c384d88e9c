"""Questions that end once they are answered: error rates, and what a look may conclude."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import RISES, SIMILAR, Evidence, Question, Rule
from density_study.analysis.statistics.difference import Difference, difference
from density_study.analysis.statistics.looks import Looks
from density_study.cluster.model.isolation import Isolation

LOOKS = Looks(5, 10)
NOISE = 0.03


def variants(rng: np.random.Generator, ratio: float = 1.0) -> tuple[list[float], list[float]]:
    """With an effect of each repetition, which both have in common."""
    night = 0.05 * rng.standard_normal(LOOKS.last)
    first, later = (np.exp(night + NOISE * rng.standard_normal(LOOKS.last)) for _ in "ab")
    return list(first), list(ratio * later)


def question(pair: tuple[list[float], list[float]], name: str = "a") -> Question:
    return Question(
        id=name, family="stack-rate", subject=name, measure="throughput", variants="2 over 1",
        rule=RISES, first=tuple(pair[0]), later=tuple(pair[1]),
        cells=((name, "v1"), (name, "v2")),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("first", (1.0, 1.3))
def test_reports_that_end_each_question_once_decided_claim_nothing_false_in_95_of_100(
    first: float,
) -> None:
    """Each of three comparisons leaves at its own look, and the others go on without it, with what Holm
    leaves them: `first` is the true ratio of the first."""
    rng, false, times = np.random.default_rng(11), 0, 400
    for _ in range(times):
        asked = [question(variants(rng, first if name == "a" else 1.0), name) for name in "abc"]
        ended: dict[str, int] = {}
        for n in range(LOOKS.first, LOOKS.last + 1):
            seen = [one.up_to(ended.get(one.id, n)) for one in asked]
            found = decide(seen, n, looks=LOOKS)
            ended |= {one.id: n for one in found if one.is_decided and one.id not in ended}
        false += any(first == 1.0 or name != "a" for name in ended)
    assert false / times <= 0.05 + 2 * (0.05 * 0.95 / times) ** 0.5  # two standard errors


@pytest.mark.thorough
def test_a_plain_test_at_every_look_would_claim_more() -> None:
    """Why the looks share the error; and that the check above can fail."""
    rng, false, times = np.random.default_rng(11), 0, 400
    for _ in range(times):
        first, later = variants(rng)
        false += any(
            difference(first[:n], later[:n], n).p() <= 0.05
            for n in range(LOOKS.first, LOOKS.last + 1)
        )
    assert false / times > 0.08


def test_a_decision_stays_when_a_later_look_is_less_certain() -> None:
    clear = question(variants(np.random.default_rng(3), 1.3))
    at_five = decide([clear.up_to(5)], 5, looks=LOOKS)[0]
    assert at_five.is_decided
    noisy = replace(clear, later=(*clear.later[:5], *(1.5 * one for one in clear.later[5:])))
    (later,) = decide([noisy], 10, looks=LOOKS)
    assert later.p is not None and at_five.p is not None and later.p <= at_five.p


def test_a_look_has_its_share_of_the_error() -> None:
    pair = variants(np.random.default_rng(5), 1.05)
    between = difference(pair[0][:5], pair[1][:5], 5)
    assert sum(LOOKS.share(n) for n in range(5, 11)) == pytest.approx(1.0)
    (found,) = decide([question(pair).up_to(5)], 5, looks=LOOKS)
    assert found.p == pytest.approx(min(1.0, 10 * between.p()))
    ends = between.interval_at(1 - 0.05 / 10)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


def test_a_comparison_that_left_early_is_judged_by_its_own_repetitions() -> None:
    """Its first variant ran on, because another question needs it."""
    first, later = variants(np.random.default_rng(9), 1.2)
    evidence = Evidence((), 10, Isolation.VM, looks=LOOKS, ran={("a", "v1"): 10, ("a", "v2"): 6})
    asked = evidence.in_blocks(question((first, later[:6])))
    assert (asked.blocks, asked.first, asked.later) == (6, tuple(first[:6]), tuple(later[:6]))
    (found,) = decide([asked], 10, looks=LOOKS)
    assert found.n == (6, 6) and found.test == "t, paired by repetition"
    lost = evidence.in_blocks(question((first, later[:5])))
    (found,) = decide([lost], 10, looks=LOOKS)
    assert found.n == (10, 5) and found.test == "Welch's t", "nobody knows which build is lost"


@pytest.mark.thorough
@pytest.mark.parametrize("units", (5, 7))
@pytest.mark.parametrize(("rule", "low", "high"), [(RISES, 1.0, None), (SIMILAR, 0.8, 1.25)])
def test_what_is_hopeless_would_rarely_have_been_decided(
    rule: Rule, low: float, high: float | None, units: int
) -> None:
    """Of true ratios around the bounds: chances below 5 %."""
    rng, hopeless, decided = np.random.default_rng(21), 0, 0
    for _ in range(1500):
        first, later = variants(rng, low * np.exp(0.04 * rng.standard_normal()))
        so_far = difference(first[:units], later[:units], units)
        if LOOKS.chance(so_far, units, rule.logs) >= 0.05:
            continue
        hopeless += 1
        (found,) = decide([replace(question((first, later)), rule=rule)], 10, looks=LOOKS)
        decided += found.is_decided
    assert hopeless > 100
    assert decided / hopeless <= 0.1


@pytest.mark.parametrize("looks", (Looks(5, 8), Looks(5, 10), Looks(5, 12)))
def test_the_first_look_can_find_a_question_hopeless(looks: Looks) -> None:
    """Whose ratio is on the bound: more data decide it no more often than an error may be made."""
    assert looks.chance(Difference(0.0, 0.01, 4), 5, (0.0, None)) < 0.05
    assert looks.chance(Difference(0.02, 0.01, 4), 5, (0.0, None)) > 0.05


@pytest.mark.parametrize("rule", (RISES, SIMILAR))
@pytest.mark.parametrize("units", (5, 7, 9))
def test_the_chance_is_that_of_the_futures_it_stands_for(rule: Rule, units: int) -> None:
    """Drawn from the same prior: the rest of the builds, and the decision of the last look."""
    rng, middle, error = np.random.default_rng(33), 0.02, 0.01
    freedom, left, times = units - 1, LOOKS.last - units, 20_000
    per_unit = error**2 * units * freedom / rng.chisquare(freedom, times)
    mean = middle + np.sqrt(per_unit / units) * rng.standard_normal(times)
    later = mean[:, None] + np.sqrt(per_unit)[:, None] * rng.standard_normal((times, left))
    squares = (
        freedom * error**2 * units
        + ((later - later.mean(1, keepdims=True)) ** 2).sum(1)
        + units * left / LOOKS.last * (later.mean(1) - middle) ** 2
    )
    ends = (units * middle + later.sum(1)) / LOOKS.last
    errors = np.sqrt(squares / (LOOKS.last - 1) / LOOKS.last)
    low, high = (-np.inf if rule.low is None else np.log(rule.low)), np.log(rule.high or np.inf)
    both = float(special.stdtrit(LOOKS.last - 1, 1 - 0.025 / 2)) * errors
    one = float(special.stdtrit(LOOKS.last - 1, 1 - 0.025)) * errors if rule.high else both
    decided = (ends < low - both) | (ends > high + both)
    decided |= (ends > low + one) & (ends < high - one)
    found = LOOKS.chance(Difference(middle, error, freedom), units, rule.logs)
    assert found == pytest.approx(decided.mean(), abs=0.02)


@pytest.mark.parametrize("bounds", ((0.0, None), (None, 0.0), (-1.0, 2.0), (None, None)))
def test_a_rule_that_says_nothing_is_refused(bounds: tuple[float | None, float | None]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Rule(*bounds)


def test_after_the_last_look_nothing_can_be_decided_any_more() -> None:
    found = difference([1.0, 1.1, 1.0, 1.1, 1.0], [1.0, 1.0, 1.1, 1.1, 1.0], 5)
    assert LOOKS.chance(found, 10, (0.0, None)) == 0.0
    assert 0.0 <= LOOKS.chance(found, 5, (0.0, None)) <= 1.0
    assert LOOKS.chance(replace(found, error=0.0), 5, (0.0, None)) == 1.0
