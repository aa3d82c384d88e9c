"""Without libhadoop, DataNodes do not read ahead: no claim about HDDs, and a report that says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from density_study.analysis.findings import Evidence, effects
from density_study.analysis.findings.decide import decide
from density_study.analysis.findings.question import NO_READ_AHEAD
from density_study.analysis.summarise.read_ahead import read_ahead_warnings, without_read_ahead
from density_study.analysis.summary.summary import SettingSummary
from density_study.cluster.model.isolation import Isolation
from density_study.cluster.model.store import store_named
from density_study.workloads.record.given import GivenArm, GivenTopology
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study.factors.registry import factors
from tests.support.arms import dfsio, noisy
from tests.support.drafts import draft, topology
from tests.support.topologies import with_arm


def record(medium: Any, native: object, **changes: Any) -> Manifest:
    built = with_arm(replace(topology(), name=f"v1-{medium}"), medium=medium, **changes)
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
    given = GivenTopology("existing", "theirs", arm=GivenArm("hdd"))
    assert without_read_ahead([draft("t").model_copy(update={"topology": given})]) == frozenset()


def media(*names: str) -> tuple[SettingSummary, ...]:
    rates = {"hdd": 100.0, "flash": 200.0}
    return tuple(dfsio("read", name, noisy(rates[name], 8)) for name in names)


def test_hdd_against_flash_is_no_claim_until_datanodes_read_ahead() -> None:
    arms = media("hdd", "flash")
    evidence = Evidence(arms, 8, Isolation.VM, without_read_ahead=frozenset({arms[0].topology}))
    rate, *_ = decide(list(effects.by_factor(evidence, factors()["medium"])), 8)
    assert (rate.verdict, rate.effect is None) == ("no claim", False)
    assert NO_READ_AHEAD in rate.why
    sound = replace(evidence, without_read_ahead=frozenset())
    rate, *_ = decide(list(effects.by_factor(sound, factors()["medium"])), 8)
    assert rate.verdict == "reproduced"


def test_densities_of_hdds_are_no_claim_either_and_those_of_flash_are() -> None:
    evidence = Evidence(media("hdd"), 8, Isolation.VM, without_read_ahead=frozenset({"v1-hdd"}))
    (slow,) = media("hdd")
    assert evidence.about_vms(slow) == (NO_READ_AHEAD,)
    (fast,) = media("flash")
    assert evidence.about_vms(fast) == ()


def test_the_report_says_it_once() -> None:
    (warning,) = read_ahead_warnings({"v1-hdd", "v2-hdd"})
    assert "did not read ahead" in warning.message and "claim about HDDs" in warning.message
    assert list(read_ahead_warnings(())) == []
