"""What a run's manifests disclose of its topologies, also where the last trial of one has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from density_study.analysis.summarise.analysed_run import AnalysedRun
from density_study.analysis.summarise.summarise import knobs_of
from density_study.cluster.state.own_runs import STUDY
from density_study.dags.stages.rehearsal import rehearsed_plan
from density_study.workloads.study.study_file import parse_study
from tests.support.made_runs.fake_cluster import DUET
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


def test_the_variants_of_a_rehearsed_duet_ran_in_turns_as_well(tmp_path: Path) -> None:
    """Its trials follow each other in simulated time, and their records have no turns."""
    duet = DUET.replace("memory: 6 GiB", "memory: 10 GiB")
    alone = duet.replace("duet: 4 s\n", "")
    plans = {text: rehearsed_plan(parse_study(text, "d.yaml"), tmp_path) for text in (duet, alone)}
    in_turns: Any = SimpleNamespace(turns=object())
    usual = {"quiet": "no", "monitor.period": 1.0, "monitor.also": "none"}
    for text, found in ((duet, {**usual, "duet": 4.0}), (alone, usual)):
        (tmp_path / STUDY).write_text(text)
        assert knobs_of(tmp_path, plans[text], ()) == found
    (tmp_path / STUDY).unlink()
    for plan, manifests in ((None, (in_turns,)), (plans[duet], ())):
        assert knobs_of(tmp_path, plan, manifests) == {"duet": "of unknown length"}
    assert knobs_of(tmp_path, plans[alone], ()) == {}


def test_knobs_of_all_test_cases_are_what_changes_their_measurement() -> None:
    text = DUET.replace(
        "duet: 4 s\n", "quiet: yes\nmonitor: {period: 2 s, also: [jfr, disks, gc]}\n"
    )
    knobs = parse_study(text, "d.yaml").study.knobs
    assert knobs == {"quiet": "yes", "monitor.period": 2.0, "monitor.also": "gc, jfr"}
