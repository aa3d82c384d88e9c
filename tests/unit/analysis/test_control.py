"""Density is judged against its control variant, or the finding says what else differs."""

from __future__ import annotations

import pytest

from density_study.analysis.findings import effects
from density_study.analysis.findings.claim_questions import c5
from density_study.analysis.findings.control import servers_per_host
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import Evidence
from density_study.analysis.summary.summary import Finding, TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.workloads.study.hypotheses import Expectation
from tests.support.variants import dfsio, noisy, ycsb

MORE = "RegionServers per host: 1 -> 4, each with its own handlers"

NODES = "DataNodes and NodeManagers per host: 1 -> 4, one of each per node"


EXPECT = Expectation.model_validate(
    {"name": "dense", "workload": "b", "compare": "vms_per_host", "4_over_0": "> 1.5"}
)


def density(*variants: TestCaseSummary) -> list[Finding]:
    questions = effects.questions(Evidence(variants, 8, Isolation.VM))
    rates = ("density-rate", "density-control-rate")
    return [one for one in decide(list(questions), 8) if one.family in rates]


def hypothesis(*variants: TestCaseSummary) -> Finding:
    (found,) = decide(list(effects.expected(Evidence(variants, 8, Isolation.VM), (EXPECT,))), 8)
    return found


def control(rate: float) -> TestCaseSummary:
    return ycsb("b", 0, ops_s=noisy(rate, seed=1), topology="v0-r4-flash", regionservers_per_node=4)


def test_what_regionservers_do_is_no_claim_about_density() -> None:
    bare, dense = ycsb("b", 0, ops_s=noisy(100.0)), ycsb("b", 4, ops_s=noisy(200.0, seed=2))
    plain, controlled = density(bare, control(200.0), dense)
    for one in (plain, hypothesis(bare, control(200.0), dense)):
        assert one.verdict == "inconclusive" and one.why.startswith(MORE)
        assert one.why.endswith(
            "the comparison with the control variant, which has as many, decides"
        )
    alone = hypothesis(bare, dense)
    assert alone.verdict == "confirmed" and any(words.startswith(MORE) for words in alone.declared)
    assert controlled.variants == "4 VMs per host over 4 RegionServers on the bare host"
    assert controlled.verdict == "inconclusive" and controlled.family == "density-control-rate"


def test_what_nodes_do_is_a_claim() -> None:
    bare, dense = ycsb("b", 0, ops_s=noisy(100.0)), ycsb("b", 4, ops_s=noisy(200.0, seed=2))
    _, controlled = density(bare, control(100.0), dense)
    assert controlled.verdict == "confirmed"
    assert controlled.declared == (NODES,)


def test_without_control_variant_the_finding_says_what_still_differs() -> None:
    (found,) = density(ycsb("b", 1, ops_s=noisy(100.0)), ycsb("b", 4, ops_s=noisy(200.0)))
    assert found.verdict == "confirmed"
    assert any(words.startswith(MORE) for words in found.declared)
    (files,) = density(
        dfsio("read", vms=1, mib_s=noisy(1.0)), dfsio("read", vms=4, mib_s=noisy(2.0))
    )
    assert files.declared == (NODES,)  # no RegionServer serves it


def test_claims_about_vms_and_the_best_density_say_it_too() -> None:
    scans = [ycsb("scan95-insert5", vms, ops_s=noisy(100.0 * vms)) for vms in (1, 4)]
    (question,) = c5(Evidence(tuple(scans), 8, Isolation.VM))
    assert any(words.startswith(MORE) for words in question.declared)


@pytest.mark.parametrize(
    ("store", "servers"),
    [
        ("hbase-page-cache", 2),
        ("hbase-synced", 2),
        ("cassandra-synced", None),
        ("of-a-package-that-is-not-here", None),
    ],
)
def test_a_named_store_has_regionservers_as_the_default_one_has(
    store: str, servers: int | None
) -> None:
    """In a study that compares stores, their names are levels of each variant."""
    variant = ycsb("b", 2, levels={"store": store})
    assert servers_per_host(ycsb("b", 2)) == 2
    assert servers_per_host(variant) == servers
