"""Which trials were meant when tasks of a study's DAG were cleared."""

from __future__ import annotations

import pytest

from density_study.dags.stages.task_names import (
    build_group,
    cleared_trials,
    pending_trials,
    trial_task,
)
from density_study.workloads.planning.plan import Plan
from tests.support.drafts import plan


@pytest.fixture(scope="module")
def made() -> Plan:
    return plan()


def named(made: Plan) -> dict[str, str]:
    """Task by trial."""
    return {
        str(step.trial): f"{build_group(step.build)}.{trial_task(step.build, str(step.trial))}"
        for step in made.trials
    }


def of_build(made: Plan, build: str) -> list[str]:
    return [str(step.trial) for step in made.trials if step.build == build]


def test_a_trials_task_is_unique_within_the_group_of_its_build(made: Plan) -> None:
    tasks = named(made)
    assert len(set(tasks.values())) == len(tasks)
    assert tasks[next(iter(tasks))].startswith("b1-v1-flash.000-")


def test_the_dots_of_a_version_separate_no_group_from_its_task() -> None:
    versions: list[object] = [{"hadoop": "3.4.1"}, {"hadoop": "3.4.2"}]
    made = plan(factors={"vms_per_host": [1], "stack": versions})
    groups = {task.partition(".")[0] for task in named(made).values()}
    assert groups == {"b1-v1-flash-hadoop-3_4_1", "b1-v1-flash-hadoop-3_4_2"}
    first, *others = named(made).items()
    states: dict[str, str | None] = {first[1]: None, **{task: "success" for _, task in others}}
    assert list(pending_trials(made, states)) == [first[0]]


@pytest.mark.parametrize("state", [None, "scheduled", "queued", "running", "restarting"])
def test_trials_that_airflow_has_not_finished_are_pending(made: Plan, state: str | None) -> None:
    tasks = named(made)
    first = next(iter(tasks))
    states = {**dict.fromkeys(tasks.values(), "success"), tasks[first]: state, "open": "running"}
    assert list(pending_trials(made, states)) == [first]


@pytest.mark.parametrize("state", ["success", "failed", "skipped", "upstream_failed", "removed"])
def test_finished_trials_are_not_pending(made: Plan, state: str) -> None:
    assert list(pending_trials(made, dict.fromkeys(named(made).values(), state))) == []


def test_instances_of_a_mapped_task_are_told_apart_by_their_index(made: Plan) -> None:
    first, second = made.builds
    states: dict[str, str | None] = {
        f"{first}.trials_{n}": "success" for n in range(len(of_build(made, first)))
    }
    states[f"{first}.trials_2"] = None
    states[f"{second}.trials"] = None  # not yet expanded
    assert list(pending_trials(made, states)) == [of_build(made, first)[2], *of_build(made, second)]


def test_a_trial_that_the_dag_does_not_have_is_not_pending(made: Plan) -> None:
    assert list(pending_trials(made, {"open": None})) == []


def cleared(made: Plan, *trials: str, analysis: bool) -> list[str]:
    return cleared_trials(made, frozenset(trials), analysis)


def test_downstream_of_one_trial_means_that_trial(made: Plan) -> None:
    first, second = made.builds
    one = of_build(made, first)[1]
    assert cleared(made, one, *of_build(made, second), analysis=True) == [one]


def test_downstream_of_a_group_means_that_build(made: Plan) -> None:
    first, second = made.builds
    assert cleared(made, *of_build(made, first), *of_build(made, second), analysis=True) == (
        of_build(made, first)
    )
    assert cleared(made, *of_build(made, second), analysis=True) == of_build(made, second)


def test_trials_that_were_chosen_one_by_one_are_all_meant(made: Plan) -> None:
    first, second = made.builds
    one, other = of_build(made, first)[0], of_build(made, second)[1]
    assert cleared(made, one, other, analysis=True) == [one, other]


def test_without_downstream_everything_cleared_is_meant(made: Plan) -> None:
    first, second = made.builds
    both = [*of_build(made, first), *of_build(made, second)]
    assert cleared(made, *both, analysis=False) == both
    assert cleared(made, analysis=True) == []
