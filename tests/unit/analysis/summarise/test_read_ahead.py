"""Without libhadoop, DataNodes do not read ahead: no claim about HDDs, and a report that says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from density_study.analysis.findings import Evidence, effects
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import NO_READ_AHEAD
from density_study.analysis.summarise.read_ahead import read_ahead_warnings, without_read_ahead
from density_study.analysis.summary.summary import TestCaseSummary
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.store import store_named
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.recorded import RecordedTopology, RecordedVariant
from density_study.workloads.study.factors.registry import factors
from tests.support.drafts import draft, topology
from tests.support.topologies import with_variant
from tests.support.variants import dfsio, noisy


def record(disk_type: Any, native: object, **changes: Any) -> Manifest:
    built = with_variant(
        replace(topology(), name=f"v1-{disk_type}"), disk_type=disk_type, **changes
    )
    disclosure = {} if native is None else {"native_hadoop": native}
    return draft("t").model_copy(update={"topology": built, "disclosure": disclosure})


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([record("hdd", False)], {"v1-hdd"}),
        ([record("hdd", True)], set()),
        ([record("hdd", None)], {"v1-hdd"}),  # unknown is no proof
        ([record("hdd", True), record("hdd", False)], {"v1-hdd"}),
        ([record("flash", False)], set()),
        ([record("hdd", None, store=store_named("cassandra"))], set()),
    ],
)
def test_only_datanodes_on_hdds_that_disclose_libhadoop_read_ahead(
    records: list[Manifest], found: set[str]
) -> None:
    assert without_read_ahead(records) == found


def test_of_clusters_of_others_nobody_knows_it() -> None:
    existing = RecordedTopology("existing", "theirs", variant=RecordedVariant("hdd"))
    assert without_read_ahead([draft("t").model_copy(update={"topology": existing})]) == frozenset()


def disk_types(*names: str) -> tuple[TestCaseSummary, ...]:
    rates = {"hdd": 100.0, "flash": 200.0}
    return tuple(dfsio("read", name, noisy(rates[name], 8)) for name in names)


def test_hdd_against_flash_is_no_claim_until_datanodes_read_ahead() -> None:
    variants = disk_types("hdd", "flash")
    evidence = Evidence(
        variants, 8, Isolation.VM, without_read_ahead=frozenset({variants[0].topology})
    )
    rate, *_ = decide(list(effects.by_factor(evidence, factors()["disk_type"])), 8)
    assert (rate.verdict, rate.effect is None) == ("inconclusive", False)
    assert NO_READ_AHEAD in rate.why
    sound = replace(evidence, without_read_ahead=frozenset())
    rate, *_ = decide(list(effects.by_factor(sound, factors()["disk_type"])), 8)
    assert rate.verdict == "confirmed"


def test_densities_of_hdds_are_no_claim_either_and_those_of_flash_are() -> None:
    evidence = Evidence(
        disk_types("hdd"), 8, Isolation.VM, without_read_ahead=frozenset({"v1-hdd"})
    )
    (slow,) = disk_types("hdd")
    assert evidence.about_vms(slow) == (NO_READ_AHEAD,)
    (fast,) = disk_types("flash")
    assert evidence.about_vms(fast) == ()


def test_the_report_says_it_once() -> None:
    (warning,) = read_ahead_warnings({"v1-hdd", "v2-hdd"})
    assert "did not read ahead" in warning.message and "claim about HDDs" in warning.message
    assert list(read_ahead_warnings(())) == []
