"""A search as steps of a run: carried on after a kill, ended early, and never called a failure for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from density_study.cluster.state.events import SearchEnded
from density_study.dags.stages.conclusion import _bad_trials
from density_study.workloads.base.search import Probe
from density_study.workloads.execution import steps
from density_study.workloads.execution.run import Run, spared_trials
from density_study.workloads.execution.steps import carry_out, steps_left, what_is_left
from density_study.workloads.execution.trial import draft_manifest
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.record.record import Record, closed_records
from tests.support.drafts import ycsb_study
from tests.support.made_runs.fake_cluster import World, open_again, opened_run, world

__all__ = ["world"]  # the fixture

SEARCH = "search: {max_rate: {read_p99: 20 ms}, start: 100/s, probes: 10}"


class Searched:
    """Trials of a store that keeps 730 ops/s. `killed`: this probe kills the process that runs it."""

    def __init__(self) -> None:
        self.loads: list[float] = []
        self.killed = 0

    def run_trial(
        self, run: Run, step: Step, _c: Any, _t: Any, _target: Any, probe: Probe | None
    ) -> Manifest:
        draft = draft_manifest(run, step).model_copy(update={"probe": probe})
        record = Record.open(run.records, draft)
        if probe is not None:
            self.loads.append(probe.load)
            if probe.number == self.killed:
                raise KeyboardInterrupt
            probe = probe.model_copy(update={"kept": probe.load <= 730, "why": "a store of 730"})
        manifest = draft.model_copy(update={"state": "complete", "probe": probe})
        record.close(manifest)
        return manifest


@pytest.fixture
def searched(world: World, monkeypatch: pytest.MonkeyPatch) -> Searched:
    store = Searched()
    monkeypatch.setattr(steps, "run_trial", store.run_trial)
    return store


@pytest.fixture
def run(runtime: None, tmp_path: Path) -> Run:
    replaced = {"load, read45-insert55, scan95-insert5": "read45-insert55", "[1, 2]": "[1]"}
    return opened_run(tmp_path / "runs" / "quickstart" / "r1", ycsb_study(SEARCH, **replaced))


def carry_out_all(run: Run) -> dict[str, str]:
    return {step.label: carry_out(run, step).outcome for step in steps_left(run)}


EXPECTED = [100, 200, 400, 800, 566, 673, 734, 703, 718]


def test_a_search_ends_early_and_spares_its_last_probes(run: Run, searched: Searched) -> None:
    outcomes = carry_out_all(run)
    assert searched.loads == EXPECTED
    (ended,) = run.journal.events(SearchEnded)
    assert ended.answer == 718
    probes = [step for step in run.plan.trials if step.probe]
    assert [outcomes[step.label] for step in probes] == ["ok"] * 9 + ["skipped"]
    assert spared_trials(run.journal) == {probes[-1].trial}
    assert probes[-1].trial not in closed_records(run.records)
    assert what_is_left(run) == ""
    assert steps_left(run) == []
    assert list(_bad_trials(run)) == []


@pytest.mark.parametrize("killed", [1, 4, 8])
def test_a_killed_search_goes_on_with_the_same_loads(
    run: Run, searched: Searched, killed: int
) -> None:
    searched.killed = killed
    with pytest.raises(KeyboardInterrupt):
        carry_out_all(run)
    searched.killed = 0
    open_again(run)
    carry_out_all(run)
    assert searched.loads == [*EXPECTED[:killed], *EXPECTED[killed - 1 :]]
    assert run.journal.events(SearchEnded)[-1].answer == 718
    open_again(run)
    assert steps_left(run) == [], "nothing is built again for a search that has ended"


def test_a_lost_host_ends_no_search(
    run: Run, searched: Searched, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Probes that could not run are no results: the search goes on when the host is back."""
    ready = steps._lost
    monkeypatch.setattr(steps, "_lost", lambda *_: "a node is lost: h1")
    outcomes = carry_out_all(run)
    assert {o for label, o in outcomes.items() if "probe" in label} == {"skipped"}
    assert run.journal.events(SearchEnded) == []
    monkeypatch.setattr(steps, "_lost", ready)
    open_again(run)
    carry_out_all(run)
    assert searched.loads == EXPECTED
