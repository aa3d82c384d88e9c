"""Clear in Airflow's UI: what is measured again, what keeps its record, and what is analysed."""

from __future__ import annotations

import pytest

from density_study.dags.run_status.status import status_of
from density_study.jobs.stage_names import STAGE_NAMES
from density_study.workloads.execution.run import Run
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.record import closed_records, earlier_attempts
from tests.dag.backend import expected_order, order
from tests.dag.web import Study, Web, task_id

pytestmark = [pytest.mark.dag, pytest.mark.slow]
FIRST, SECOND = "b1-v1-flash", "b1-v2-flash"
TRIAL = f"trial {SECOND} testdfsio-write-n2"
NAMES = ("one", "plain", "group", "whole", "early", "while", "analysis")


def trials(run: Run, build: str) -> list[Step]:
    return [step for step in run.plan.trials if step.build == build]


def acts_since(run: Run, before: list[str]) -> list[str]:
    """What was done after `before`."""
    return order(run.root)[len(before) :]


def attempts(run: Run) -> dict[str, int]:
    """Number of earlier attempts of each trial that has some."""
    return {trial: len(found) for trial, found in earlier_attempts(run.records).items()}


def test_clear_on_a_trial_measures_it_again_and_nothing_else(web: Web) -> None:
    study = Study(web, "one")
    run_id = study.completes()
    run = study.run
    before, measured = order(run.root), study.states(run_id)
    again = trials(run, FIRST)[1]
    study.clear(run_id, task_id(again))
    assert study.wait_over(run_id) == "success"
    assert study.folders() == [run.root]
    acts = [f"up {FIRST}", again.label, f"down {FIRST}", *STAGE_NAMES]
    assert acts_since(run, before) == acts
    assert attempts(run) == {str(again.trial): 1}
    states = study.states(run_id)
    later = {name for name in states if name.startswith(SECOND)}
    assert {states[name] for name in later} == {"skipped"}
    assert {name: states[name] for name in states if name not in later} == {
        name: measured[name] for name in measured if name not in later
    }
    assert status_of(run).state == "ok"
    # once more, and this attempt fails: the newest counts
    study.break_down(**{again.label: "fail"})
    study.clear(run_id, task_id(again))
    assert study.wait_over(run_id) == "failed"
    assert attempts(run) == {str(again.trial): 2}
    assert closed_records(run.records)[str(again.trial)].state == "failed"
    assert again.label in status_of(run).failures[0]


def test_without_downstream_the_run_is_analysed_again_too(web: Web) -> None:
    study = Study(web, "plain")
    run_id = study.completes()
    run = study.run
    before = order(run.root)
    one, other = trials(run, FIRST)[0], trials(run, SECOND)[1]
    study.clear(run_id, task_id(one), task_id(other), down=False)
    assert study.wait_over(run_id) == "success"
    acts = acts_since(run, before)
    assert {act for act in acts if act.startswith("trial")} == {one.label, other.label}
    assert [act for act in acts if act in STAGE_NAMES] == list(STAGE_NAMES)
    assert attempts(run) == {str(one.trial): 1, str(other.trial): 1}
    assert set(study.states(run_id).values()) == {"success"}
    assert status_of(run).state == "ok"


def test_clear_on_the_group_of_a_build_measures_all_its_trials_again(web: Web) -> None:
    study = Study(web, "group")
    run_id = study.completes()
    run = study.run
    before = order(run.root)
    study.clear(run_id, *study.group(SECOND))
    assert study.wait_over(run_id) == "success"
    mine = [step.label for step in run.plan.steps if step.build == SECOND]
    assert acts_since(run, before) == [*mine, *STAGE_NAMES]
    assert attempts(run) == {str(step.trial): 1 for step in trials(run, SECOND)}


def test_clear_of_the_whole_dag_run_begins_a_new_run(web: Web) -> None:
    study = Study(web, "whole")
    run_id = study.completes()
    study.clear(run_id)
    assert study.wait_over(run_id) == "success"
    assert len(study.folders()) == 2
    assert order(study.run.root) == expected_order(study.run)
    assert status_of(study.run).state == "ok"


def test_clear_of_the_whole_dag_run_during_a_trial_resumes_it(web: Web) -> None:
    study = Study(web, "early")
    study.break_down(**{TRIAL: "sleep 300"})
    run_id = study.trigger()
    study.reaches(TRIAL)
    study.break_down()
    study.clear(run_id)
    assert study.wait_over(run_id) == "success"
    assert len(study.folders()) == 1
    acts = order(study.run.root)
    anew = [step.label for step in study.run.plan.steps if step.build == SECOND]
    assert acts[acts.index(TRIAL) + 1 :][: 1 + len(anew)] == [f"down {SECOND}", *anew]
    assert status_of(study.run).state == "ok"


def test_clear_on_a_trial_while_another_build_is_measured_waits_for_its_turn(web: Web) -> None:
    study = Study(web, "while")
    study.break_down(**{TRIAL: "sleep 40"})
    run_id = study.trigger()
    study.reaches(TRIAL)
    again = trials(study.run, FIRST)[0]
    study.clear(run_id, task_id(again), down=False)
    assert study.wait_over(run_id) == "success"
    acts = order(study.run.root)
    second = acts.index(f"up {FIRST}", acts.index(TRIAL))
    assert f"down {SECOND}" in acts[acts.index(TRIAL) : second]
    assert acts[second : second + 3] == [f"up {FIRST}", again.label, f"down {FIRST}"]
    assert attempts(study.run) == {str(again.trial): 1}
    assert status_of(study.run).state == "ok"


def test_clear_of_a_failed_analysis_analyses_the_same_run_again(web: Web) -> None:
    study = Study(web, "analysis")
    study.break_down(series="fail")
    run_id = study.trigger()
    assert study.wait_over(run_id) == "failed"
    assert status_of(study.run).state == "failed"
    before = order(study.run.root)
    study.break_down()
    study.clear(run_id, "analysis.series")
    assert study.wait_over(run_id) == "success"
    assert len(study.folders()) == 1
    assert acts_since(study.run, before) == ["series", "report"]
    assert status_of(study.run).state == "ok"
