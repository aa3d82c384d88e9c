"""Verdicts: interval and test support a claim, obstacles prevent it."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from density_study.analysis.answers import answers
from density_study.analysis.findings import Evidence, effects, findings
from density_study.analysis.findings.decide import BLOCK_TEST, VARIANTS_TEST, decide
from density_study.analysis.findings.question import RISES, SIMILAR, Question, Rule
from density_study.analysis.summary.numbers import digits
from density_study.analysis.summary.summary import Finding
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.hypotheses import Expectation, Hypotheses
from tests.support.variants import dfsio, noisy, ycsb


def _question(
    rule: Rule, first: list[float], later: list[float], name: str = "q", **changes: object
) -> Question:
    fields: dict[str, object] = {
        "id": name, "family": "f", "subject": "s", "measure": "m", "variants": "b over a",
        "rule": rule, "first": tuple(first), "later": tuple(later),
    }  # fmt: skip
    return Question(**{**fields, **changes})  # type: ignore[arg-type]


def _one(question: Question, repetitions: int = 8) -> Finding:
    return decide([question], repetitions)[0]


@pytest.mark.parametrize(
    ("rule", "ratio", "verdict"),
    (
        (RISES, 1.3, "confirmed"),
        (RISES, 0.7, "refuted"),
        (RISES, 1.0, "inconclusive"),
        (Rule(low=1.5), 1.3, "refuted"),
        (Rule(high=0.67), 0.4, "confirmed"),
        (SIMILAR, 1.0, "confirmed"),
        (SIMILAR, 1.5, "refuted"),
        (SIMILAR, 0.5, "refuted"),
        (SIMILAR, 1.25, "inconclusive"),
    ),
)
def test_interval_and_test_decide(rule: Rule, ratio: float, verdict: str) -> None:
    decided = _one(_question(rule, noisy(100.0, seed=1), noisy(100.0 * ratio, seed=2)))
    assert decided.verdict == verdict
    assert decided.low is not None and decided.high is not None and decided.effect is not None
    assert decided.low <= decided.effect <= decided.high
    assert decided.p_adjusted is not None and decided.detectable is not None
    assert decided.n == (8, 8) and decided.rule == rule.words


@pytest.mark.parametrize(
    ("rule", "ratio", "excluded"),
    (
        (RISES, 1.0, 1.2),
        (Rule(high=1.0), 1.0, 1 / 1.2),
        (Rule(high=1.0, expected=0.99), 1.0, None),  # inside the interval
        (Rule(low=1.5), 1.45, 1.8),
        (Rule(high=1.05), 1.05, None),  # no difference is expected
        (Rule(high=1.05, expected=1.0), 1.05, None),
        (SIMILAR, 1.25, None),
        (RISES, 1.3, None),  # decided
    ),
)
def test_an_undecided_comparison_names_the_effect_that_its_interval_excludes(
    rule: Rule, ratio: float, excluded: float | None
) -> None:
    first, later = noisy(100.0, seed=1), noisy(100.0 * ratio, seed=2)
    found = _one(_question(rule, first, later))
    assert found.excluded == (excluded and pytest.approx(excluded))
    words = (
        excluded
        and f"; the effect that it was planned for, a ratio of {digits(excluded)}, is excluded"
    )
    (answer,) = answers([found])  # an agent reads it too
    for why in (found.why, answer.why):
        assert why.endswith(words) if words else "excluded" not in why
    for hindered in ({"obstacles": ("emulated",)}, {"main": False}):
        assert _one(_question(rule, first, later, **hindered)).excluded is None


@pytest.mark.parametrize("outlier", (1.0, 0.7))
@pytest.mark.parametrize(
    ("hindered", "hindrance"),
    (
        ({}, "none"),
        ({"obstacles": ("measured, not tested",)}, "obstacle"),
        ({"refused": ("machine.kernel",)}, "incomparable"),
        ({"withheld": ("builds that never recovered",)}, "incomparable"),
    ),
)
def test_an_agent_gets_intervals_of_what_nothing_hinders(
    hindered: dict[str, object], hindrance: str, outlier: float
) -> None:
    later = [*noisy(100.0, 7, 0.02, seed=2), 100.0 * outlier]
    for main in (True, False):
        found = _one(_question(RISES, noisy(100.0, 8, 0.02, seed=1), later, main=main, **hindered))
        (answer,) = answers([found])
        assert found.hindrance == hindrance
        assert (answer.low is not None) == (hindrance == "none")


@pytest.mark.parametrize(
    ("rule", "ratio", "words"),
    (
        (RISES, 1.0, "the difference may be due to chance"),
        (Rule(low=1.5), 1.45, "that the ratio is not above 1.5 may be due to chance"),
        (Rule(high=1.5), 1.45, "that the ratio is below 1.5 may be due to chance"),
        (SIMILAR, 1.25, "that the ratio is not 0.8 to 1.25 may be due to chance"),
    ),
)
def test_a_clear_difference_near_another_bound_is_not_called_chance(
    rule: Rule, ratio: float, words: str
) -> None:
    found = _one(_question(rule, noisy(100.0, seed=1), noisy(100.0 * ratio, seed=2)))
    assert found.why.startswith(f"{words}: interval")


def test_few_units_are_points() -> None:
    decided = _one(_question(RISES, noisy(1.0, 4), noisy(9.0, 4)), repetitions=4)
    assert (decided.verdict, decided.low, decided.p, decided.test) == (
        "inconclusive",
        None,
        None,
        None,
    )
    assert decided.effect == pytest.approx(9.0, rel=0.1)
    lost = _one(_question(RISES, noisy(1.0, 8), noisy(9.0, 4)), repetitions=8)
    assert "4 valid builds in one variant" in lost.why
    lost = _one(_question(RISES, noisy(1.0, 8), noisy(9.0, 1)), repetitions=8)
    assert "1 valid build in one variant" in lost.why


def test_a_large_family_needs_a_larger_effect() -> None:
    many = [
        _question(RISES, noisy(1.0, 5, seed=i), noisy(1.2, 5, seed=-i), f"q{i}") for i in range(7)
    ]
    alone, together = _one(many[0], 5), decide(many, 5)[0]
    assert alone.p == together.p and alone.detectable and together.detectable
    assert together.detectable > alone.detectable > 1


def test_variants_are_paired_by_repetition_unless_one_lost_a_build() -> None:
    """What differs between repetitions is no noise: the state of the machine, for example."""
    night = [1.0, 1.4, 0.8, 1.2, 0.7, 1.1, 0.9, 1.3]
    first = [at * one for at, one in zip(night, noisy(100.0, seed=1), strict=True)]
    later = [at * one for at, one in zip(night, noisy(120.0, seed=2), strict=True)]
    paired = _one(_question(RISES, first, later))
    assert (paired.verdict, paired.test) == ("confirmed", BLOCK_TEST)
    lost = _one(_question(RISES, first[1:], later))
    assert (lost.verdict, lost.test) == ("inconclusive", VARIANTS_TEST)
    assert paired.detectable and lost.detectable and lost.detectable > 1.2 > paired.detectable


def test_a_refused_pair_shows_no_effect_and_names_the_difference() -> None:
    refused = ("machine.kernel: 6.1 (b1), 6.2 (b2)",)
    decided = _one(_question(RISES, noisy(1.0), noisy(9.0), refused=refused))
    assert (decided.verdict, decided.effect, decided.low, decided.p) == (
        "inconclusive",
        None,
        None,
        None,
    )
    assert (
        decided.why
        == "not comparable: the variants' disclosures differ in machine.kernel: 6.1 (b1), 6.2 (b2)"
    )


def test_a_blocked_question_is_shown_and_does_not_count_in_its_family() -> None:
    blocked = _question(RISES, noisy(1.0), noisy(9.0), "blocked", obstacles=("emulated",))
    free = _question(RISES, noisy(1.0), noisy(9.0), "free")
    shown, decided = decide([blocked, free], 8)
    assert (shown.verdict, shown.why, shown.p_adjusted) == ("inconclusive", "emulated", None)
    assert shown.effect is not None and shown.low is not None
    assert decided.p_adjusted == decided.p


def test_a_level_is_compared_with_its_bound() -> None:
    idle = _question(RISES, [], noisy(80.0), reference=50.0)
    assert _one(idle).verdict == "confirmed"
    assert _one(idle).effect == pytest.approx(1.6, rel=0.05)
    assert _one(_question(RISES, [], noisy(20.0), reference=50.0)).verdict == "refuted"
    assert _one(_question(RISES, [], [0.0] * 8, reference=50.0)).verdict == "refuted"
    assert _one(_question(RISES, [], [50.0] * 8, reference=50.0)).p == 1.0, "it is on the bound"


def test_zero_values_have_no_ratio() -> None:
    decided = _one(_question(RISES, [0.0] * 8, noisy(1.0)))
    assert (decided.verdict, decided.effect, decided.why) == (
        "inconclusive", None, "a value is zero, so the ratio is undefined",
    )  # fmt: skip


@pytest.mark.thorough
def test_without_effect_a_family_claims_in_at_most_one_of_twenty_runs() -> None:
    """Whole runs: 3 test cases on 2 densities, noise between builds larger than within one."""
    rng = np.random.default_rng(42)
    runs, claimed = 300, 0
    for _ in range(runs):
        test_cases = tuple(
            ycsb(mix, vms, ops_s=list(100 * np.exp(0.1 * rng.standard_normal(6))))
            for mix in ("load", "read45-insert55", "scan95-insert5")
            for vms in (0, 2)
        )
        family = decide(
            list(
                effects.by_factor(Evidence(test_cases, 6, Isolation.VM), factors()["vms_per_host"])
            ),
            6,
        )
        claimed += any(
            finding.verdict != "inconclusive"
            for finding in family
            if finding.family == "density-rate"
        )
    assert claimed / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_disk_type_and_control_compare_all_else_equal() -> None:
    test_cases = (
        dfsio("read", "hdd", noisy(100.0, seed=1)),
        dfsio("read", "flash", noisy(300.0, seed=2)),
        ycsb("load", disk_type="flash", ops_s=noisy(10.0, seed=3)),
        ycsb("load", disk_type="flash", ops_s=noisy(20.0, seed=4), regionservers_per_node=4, topology="r4"),
    )  # fmt: skip
    evidence = Evidence(test_cases, 8, Isolation.HOST)
    (rate, *_) = decide(list(effects.by_factor(evidence, factors()["disk_type"])), 8)
    assert (rate.verdict, rate.variants) == ("confirmed", "flash over hdd")
    assert rate.effect == pytest.approx(3.0, rel=0.05)
    (control, *_) = decide(
        list(effects.by_factor(evidence, factors()["regionservers_per_node"])), 8
    )
    assert control.variants == "4 RegionServers per node over 1 RegionServer per node"
    assert control.effect == pytest.approx(2.0, rel=0.05)
    emulated = Evidence(test_cases, 8, Isolation.HOST, frozenset({"hdd"}))
    assert (
        decide(list(effects.by_factor(emulated, factors()["disk_type"])), 8)[0].verdict
        == "inconclusive"
    )


def test_a_victim_is_compared_only_with_itself() -> None:
    p99 = {("READ", 99.0): noisy(10.0, seed=1)}
    beside = {("READ", 99.0): noisy(30.0, seed=2)}
    test_cases = (
        ycsb("c", ops_s=noisy(200.0, seed=5), latencies=p99),  # spread over all nodes: no victim
        ycsb("c", ops_s=noisy(100.0, seed=3), latencies=p99, test_case="alone", neighbour="nobody"),
        ycsb("c", ops_s=noisy(60.0, seed=4), latencies=beside, test_case="beside",
             neighbour="2 busy threads"),
    )  # fmt: skip
    rate, tail = decide(list(effects.isolation(Evidence(test_cases, 8, Isolation.VM))), 8)
    assert (rate.effect, tail.effect) == pytest.approx((0.6, 3.0), rel=0.05)
    assert (rate.verdict, tail.verdict) == ("confirmed", "confirmed")
    assert rate.variants == "beside 2 busy threads over alone"


def _expect(**changes: object) -> Expectation:
    fields = {"name": "flash-helps", "workload": "scan95-insert5", "compare": "disk_type"}
    return Expectation.model_validate({**fields, "flash_over_hdd": "> 1.5", **changes})


def test_the_studys_own_hypotheses_are_decided() -> None:
    test_cases = tuple(
        ycsb("scan95-insert5", disk_type=disk_type, ops_s=noisy(ops_s), threads=threads)
        for disk_type, ops_s in (("hdd", 100.0), ("flash", 200.0))
        for threads in (8, 16)
    )
    all_findings = findings(
        Evidence(test_cases, 8, Isolation.HOST), Hypotheses(expect=(_expect(),))
    )
    own = [finding for finding in all_findings if finding.family == "expect-flash-helps"]
    assert [finding.verdict for finding in own] == ["confirmed", "confirmed"]
    assert own[0].rule == "above 1.5"


def test_a_hypothesis_without_data_is_reported() -> None:
    all_findings = findings(Evidence((), 1, Isolation.HOST), Hypotheses(expect=(_expect(),)))
    own = next(finding for finding in all_findings if finding.family == "expect-flash-helps")
    assert (own.verdict, own.why) == ("inconclusive", "a variant has no valid trial")


def _under_slo(
    p99_ms: dict[int, float],
    ops_s: dict[int, float],
    builds: int = 8,
    isolation: Isolation = Isolation.VM,
    **more: Any,
) -> Finding:
    test_cases = tuple(
        ycsb("c", vms, ops_s=noisy(ops_s[vms], builds, seed=vms),
             latencies={("READ", 99.0): noisy(ms, builds)})
        for vms, ms in p99_ms.items()
    )  # fmt: skip
    all_findings = findings(
        Evidence(test_cases, builds, isolation, **more), Hypotheses(slo={"read_p99": "20 ms"})
    )
    return next(finding for finding in all_findings if finding.family == "best-density")


OPS_S = {0: 100.0, 2: 140.0, 4: 180.0}


def test_the_best_density_meets_the_slo_and_beats_the_others() -> None:
    best = _under_slo({0: 10.0, 2: 12.0, 4: 60.0}, OPS_S)
    assert (best.verdict, best.variants) == ("confirmed", "2 VMs per host")
    assert best.effect == pytest.approx(1.4, rel=0.05)
    assert _under_slo({0: 10.0, 2: 12.0, 4: 14.0}, OPS_S).variants == "4 VMs per host"


def test_a_doubtful_best_density_is_no_claim() -> None:
    assert (
        _under_slo({0: 10.0, 2: 12.0, 4: 20.0}, OPS_S).verdict == "inconclusive"
    )  # spans the limit
    assert _under_slo({0: 10.0, 2: 10.0}, {0: 100.0, 2: 100.5}).verdict == "inconclusive"
    assert _under_slo({0: 10.0, 2: 12.0}, OPS_S, builds=4).verdict == "inconclusive"
    assert (
        _under_slo({0: 10.0, 2: 12.0}, OPS_S, isolation=Isolation.PROCESS).verdict == "inconclusive"
    )
    entry = ycsb("c", 0)
    bound = frozenset({(entry.test_case, entry.topology)})  # it may be faster than its search found
    assert _under_slo({0: 10.0, 2: 12.0}, OPS_S).verdict == "confirmed"
    assert _under_slo({0: 10.0, 2: 12.0}, OPS_S, bounds=bound).verdict == "inconclusive"
    none = _under_slo({0: 90.0, 2: 90.0}, OPS_S)
    assert (none.verdict, none.why) == ("inconclusive", "every density violates the SLO")


def test_the_least_certain_pair_stands_for_the_best_density() -> None:
    """A pair of equal ratios, as rounded answers of searches are, has p = 0: it is the most certain one."""
    rates = {0: [100.0] * 8, 2: noisy(180.0, 8, 0.2, seed=2), 4: [200.0] * 8}
    test_cases = tuple(
        ycsb("c", vms, ops_s=ops_s, latencies={("READ", 99.0): noisy(10.0)})
        for vms, ops_s in rates.items()
    )
    every = findings(Evidence(test_cases, 8, Isolation.VM), Hypotheses(slo={"read_p99": "20 ms"}))
    (best,) = (one for one in every if one.family == "best-density")
    assert best.p_adjusted and best.effect and best.effect < 1.5


def test_a_latency_that_is_not_known_meets_no_slo() -> None:
    slo = {"read_p99": "20 ms", "update_p99": "20 ms"}
    test_cases = [
        ycsb("a", vms, ops_s=noisy(OPS_S[vms], seed=vms),
             latencies={("READ", 99.0): noisy(10.0), ("UPDATE", 99.0): noisy(10.0)})
        for vms in (0, 2)
    ]  # fmt: skip

    def verdict() -> str:
        evidence = Evidence(tuple(test_cases), 8, Isolation.VM)
        every = findings(evidence, Hypotheses(slo=slo))
        return next(one.verdict for one in every if one.family == "best-density")

    assert verdict() == "confirmed"
    fastest = test_cases[1]
    unknown = tuple(
        one.model_copy(update={"value": None, "points": ()}) if one.operation == "UPDATE" else one
        for one in fastest.metrics
    )
    test_cases[1] = fastest.model_copy(update={"metrics": unknown})
    assert verdict() == "inconclusive"
    no_updates = tuple(one for one in fastest.metrics if one.operation != "UPDATE")
    test_cases[1] = fastest.model_copy(update={"metrics": no_updates})
    assert verdict() == "confirmed"


def test_what_is_tested_does_not_depend_on_which_densities_violate_the_slo() -> None:
    """With one density left there is no pair, and yet the best density is the study's question."""
    for p99_ms in ({0: 10.0, 2: 12.0, 4: 14.0}, {0: 60.0, 2: 62.0, 4: 10.0}, {0: 60.0, 2: 62.0}):
        test_cases = tuple(
            ycsb("c", vms, ops_s=noisy(OPS_S[vms], 8, seed=vms),
                 latencies={("READ", 99.0): noisy(ms, 8)})
            for vms, ms in p99_ms.items()
        )  # fmt: skip
        found = findings(
            Evidence(test_cases, 8, Isolation.VM), Hypotheses(slo={"read_p99": "20 ms"})
        )
        assert {one.family for one in found if one.question} == {"best-density"}


def test_an_outlying_build_is_named() -> None:
    quiet = noisy(100.0, 8, 0.02, seed=1)
    slow = [*noisy(100.0, 7, 0.02, seed=2), 70.0]
    for main in (True, False):  # an interval that no question asks for is shown as well
        found = _one(_question(RISES, quiet, slow, main=main))
        assert re.search(r"outlying build \((29|30|31)% below the median", found.why), found.why
        (answer,) = answers([found])  # for an agent, with its interval
        assert (answer.low, answer.high) == (found.low, found.high) != (None, None)
    assert "outlying" not in _one(_question(RISES, quiet, noisy(120.0, 8, 0.02, seed=3))).why
