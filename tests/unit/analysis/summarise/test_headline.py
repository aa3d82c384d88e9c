"""The headline: made-up summaries, each with the sentence that a careful reader would write."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from math import exp

import pytest

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summary.numbers import against, digits, probability, ratio
from density_study.analysis.summary.summary import Finding, Metric, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Expectation, Hypotheses
from tests.support.variants import dfsio, noisy, ycsb

TestCases = tuple[TestCaseSummary, ...]
P99 = ("READ", 99.0)
SCAN99 = ("SCAN", 99.0)


def _told(
    test_cases: Sequence[TestCaseSummary],
    repetitions: int = 1,
    isolation: Isolation = Isolation.PROCESS,
    asked: Hypotheses | None = None,
    is_existing: bool = False,
    **more: object,
) -> str:
    evidence = Evidence(tuple(test_cases), repetitions, isolation, **more)  # type: ignore[arg-type]
    found = findings(evidence, asked or Hypotheses())
    return headline(evidence, len(test_cases), found, is_existing).text


def _cpu(percent: float) -> dict[str, tuple[float, ...]]:
    return {"used": (percent,)}


def _quickstart() -> TestCases:
    """Little happens to short scans, and two thirds of the mixed rate is gone."""
    return (
        ycsb("scan", 1, ops_s=(1207.0,), latencies={SCAN99: (35.6,)}, cpu=_cpu(95.0)),
        ycsb("scan", 2, ops_s=(1371.0,), latencies={SCAN99: (36.7,)}, cpu=_cpu(95.0)),
        ycsb("mixed", 1, ops_s=(3399.0,), latencies={P99: (10.0,)}, cpu=_cpu(80.0)),
        ycsb("mixed", 2, ops_s=(1092.0,), latencies={P99: (63.8,)}, cpu=_cpu(80.0)),
        ycsb("load", 1, ops_s=(5000.0,)),
        ycsb("load", 2, ops_s=(3600.0,)),
    )


def _levels(factor: str, rates: dict[str, Sequence[float]], mix: str = "b") -> TestCases:
    return tuple(
        ycsb(mix, 1, ops_s=ops_s, topology=name, levels={factor: name})
        for name, ops_s in rates.items()
    )


def _containers(builds: int = 1) -> TestCases:
    """Two RegionServers on the bare host are as slow as those in containers: the containers cost nothing."""

    def points(value: float) -> Sequence[float]:
        return (value,) if builds == 1 else noisy(value, builds)

    control = ycsb("scan", 0, ops_s=points(760.0), topology="v0-rs2", regionservers_per_node=2)
    return (
        ycsb("scan", 0, ops_s=points(1575.0)),
        control,
        ycsb("scan", 1, ops_s=points(1500.0)),
        ycsb("scan", 2, ops_s=points(848.0)),
    )


def _search(vms: int, rate: float) -> TestCaseSummary:
    return ycsb("b", vms, ops_s=(rate,), sought="highest rate with READ p99 <= 20 ms")


def _fault(level: str, recovered: Sequence[float], ops_s: float = 100.0) -> TestCaseSummary:
    found = ycsb("b", 1, ops_s=(ops_s,) * 5, topology=level, levels={"stack": level}, fault="kill")
    times = Metric(name="time_to_recover", unit="s", value=1.0, points=recovered, n=len(recovered))
    return found.model_copy(update={"metrics": (*found.metrics, times)})


def _densities(p99_ms: Sequence[float], rates: Sequence[float]) -> TestCases:
    return tuple(
        ycsb("c", vms, ops_s=noisy(rate, 8, seed=vms), latencies={P99: noisy(ms, 8)})
        for vms, ms, rate in zip((1, 2, 4), p99_ms, rates, strict=True)
    )


LIMITED = Hypotheses(slo={"read_p99": "20 ms"})
EXPECT = Hypotheses(
    expect=(
        Expectation.model_validate(
            {"name": "new", "compare": "stack", "workload": "b", "new_over_old": "> 1.2"}
        ),
    )
)
NOISY = {"old": noisy(100.0), "new": noisy(150.0)}
LITTLE = [ycsb("b", 1, ops_s=(0.5,)), ycsb("b", 2, ops_s=(0.002,))]

TOLD = {
    "no valid trial": (
        lambda: headline(Evidence((), 1, Isolation.PROCESS), 4).text,
        "No result: none of the 4 trials is valid.",
    ),
    "one trial, and it is not valid": (
        lambda: headline(Evidence((), 1, Isolation.PROCESS), 1).text,
        "No result: the only trial is not valid.",
    ),
    "one number beside the first": (
        lambda: _told(_quickstart()[:3:2]),
        "No comparison: no test case has valid trials on two clusters that differ in one factor. YCSB scan "
        "ran at 1,207 operations per second on v1-flash, and 1 more number below.",
    ),
    "no trial at all": (lambda: _told(()), "No result: no trial was recorded."),
    "the range over all test cases, and the worst latency": (
        lambda: _told(_quickstart()),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, "
        "throughput was ×0.32 (YCSB mixed: 1,092 against 3,399 ops/s) to ×1.14 (YCSB scan: 1,371 against "
        "1,207 ops/s); worst latency change READ p99 ×6.38 (63.8 against 10.0 ms, YCSB mixed).",
    ),
    "the order of the test cases changes nothing": (
        lambda: _told(_quickstart()[::-1]),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, "
        "throughput was ×0.32 (YCSB mixed: 1,092 against 3,399 ops/s) to ×1.14 (YCSB scan: 1,371 against "
        "1,207 ops/s); worst latency change READ p99 ×6.38 (63.8 against 10.0 ms, YCSB mixed).",
    ),
    "one test case, and hosts that are equally busy": (
        lambda: _told(_quickstart()[:2]),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, YCSB "
        "scan ran at ×1.14 (1,371 against 1,207 ops/s); worst latency change SCAN p99 ×1.03 (36.7 against"
        " 35.6 ms, YCSB scan).",
    ),
    "one test case, and hosts that are busier": (
        lambda: _told(
            [ycsb("c", vms, ops_s=(100.0 * vms,), cpu=_cpu(20.0 * vms)) for vms in (1, 2)]
        ),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, YCSB c "
        "ran at ×2.00 (200 against 100 ops/s); the host's CPU was 40 % busy instead of 20 %.",
    ),
    "several builds, so means": (
        lambda: _told(
            [ycsb("c", 1, ops_s=(5000.0, 6000.0)), ycsb("c", 2, ops_s=(4300.0, 5000.0))], 2
        ),
        "Inconclusive (2 repetitions): with 2 workers per host instead of 1 at equal total memory, YCSB c "
        "ran at ×0.85 (means 4,637 against 5,477 ops/s).",
    ),
    "a decided finding": (
        lambda: _told(_levels("stack", NOISY), 8),
        "With new instead of old, YCSB b ran at ×1.51 (means 149.5 against 99.09 ops/s, interval 1.46 to "
        "1.56); 8 repetitions.",
    ),
    "a decided finding beside larger ones that are not": (
        lambda: _told(
            (
                *_levels("stack", {"old": noisy(100.0), "new": noisy(150.0)}),
                *_levels("stack", {"old": (100.0, 900.0) * 4, "new": (200.0, 90.0) * 4}, "a"),
            ),
            8,
        ),
        "With new instead of old, YCSB b ran at ×1.51 (means 149.5 against 99.09 ops/s, interval 1.46 to "
        "1.56); the other throughput is inconclusive: ×0.45; 8 repetitions.",
    ),
    "decided both ways": (
        lambda: _told(
            (
                *_levels("stack", NOISY),
                *_levels("stack", {"old": noisy(90), "new": noisy(30)}, "a"),
            ),
            8,
        ),
        "With new instead of old, throughput was ×0.34 (YCSB a: means 29.6 against 87.9 ops/s, interval "
        "0.323 to 0.350) to ×1.51 (YCSB b: means 149.5 against 99.09 ops/s, interval 1.46 to 1.56); 8 "
        "repetitions.",
    ),
    "only latency is decided": (
        lambda: _told(
            [
                ycsb(
                    "b",
                    1,
                    ops_s=noisy(100.0, seed=level),
                    topology=level,
                    levels={"stack": level},
                    latencies={P99: noisy(ms)},
                )
                for level, ms in (("old", 10.0), ("new", 30.0))
            ],
            8,
            asked=Hypotheses(questions=("stack-rate", "stack-latency")),
        ),
        "With new instead of old, READ p99 of YCSB b was ×3.07 (means 30.6 against 9.97 ms, interval 2.97"
        " to 3.18); the other throughput is inconclusive: ×0.99; 8 repetitions.",
    ),
    "a hypothesis is confirmed": (
        lambda: _told(_levels("stack", NOISY), 8, asked=EXPECT),
        'Hypothesis "new" is confirmed: '
        "YCSB b, flash: throughput, new over old is ×1.51 (required: above "
        "1.2, interval 1.46 to 1.56, 8 repetitions).",
    ),
    "a hypothesis is refuted": (
        lambda: _told(_levels("stack", {"old": noisy(100.0), "new": noisy(90.0)}), 8, asked=EXPECT),
        'Hypothesis "new" is refuted: '
        "YCSB b, flash: throughput, new over old is ×0.90 (required: above "
        "1.2, interval 0.880 to 0.929, 8 repetitions).",
    ),
    "density against its control variant": (
        lambda: _told(_containers(), 1, Isolation.CONTAINER),
        "Inconclusive (1 repetition): with 2 containers per host instead of 2 RegionServers on the bare "
        "host at equal total memory, YCSB scan ran at ×1.12 (848 against 760 ops/s); over one "
        "RegionServer on the bare host: throughput ×0.54 (inconclusive). With 2 RegionServers per node "
        "instead of 1: throughput ×0.48 (inconclusive).",
    ),
    "a decided density against its control variant": (
        lambda: _told(_containers(8), 8, Isolation.CONTAINER),
        "With 2 containers per host instead of 2 RegionServers on the bare host at equal total memory, YCSB "
        "scan ran at ×1.13 (means 856 against 760 ops/s, interval 1.07 to 1.19), 8 repetitions; over one "
        "RegionServer on the bare host: throughput ×0.54 (inconclusive). With 2 RegionServers per node "
        "instead of 1: throughput ×0.48 (decided).",
    ),
    "two factors": (
        lambda: _told(
            [
                ycsb("c", vms, disk_type, ops_s=(rate,))
                for vms, disk_type, rate in (
                    (1, "hdd", 100.0),
                    (2, "hdd", 90.0),
                    (1, "flash", 400.0),
                    (2, "flash", 600.0),
                )
            ]
        ),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, "
        "throughput was ×0.90 (YCSB c, hdd: 90.0 against 100 ops/s) to ×1.50 (YCSB c, flash: 600 against "
        "400 ops/s). With flash instead of hdd: throughput ×4.00 to ×6.67 (inconclusive).",
    ),
    "a question about one factor, and another that is only measured": (
        lambda: _told(
            [
                ycsb("c", vms, disk_type, ops_s=noisy(rate * vms, 8, seed=vms))
                for vms in (1, 2)
                for disk_type, rate in (("hdd", 100.0), ("flash", 100.0))
            ],
            8,
            Isolation.VM,
            asked=Hypotheses(questions=("disk-rate",)),
        ),
        "Inconclusive (8 repetitions): with flash instead of hdd, throughput was ×1.00 "
        "in all 2 test cases. With 2 VMs per host instead of 1: throughput ×1.98 (measured, not tested).",
    ),
    "a decided finding, and latency that is only measured": (
        lambda: _told(
            [
                ycsb(
                    "b", 1, ops_s=rates, topology=name, levels={"stack": name}, latencies={P99: ms}
                )
                for (name, rates), ms in zip(NOISY.items(), (noisy(9.0), noisy(9.9)), strict=True)
            ],
            8,
        ),
        "With new instead of old, YCSB b ran at ×1.51 (means 149.5 against 99.09 ops/s, interval 1.46 to "
        "1.56); worst latency change READ p99 ×1.10 (means 9.80 against 8.89 ms, YCSB b, measured, not "
        "tested); 8 repetitions.",
    ),
    "several levels against a baseline": (
        lambda: _told(
            _levels(
                "configuration",
                {"g1": (100.0,), "zgc": (90.0,), "a": (99.0,), "b": (101.0,), "serial": (40.0,)},
            )
        ),
        "Inconclusive (1 repetition): with serial instead of g1, YCSB b ran at ×0.40 (40.0 against 100 "
        "ops/s). With zgc instead of g1: throughput ×0.90 (inconclusive). With a instead of g1: "
        "throughput ×0.99 (inconclusive). 1 more under Findings.",
    ),
    "the answers of a search": (
        lambda: _told((_search(1, 11423.0), _search(2, 9315.0))),
        "Inconclusive (1 repetition): highest rate with READ p99 <= 20 ms in YCSB b, at equal total "
        "memory: 11,423 operations per second with 1 worker per host, 9,315 with 2 workers per host.",
    ),
    "variants that are not comparable": (
        lambda: _told(_quickstart()[:2], differences=lambda *_: ("machine.kernel: a, b",)),
        "No comparison with 2 workers per host instead of 1: the variants differ in machine.kernel: a, b.",
    ),
    "nothing to compare": (
        lambda: _told(_quickstart()[::2]),
        "No comparison: no test case has valid trials on two clusters that differ in one factor. YCSB scan "
        "ran at 1,207 operations per second on v1-flash, and 2 more numbers below.",
    ),
    "one existing cluster": (
        lambda: _told(
            [ycsb("load", 1, ops_s=(123456.0,)), dfsio("read", mib_s=(0.5,))], 5, is_existing=True
        ),
        "The existing cluster, in 1 repetition: YCSB load at 123,456 operations per second, TestDFSIO read "
        "at 0.500 MiB/s over the map phase.",
    ),
    "the best density, where another one is faster and violates the SLO": (
        lambda: _told(
            _densities((10.0, 12.0, 60.0), (100.0, 140.0, 180.0)), 8, Isolation.VM, asked=LIMITED
        ),
        "2 VMs per host is the best density for YCSB c, flash, under the SLO (read_p99 at most 20 ms): "
        "p < 0.001 against every other density that does not violate it.",
    ),
    "times to recover from a fault": (
        lambda: _told((_fault("old", (11.0,) * 5), _fault("new", (20.0,) * 5)), 5),
        "Inconclusive (5 repetitions): with new instead of old, YCSB b ran at ×1.00 (means 100 against 100 "
        "ops/s); time to recover from a fault ×1.82 (means 20.0 against 11.0 s, YCSB b).",
    ),
    "builds that never recovered are no short time": (
        lambda: _told((_fault("old", (11.0,) * 5), _fault("new", (5.0,) * 4)), 5),
        "Inconclusive (5 repetitions): with new instead of old, YCSB b ran at ×1.00 (means 100 against 100 "
        "ops/s); builds that never recovered: 0 of 5 and 1 of 5 (YCSB b).",
    ),
    "a search that ended early has a lower bound": (
        lambda: _told(
            (_search(1, 11423.0), _search(2, 9315.0)),
            bounds=frozenset({(_search(2, 1.0).test_case, _search(2, 1.0).topology)}),
        ),
        "Inconclusive (1 repetition): highest rate with READ p99 <= 20 ms in YCSB b, at equal total "
        "memory: 11,423 operations per second with 1 worker per host, at least 9,315 with 2 workers per "
        "host.",
    ),
    "equal in every test case": (
        lambda: _told(
            [
                ycsb(mix, vms, ops_s=(100.0,), latencies={P99: (10.0 / vms,)})
                for mix in "ab"
                for vms in (1, 2)
            ]
        ),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, "
        "throughput was ×1.00 in all 2 test cases; worst latency change READ p99 ×0.50 (5.00 against 10.0 "
        "ms, YCSB a).",
    ),
    "very small numbers": (
        lambda: _told(LITTLE),
        "Inconclusive (1 repetition): with 2 workers per host instead of 1 at equal total memory, YCSB b "
        "ran at ×0.00400 (0.00200 against 0.500 ops/s).",
    ),
    "a noisy neighbour": (
        lambda: _told(
            [
                ycsb(
                    "c",
                    2,
                    ops_s=(100.0,),
                    neighbour="nobody",
                    test_case="c-alone",
                    label="YCSB c alone",
                ),
                ycsb("c", 2, ops_s=(60.0,), neighbour="testdfsio-write", test_case="c-beside"),
            ]
        ),
        "Inconclusive (1 repetition): beside testdfsio-write instead of alone, YCSB c alone ran at ×0.60 "
        "(60.0 against 100 ops/s).",
    ),
}


@pytest.mark.parametrize("case", TOLD)
def test_a_careful_reader_would_write_the_same(case: str) -> None:
    tell, sentence = TOLD[case]
    assert tell() == sentence


@pytest.mark.parametrize("case", TOLD)
def test_the_ratio_is_that_of_the_numbers_beside_it(case: str) -> None:
    _check_ratios(TOLD[case][0]())


def _drawn(rng: random.Random) -> TestCases:
    """Test cases on two or three levels of a factor: rates from 0.01 to millions, latencies, few or many
    builds."""
    builds, spread = rng.choice((1, 2, 5, 8)), rng.choice((0.001, 0.03, 0.6))
    factor, names = rng.choice((("stack", "old new"), ("configuration", "g1 zgc serial")))

    def points() -> list[float]:
        middle = 10 ** rng.uniform(-2, 6)
        return noisy(middle, builds, spread, seed=rng.random())

    return tuple(
        ycsb(
            mix, 1, ops_s=points(), topology=name, levels={factor: name},
            latencies={P99: points()} if rng.random() < 0.7 else {},
            cpu={"used": points()} if rng.random() < 0.5 else {},
        )
        for mix in "abc"[: rng.randint(1, 3)]
        for name in names.split()
    )  # fmt: skip


@pytest.mark.parametrize(
    "seed", [pytest.param(n, marks=pytest.mark.slow if n >= 50 else ()) for n in range(200)]
)
def test_every_ratio_of_drawn_summaries_is_that_of_its_numbers(seed: int) -> None:
    test_cases = _drawn(random.Random(seed))
    text = _told(test_cases, test_cases[0].n_builds)
    _check_ratios(text)
    assert text.endswith(".") and "()" not in text and ": )" not in text and "nan" not in text


def test_decided_claims_come_before_what_is_only_measured() -> None:
    """The talk's study asks nothing else: its ratios of densities are those of its charts."""
    claimed = [
        Finding(
            id=name, statement=f"{name}: gains.", measure="claim of the talk", family=name,
            question=name, rule="", verdict=verdict, why="", n=(),
        )
        for name, verdict in (("C1", "inconclusive"), ("C2", "confirmed"), ("C3", "refuted"))
    ]  # fmt: skip
    test_cases = (*_densities((10.0, 12.0, 60.0), (100.0, 140.0, 180.0)),)
    evidence, asked = (
        Evidence(test_cases, 8, Isolation.VM),
        Hypotheses(questions=("C1", "C2", "C3")),
    )
    standard = tuple(one for one in findings(evidence, asked) if not one.question)
    text = headline(evidence, 24, (*standard, *claimed)).text
    assert text == "Confirmed: C2: gains. Other claims: 1 refuted, 1 inconclusive."
    undecided = headline(evidence, 24, (*standard, claimed[0])).text
    assert undecided.startswith(
        "Inconclusive (8 repetitions); measured, not tested: with 4 VMs per host"
    )


