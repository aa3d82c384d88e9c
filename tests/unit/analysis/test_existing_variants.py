"""Existing clusters as variants: compared by name, and by density or disk type only where the study declares
them."""

from __future__ import annotations

from dataclasses import replace

from density_study.analysis.findings import Evidence, findings
from density_study.analysis.findings.effects import questions
from density_study.analysis.findings.question import Question
from density_study.analysis.summarise.headline import headline
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Expectation, Hypotheses
from tests.support.variants import measured_case

SLOW, FAST = (100.0, 101.0, 102.0, 103.0, 104.0), (150.0, 151.0, 152.0, 153.0, 154.0)
UNKNOWN = {"vms_per_host": None, "regionservers_per_node": None, "disk_type": "unknown"}


def cluster(name: str, rates: tuple[float, ...], **facts: object) -> TestCaseSummary:
    return measured_case(rates, levels={"cluster": name}, **{**UNKNOWN, **facts})


def rates_of(*test_cases: TestCaseSummary) -> list[Question]:
    asked = questions(Evidence(test_cases, 5, Isolation.UNKNOWN))
    return [one for one in asked if one.measure == "throughput"]


def test_undeclared_clusters_are_compared_by_name_alone() -> None:
    old, new = cluster("old", SLOW), cluster("new", FAST)
    (asked,) = rates_of(old, new)
    assert (asked.family, asked.variants, asked.obstacles) == ("cluster-rate", "new over old", ())
    assert "VM" not in asked.statement and "-1" not in asked.statement
    found = findings(Evidence((old, new), 5, Isolation.UNKNOWN), Hypotheses())
    assert {one.family for one in found if one.verdict == "confirmed"} == {"cluster-rate"}
    assert not {"density-rate", "disk-rate", "best-density"} & {one.family for one in found}


def test_declared_density_is_compared_at_equal_disk_type() -> None:
    old = cluster("old", SLOW, vms_per_host=1, disk_type="flash")
    new = cluster("new", FAST, vms_per_host=4, disk_type="flash")
    assert [one.family for one in rates_of(old, new)] == ["cluster-rate", "density-rate"]
    hdd = cluster("hdd", SLOW, vms_per_host=4, disk_type="hdd")
    assert [one.family for one in rates_of(old, hdd)] == ["cluster-rate"]  # two facts differ
    assert [one.family for one in rates_of(new, hdd)] == ["cluster-rate", "disk-rate"]


def test_other_versions_forbid_a_claim_about_density_and_none_about_the_clusters() -> None:
    old = cluster("old", SLOW, vms_per_host=1, disk_type="flash")
    new = cluster("new", FAST, vms_per_host=4, disk_type="flash")
    evidence = Evidence((old, new), 5, Isolation.UNKNOWN, confounds=lambda *_: ("hadoop 3 and 4",))
    asked = Hypotheses(questions=("density-rate", "cluster-rate"))
    verdicts = {one.family: one for one in findings(evidence, asked)}
    assert verdicts["density-rate"].verdict == "inconclusive"
    assert "hadoop 3 and 4" in verdicts["density-rate"].why
    assert verdicts["cluster-rate"].verdict == "confirmed"
    equal = findings(replace(evidence, confounds=lambda *_: ()), asked)
    assert {one.verdict for one in equal if one.family == "density-rate"} == {"confirmed"}


def test_a_hypothesis_may_compare_clusters_that_differ_in_declared_facts() -> None:
    expect = Expectation.model_validate(
        {"name": "new", "compare": "cluster", "workload": "c", "new_over_old": "> 1.2"}
    )
    old, new = cluster("old", SLOW, vms_per_host=1), cluster("new", FAST, vms_per_host=4)
    found = findings(Evidence((old, new), 5, Isolation.UNKNOWN), Hypotheses(expect=(expect,)))
    assert {one.verdict for one in found if one.family == "expect-new"} == {"confirmed"}


def test_the_headline_of_clusters_claims_no_equal_memory() -> None:
    evidence = Evidence((cluster("old", SLOW), cluster("new", FAST)), 5, Isolation.UNKNOWN)
    text = headline(evidence, 10, findings(evidence, Hypotheses())).text
    assert text.startswith("With new instead of old, YCSB c ran at ×1.49 (")


def test_the_headline_of_one_existing_cluster_has_its_rates() -> None:
    alone = Evidence((measured_case(SLOW, **UNKNOWN),), 5, Isolation.UNKNOWN)
    assert headline(alone, 5, is_existing=True).text == (
        "The existing cluster, in 5 repetitions: YCSB c at 100 operations per second."
    )
    assert headline(alone, 5).text.startswith("No comparison")
