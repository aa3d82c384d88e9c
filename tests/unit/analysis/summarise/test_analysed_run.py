"""What a run's manifests disclose of its topologies, also where the last trial of one has none."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd

from density_study.analysis.summarise.analysed_run import AnalysedRun
from tests.support.topologies import local

ONE, TWO = local(), replace(local(), name="v1-flash")
FIRST, LATER = (
    SimpleNamespace(topology=one.name, disk_type="flash", levels={}) for one in (ONE, TWO)
)
SKIPPED: dict[str, Any] = {}


def disclosed(host: str, governor: str, version: str) -> dict[str, Any]:
    return {
        "facts": {"machine": {host: {"governor": governor}}},
        "existing": {"hbase": version},
        "stacks": {"java": version},
    }


def run(*disclosures: tuple[Any, dict[str, Any]]) -> AnalysedRun:
    none = pd.DataFrame()
    return AnalysedRun(
        manifests=tuple(SimpleNamespace(topology=t, disclosure=d) for t, d in disclosures),  # type: ignore[arg-type]
        topologies={one.name: one for one in (ONE, TWO)},
        labels={},
        test_cases={},
        trials=none,
        verdicts=none,
        metrics=none,
        test_case_metrics=none,
        usd_per_hour={},
    )


UNEQUAL = ((ONE, disclosed("h1", "performance", "2.5")), (TWO, disclosed("h2", "powersave", "2.6")))


def test_a_skipped_trial_hides_no_difference_of_the_hosts() -> None:
    whole = run(*UNEQUAL)
    for order in (
        (*UNEQUAL, (TWO, SKIPPED)), ((ONE, SKIPPED), *UNEQUAL), (*UNEQUAL, (ONE, SKIPPED)),
    ):  # fmt: skip
        found = run(*order)
        assert found.unequal(FIRST, LATER) == whole.unequal(FIRST, LATER)  # type: ignore[arg-type]
        assert found.confounds(FIRST, LATER) == whole.confounds(FIRST, LATER)  # type: ignore[arg-type]
        assert found.declared_between(FIRST, LATER) == whole.declared_between(FIRST, LATER)  # type: ignore[arg-type]
    (fact,) = whole.unequal(FIRST, LATER)  # type: ignore[arg-type]
    assert "performance (h1)" in fact and "powersave (h2)" in fact
    assert "hbase 2.5 and 2.6" in whole.confounds(FIRST, LATER)  # type: ignore[arg-type]
    assert any("stacks.java" in one for one in whole.declared_between(FIRST, LATER))  # type: ignore[arg-type]


def test_a_topology_all_of_whose_trials_were_skipped_differs_in_nothing_known() -> None:
    nothing = run(UNEQUAL[0], (TWO, SKIPPED))
    assert nothing.unequal(FIRST, LATER) == ()  # type: ignore[arg-type]
    for one, other in ((FIRST, LATER), (LATER, FIRST)):
        assert nothing.confounds(one, other) == ()  # type: ignore[arg-type]