def _check_ratios(text: str) -> None:
    shown = re.findall(r"×([\d.,]+) \([^()]*?([\d.,]+) against ([\d.,]+) ", text)
    for times, later, first in shown:
        a, b = (float(number.replace(",", "")) for number in (later, first))
        assert ratio(a / b) == f"×{times}"
    assert not re.search(r"\de[+-]\d", text)


def test_no_number_has_an_exponent() -> None:
    for value in (1.2e-7, 0.031, 9.999, 120.0, 1.2e5, 9.9e12):
        for text in (digits(value), ratio(value), probability(min(1.0, value))):
            assert "e" not in text, text


def test_numbers_have_as_many_digits_as_their_ratio_needs() -> None:
    assert digits(9.9999) == "10.0"
    assert against(1.204, 1.246, 1.246 / 1.204) == "1.246 against 1.204"
    assert against(100.0, 112.0, 1.12) == "112 against 100"
    assert against(100.0, 112.0, 1.5) is None


def test_questions_share_one_error_budget() -> None:
    """One of two questions has p = 0.03: of all reports without an effect, one in 16 has such a one."""
    shifts = (0.0438, 0.0002) * 4

    def levels(**latencies: dict[tuple[str, float], Sequence[float]]) -> TestCases:
        return tuple(
            ycsb("b", 1, ops_s=ops_s, topology=name, levels={"stack": name}, **latencies)
            for name, ops_s in (
                ("old", (100.0,) * 8), ("new", tuple(100 * exp(one) for one in shifts)),
            )
        )  # fmt: skip

    assert _told(levels(), 8).startswith("With new instead of old, YCSB b ran at ×1.02")
    beside = levels(latencies={P99: (10.0,) * 8})
    both = Hypotheses(questions=("stack-rate", "stack-latency"))
    assert _told(beside, 8, asked=both).startswith("Inconclusive (8 repetitions): with new instead")
    latency = _told(beside, 8, asked=Hypotheses(questions=("stack-latency",)))
    assert "ran at" not in latency, "no question tests the throughput"
    assert latency.startswith(
        "Inconclusive (8 repetitions): with new instead of old, READ p99 of YCSB b was \u00d71.00"
    )
    (rate, *_) = findings(Evidence(beside, 8, Isolation.PROCESS), both)
    assert rate.verdict == "inconclusive" and rate.p is not None and 0.02 < rate.p < 0.05


def test_what_no_question_asks_for_is_measured_and_not_tested() -> None:
    test_cases = _levels("stack", {"old": noisy(100.0), "new": noisy(200.0, seed=2)})
    shows = Hypotheses(questions=())
    text = _told(test_cases, 8, asked=shows)
    assert text.startswith("Measured, not tested (8 repetitions): with new instead of old")
    found = findings(Evidence(test_cases, 8, Isolation.PROCESS), shows)
    rate = next(one for one in found if one.family == "stack-rate")
    assert (rate.verdict, rate.p, rate.p_adjusted, rate.question) == ("measured", None, None, None)
    assert rate.low is not None and rate.why.startswith("measured, not tested")
