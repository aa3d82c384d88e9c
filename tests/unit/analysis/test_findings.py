"""Comparisons of densities: points without a claim, described in words, computed from the
numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from density_study.analysis.findings import Evidence, effects
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.factors import pairs
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summary.summary import Finding, Metric, TestCaseSummary
from density_study.cluster.model.isolation import Isolation, isolation_of
from density_study.workloads.study.factors.registry import factors
from tests.support.variants import noisy, ycsb

DENSITY = factors()["vms_per_host"]


def _test_case(
    density: int, ops_s: float | None, cpu: float = 50.0, **changes: object
) -> TestCaseSummary:
    metrics = (
        Metric(name="throughput", value=ops_s, unit="ops/s"),
        Metric(name="cpu_used", value=cpu, unit="percent", scope="host:here"),
        Metric(name="cpu_used", value=3.0, unit="percent", scope="client"),
    )
    base = TestCaseSummary(
        topology=f"v{density}-flash", vms_per_host=density, regionservers_per_node=1, disk_type="flash",
        test_case="ycsb-scan95-insert5-r1-t8", workload="ycsb", label="YCSB 95/5 short scan", n_builds=1,
        metrics=metrics,
    )  # fmt: skip
    return base.model_copy(update=changes)


def _density(
    test_cases: tuple[TestCaseSummary, ...],
    repetitions: int,
    isolation: Isolation,
    emulated: tuple[str, ...] = (),
) -> tuple[Finding, ...]:
    evidence = Evidence(test_cases, repetitions, isolation, frozenset(emulated))
    return decide(list(effects.by_factor(evidence, DENSITY)), repetitions)


ONE, TWO, FOUR = _test_case(1, 100.0, 61.0), _test_case(2, 112.0, 74.0), _test_case(4, 150.0, 80.0)


def test_the_last_density_is_compared_with_the_first() -> None:
    rate, cpu = _density((FOUR, ONE, TWO), repetitions=1, isolation=Isolation.VM)
    assert (rate.effect, cpu.effect) == pytest.approx((1.5, 80 / 61))
    assert (
        rate.statement
        == "YCSB 95/5 short scan, flash: throughput, 4 VMs per host over 1 VM per host"
    )
    assert rate.n == (1, 1)


def test_one_block_gives_points_and_no_claim() -> None:
    result = _density((ONE, TWO), repetitions=1, isolation=Isolation.VM)
    assert len(result) == 2
    for finding in result:
        assert (finding.verdict, finding.low, finding.high) == ("inconclusive", None, None)
        assert finding.why == "1 repetition: points only; a claim needs 5 builds per variant"


@pytest.mark.parametrize(
    ("isolation", "emulated"), ((Isolation.PROCESS, ()), (Isolation.VM, ("flash",)))
)
def test_process_isolation_and_emulated_disks_decide_no_claim(
    isolation: Isolation, emulated: tuple[str, ...]
) -> None:
    variants = tuple(_test_case(v, 100.0 * v) for v in (1, 2))
    result = _density(variants, 8, isolation, emulated)
    assert len(result) == 2
    for finding in result:
        assert finding.verdict == "inconclusive"
        assert (
            "no claim about VMs" if isolation is Isolation.PROCESS else "emulated"
        ) in finding.why
        assert finding.effect is not None


def test_guests_without_acceleration_decide_no_claim() -> None:
    variants = tuple(_test_case(v, 100.0 * v) for v in (1, 2))
    evidence = Evidence(variants, 8, Isolation.VM, emulated_guests=True)
    result = decide(list(effects.by_factor(evidence, DENSITY)), 8)
    assert len(result) == 2
    for finding in result:
        assert (finding.verdict, finding.effect is None) == ("inconclusive", False)
        assert "without KVM (emulated)" in finding.why


def test_containers_decide_about_containers() -> None:
    variants = tuple(
        ycsb(
            "c", density, ops_s=noisy(100.0 * density, 8), latencies={("READ", 99.0): noisy(9.0, 8)}
        )
        for density in (1, 2)
    )
    rate = _density(variants, 8, Isolation.CONTAINER)[0]
    assert rate.verdict == "confirmed", rate.why
    assert rate.statement.endswith("2 containers per host over 1 container per host")


def test_the_bare_host_is_the_control_of_what_isolates_the_other_variants() -> None:
    bare, vm, container = Isolation.HOST, Isolation.VM, Isolation.CONTAINER
    assert isolation_of([bare, container, container]) is container
    assert isolation_of([bare]) is bare
    assert isolation_of([vm, bare]) is vm


def test_variants_that_differ_in_more_than_density_are_not_compared() -> None:
    other = _test_case(2, 1.0, disk_type="hdd"), _test_case(2, 1.0, regionservers_per_node=4)
    assert list(pairs((ONE, *other), DENSITY)) == []


def test_a_variant_without_a_valid_trial_is_reported() -> None:
    empty = _test_case(2, None, n_builds=0, metrics=())
    rate, _ = _density((ONE, empty), repetitions=1, isolation=Isolation.VM)
    assert (rate.effect, rate.why) == (None, "a variant has no valid trial")


def test_the_headline_is_one_sentence_with_the_numbers() -> None:
    assert headline(Evidence((ONE, TWO), 1, Isolation.PROCESS), 2).text == (
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, YCSB 95/5 "
        "short scan ran at ×1.12 (112 against 100 ops/s); the host's CPU was 74 % busy instead of 61 %."
    )


def test_the_headline_has_no_ratio_of_variants_that_are_not_comparable() -> None:
    reads = [_test_case(d, 100.0, test_case="ycsb-c-r1-t8", label="YCSB c") for d in (1, 2)]

    def differences(first: TestCaseSummary, _: TestCaseSummary) -> tuple[str, ...]:
        return (
            ("machine.kernel: a, b", "native_hadoop: c, d")
            if first.test_case == ONE.test_case
            else ()
        )

    some = Evidence((*reads, ONE, TWO), 1, Isolation.PROCESS, differences=differences)
    assert headline(some, 4).test_case == reads[0].test_case
    none = headline(replace(some, test_cases=(ONE, TWO)), 2)
    assert none.test_case == ONE.test_case
    assert none.text == (
        "No comparison with 2 workers per host instead of 1: the variants differ in machine.kernel: a, b, "
        "and in 1 more."
    )


def test_the_headline_names_the_test_case_it_is_about() -> None:
    load = [
        _test_case(d, 100.0, test_case="ycsb-load-r1-t8", label="YCSB data load") for d in (1, 2)
    ]
    assert headline(Evidence((*load, ONE, TWO), 1, Isolation.PROCESS), 4).test_case == ONE.test_case
    assert (
        headline(Evidence((*load, ONE), 1, Isolation.PROCESS), 3).test_case == load[0].test_case
    )  # it has two densities
    reads = [_test_case(d, 90.0 * d, test_case="ycsb-c-r1-t8", label="YCSB c") for d in (1, 2)]
    assert (
        headline(Evidence((*load, *reads), 1, Isolation.PROCESS), 4).test_case == reads[0].test_case
    )
    assert headline(Evidence((ONE,), 1, Isolation.PROCESS), 1).test_case == ONE.test_case
    assert headline(Evidence((), 1, Isolation.PROCESS), 7).test_case is None


def test_the_best_density_is_shown_by_its_fastest_test_case() -> None:
    slow = _test_case(
        2, 90.0, test_case="ycsb-scan95-insert5-r1-t2", label="YCSB 95/5 short scan, 2 threads"
    )
    best = Finding(
        id="best", family="best-density", statement="best density: 2 VMs per host", verdict="confirmed",
        why="the others violate it", subject="YCSB 95/5 short scan", among="flash",
    )  # fmt: skip
    found = headline(Evidence((slow, ONE, TWO), 5, Isolation.VM), 30, (best,))
    assert (found.text, found.test_case) == (
        "best density: 2 VMs per host: the others violate it.",
        TWO.test_case,
    )
    tested = best.model_copy(update={"p_adjusted": 0.0104})
    text = headline(Evidence((slow, ONE, TWO), 5, Isolation.VM), 30, (tested,)).text
    assert (
        text
        == "best density: 2 VMs per host: p = 0.01 against every other density that does not violate it."
    )


def test_the_headline_reports_a_missing_comparison() -> None:
    assert (
        headline(Evidence((), 1, Isolation.PROCESS), 7).text
        == "No result: none of the 7 trials is valid."
    )
    assert headline(Evidence((ONE,), 1, Isolation.PROCESS), 1).text.startswith(
        "No comparison: no test case has valid trials"
    )
    bare = _test_case(0, 100.0)
    text = headline(Evidence((bare, TWO), 2, Isolation.VM), 2).text
    assert "with 2 VMs per host instead of the bare host" in text


def test_any_workload_gives_a_headline() -> None:
    scans = tuple(
        entry.model_copy(update={"test_case": "genomics-region-scan-s40x2500-t8"})
        for entry in (ONE, TWO)
    )
    text = headline(Evidence(scans, 1, Isolation.PROCESS), 2).text
    assert "YCSB 95/5 short scan ran at ×1.12" in text
    unknown = tuple(
        entry.model_copy(update={"test_case": "another-workload"}) for entry in (ONE, TWO)
    )
    assert (
        "YCSB 95/5 short scan ran at ×1.12"
        in headline(Evidence(unknown, 1, Isolation.PROCESS), 2).text
    )


def _recovery(topology: int, seconds: tuple[float, ...], builds: int = 8) -> TestCaseSummary:
    metric = Metric(name="time_to_recover", value=1.0, unit="s", points=seconds)
    return _test_case(
        topology, None, metrics=(metric,), fault="RegionServer killed", n_builds=builds
    )


def _recovered(*variants: TestCaseSummary) -> Finding:
    found = _density(variants, repetitions=8, isolation=Isolation.VM)
    return next(one for one in found if one.measure == "time to recover from a fault")


def test_a_variant_that_fails_more_never_looks_faster() -> None:
    """Four of its eight builds recover soon, and the others never."""
    steady = _recovery(1, tuple(noisy(60.0, 8)))
    failing = _recovery(2, tuple(noisy(5.0, 5)))
    for variants in ((steady, failing), (failing, steady)):
        found = _recovered(*variants)
        assert (found.verdict, found.effect) == ("inconclusive", None)
        assert "builds that never recovered: " in found.why and "3 of 8" in found.why
    slower = _recovered(steady, _recovery(2, tuple(noisy(90.0, 5))))
    assert slower.effect == pytest.approx(1.5, rel=0.1)
    assert _recovered(steady, _recovery(2, tuple(noisy(5.0, 8)))).effect == pytest.approx(
        0.08, rel=0.1
    )
