"""Every factor is compared by the same rules: two variants that agree in all other factors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.findings.effects import questions
from density_study.analysis.findings.factors import baseline, levels, pairs
from density_study.analysis.report.charts.findings_table import findings_table
from density_study.analysis.report.charts.observations import View
from density_study.analysis.report.table import summary_table
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summarise.undecided import undecided
from density_study.analysis.summarise.warnings import design_warnings
from density_study.analysis.summary.summary import Finding, Metric, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.factors.registry import factors
from density_study.workloads.study.hypotheses import Expectation, Hypotheses
from tests.support.summary_factory import one_block
from tests.support.variants import measured_case


def version(name: str, *rates: float, **variant: object) -> TestCaseSummary:
    return measured_case(rates or (100.0,), levels={"stack": name}, **variant)


OLD, NEW, NEWEST = version("hadoop-3.4.1"), version("hadoop-3.4.2"), version("hadoop-3.5.0")
STACK = factors()["stack"]


def test_later_versions_are_each_compared_with_the_first() -> None:
    found = list(pairs((OLD, NEW, NEWEST), STACK))
    assert [(first.levels["stack"], later.levels["stack"]) for first, later in found] == [
        ("hadoop-3.4.1", "hadoop-3.4.2"), ("hadoop-3.4.1", "hadoop-3.5.0")
    ]  # fmt: skip


def test_the_studys_order_says_which_level_is_the_baseline() -> None:
    assert levels((NEW, OLD), "stack") == ("hadoop-3.4.2", "hadoop-3.4.1")
    assert baseline((NEW, OLD), (NEW, OLD), "stack", "configuration") == (NEW,)
    assert baseline((OLD,), (NEW, OLD), "stack") == ()


def test_numbers_and_disk_types_have_an_order_of_their_own() -> None:
    many = [measured_case((1.0,), vms_per_host=n) for n in (4, 1, 2)]
    assert levels(many, "vms_per_host") == (1, 2, 4)
    assert levels([measured_case((1.0,), disk_type=m) for m in ("flash", "hdd")], "disk_type") == (
        "hdd", "flash"
    )  # fmt: skip


@pytest.mark.parametrize(
    "other",
    [
        version("hadoop-3.4.2", vms_per_host=2),
        version("hadoop-3.4.2", disk_type="hdd"),
        version("hadoop-3.4.2", regionservers_per_node=4),
        measured_case((1.0,), levels={"stack": "hadoop-3.4.2", "configuration": "zgc"}),
    ],
)
def test_variants_that_differ_in_a_second_factor_are_not_compared(other: TestCaseSummary) -> None:
    assert list(pairs((OLD, other), STACK)) == []


def test_the_variants_and_what_was_declared_are_in_the_question() -> None:
    evidence = Evidence(
        (OLD, NEW), 1, Isolation.PROCESS, declared=lambda *_: ("stack.hadoop: a -> b",)
    )
    rate, cpu = questions(evidence)
    assert rate.statement == "YCSB c, flash: throughput, hadoop-3.4.2 over hadoop-3.4.1"
    assert (rate.family, cpu.family) == ("stack-rate", "stack-cpu")
    assert rate.declared == ("stack.hadoop: a -> b",)
    assert (rate.rule.words, cpu.rule.words) == ("above 1", "below 1")


def decided(first: float, later: float) -> Finding:
    variants = (
        version("hadoop-3.4.1", *(first + step for step in range(6))),
        version("hadoop-3.4.2", *(later + 5 - step for step in range(6))),
    )
    evidence = Evidence(variants, 6, Isolation.PROCESS)
    return next(f for f in findings(evidence, Hypotheses()) if f.family == "stack-rate")


def test_a_version_may_be_claimed_faster_or_slower_on_process_groups() -> None:
    assert decided(100.0, 200.0).verdict == "confirmed"
    assert decided(200.0, 100.0).verdict == "refuted"
    assert decided(100.0, 101.0).verdict == "inconclusive"


def test_the_rate_of_a_search_that_used_up_its_probes_supports_no_claim() -> None:
    rates = [100.0 + step for step in range(6)]
    variants = (
        version("hadoop-3.4.1", *rates),
        version("hadoop-3.4.2", *(2 * rate for rate in rates)),
    )
    expect = Expectation.model_validate(
        {"name": "faster", "workload": "c", "compare": "stack",
         "hadoop-3.4.2_over_hadoop-3.4.1": "> 1.5"}
    )  # fmt: skip
    asked = Hypotheses(expect=(expect,))
    exact = Evidence(variants, 6, Isolation.PROCESS)
    bound = replace(exact, bounds=frozenset({(variants[0].test_case, variants[0].topology)}))
    for evidence, verdict in ((exact, "confirmed"), (bound, "inconclusive")):
        found = [one for one in findings(evidence, asked) if one.measure == "throughput"]
        assert {one.family: one.verdict for one in found} == {
            "stack-rate": "measured", "expect-faster": verdict
        }  # fmt: skip
        assert all(("lower bound" in one.why) is (evidence is bound) for one in found)
        cpu = next(one for one in findings(evidence, asked) if one.family == "stack-cpu")
        assert "lower bound" not in cpu.why
    line = undecided(findings(bound, asked), bound, (), 60.0)
    assert line is not None and "a larger `probes` for the searches" in line


def test_an_undeclared_difference_between_versions_refuses_the_comparison() -> None:
    evidence = Evidence(
        (OLD, NEW), 6, Isolation.VM, differences=lambda *_: ("machine.kernel: a, b",)
    )
    finding = next(f for f in findings(evidence, Hypotheses()) if f.family == "stack-rate")
    assert finding.effect is None
    assert "the variants' disclosures differ in machine.kernel" in finding.why


def test_a_hypothesis_about_versions_is_decided_on_its_variants() -> None:
    expect = Expectation.model_validate(
        {
            "name": "h",
            "workload": "c",
            "compare": "stack",
            "hadoop-3.4.2_over_hadoop-3.4.1": "> 0.9",
        }
    )
    found = findings(Evidence((OLD, NEW, NEWEST), 1, Isolation.VM), Hypotheses(expect=(expect,)))
    (finding,) = (one for one in found if one.family == "expect-h")
    assert finding.effect == pytest.approx(1.0)
    assert "hadoop-3.4.2 over hadoop-3.4.1" in finding.statement


def test_with_one_density_the_headline_tells_about_the_next_factor() -> None:
    faster = version("hadoop-3.4.2", 150.0)
    sentence = headline(Evidence((OLD, faster), 1, Isolation.PROCESS), 2).text
    assert "with hadoop-3.4.2 instead of hadoop-3.4.1, YCSB" in sentence
    assert "×1.50 (150 against 100 ops/s)" in sentence


def test_best_densities_compete_within_one_version() -> None:
    variants = [
        version(name, 100.0 * vms, vms_per_host=vms)
        for name in ("hadoop-3.4.1", "hadoop-3.4.2")
        for vms in (1, 2)
    ]
    latency = Metric(name="latency", value=1.0, unit="ms", operation="READ", percentile=99.0,
                     latency_kind="closed-loop")  # fmt: skip
    variants = [
        variant.model_copy(update={"metrics": (*variant.metrics, latency)}) for variant in variants
    ]
    found = findings(
        Evidence(tuple(variants), 1, Isolation.VM),
        Hypotheses.model_validate({"slo": {"read_p99": "5 ms"}}),
    )
    best = [one for one in found if one.family == "best-density"]
    assert [one.among for one in best] == ["flash, hadoop-3.4.1", "flash, hadoop-3.4.2"]
    assert len({one.id for one in best}) == 2


def test_the_report_distinguishes_variants_by_all_levels() -> None:
    view = View(one_block().model_copy(update={"test_cases": (OLD, NEW)}))
    assert list(view.variant_styles) == ["flash, hadoop-3.4.1", "flash, hadoop-3.4.2"]
    assert view.where(NEW).endswith("flash, hadoop-3.4.2")


def test_the_findings_table_shows_what_was_declared_where_variants_have_names() -> None:
    declared = Evidence((OLD, NEW), 1, Isolation.VM, declared=lambda *_: ("stack.hadoop: a -> b",))
    summary = one_block().model_copy(
        update={"test_cases": (OLD, NEW), "findings": findings(declared, Hypotheses())}
    )
    table = findings_table(summary)
    place = [column.header for column in table.columns].index("Declared difference")
    assert table.rows[0][place] == "stack.hadoop: a -> b"
    assert "Declared difference" not in {one.header for one in findings_table(one_block()).columns}
    assert "Variant" in {column.header for column in summary_table(summary).columns}


def test_emulated_persistent_memory_supports_no_claim_of_any_factor() -> None:
    heap, off, pmem = (
        measured_case(tuple(base + n for n in range(6)), levels={"tier": name})
        for base, name in ((100.0, "heap"), (200.0, "offheap-512m"), (300.0, "pmem-emulated-512m"))
    )
    denser = measured_case(
        tuple(900.0 + n for n in range(6)), vms_per_host=2, levels=dict(pmem.levels)
    )
    evidence = Evidence((heap, off, pmem, denser), 6, Isolation.VM)
    asked = [one for one in questions(evidence) if one.measure == "throughput"]
    obstacles = {one.variants: one.obstacles for one in asked}
    emulated = ("persistent memory is emulated (tmpfs), which supports no claim",)
    assert obstacles["offheap-512m over heap"] == ()
    assert obstacles["pmem-emulated-512m over heap"] == emulated
    assert obstacles["2 VMs per host over 1 VM per host"] == emulated


def test_emulated_persistent_memory_is_a_warning_and_a_badge() -> None:
    (warning,) = [one for one in design_warnings(Isolation.VM, {"pmem"}, 9) if one.subject]
    assert warning.message == (
        "The disk type pmem is emulated by memory of the host (tmpfs) and supports no claim."
    )
    assert warning.remedy is None


def test_hosts_that_differ_support_no_claim() -> None:
    """With hosts of its own, a variant is compared with other machines."""
    slow, fast = (100.0, 101.0, 102.0, 103.0, 104.0), (150.0, 151.0, 152.0, 153.0, 154.0)
    old, new = version("hadoop-3.4.1", *slow), version("hadoop-3.4.2", *fast)
    evidence = Evidence((old, new), 5, Isolation.HOST)
    asked = Hypotheses(questions=("stack-rate",))
    assert {one.verdict for one in findings(evidence, asked) if one.family == "stack-rate"} == {
        "confirmed"
    }
    unequal = replace(evidence, unequal=lambda *_: ("governor: performance (h1), powersave (h2)",))
    (found,) = (one for one in findings(unequal, asked) if one.family == "stack-rate")
    assert found.verdict == "inconclusive"
    assert "the variants use hosts that differ: governor: performance (h1)" in found.why
