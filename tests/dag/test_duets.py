"""A duet under Airflow's scheduler: cleared, stopped and resumed in its UI, both clusters at once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from density_study.dags.run_status.status import status_of
from density_study.jobs.stage_names import STAGE_NAMES
from density_study.workloads.execution.run import Run
from density_study.workloads.planning.plan import Step
from density_study.workloads.record.record import earlier_attempts
from tests.dag.backend import DUET, expected_order, order
from tests.dag.web import Study, Web, started, task_id

pytestmark = [pytest.mark.dag, pytest.mark.slow]
NAMES = ("cleared", "stopped")
TRIAL = "trial b2-v1-flash-b ycsb-a-r1000-t1"


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    with started(tmp_path_factory.mktemp("duets"), *NAMES, text=DUET, at_once=2) as web:
        web.pause("capacity_plan", True)
        yield web


def pair(run: Run) -> tuple[Step, Step]:
    """The last trial of the second repetition, and the one at the same time."""
    last = run.plan.trials[-1]
    partner = run.plan.partner(last)
    assert partner is not None
    return partner, last


def test_clear_on_one_trial_measures_its_pair_again_and_builds_both_clusters(web: Web) -> None:
    study = Study(web, "cleared")
    run_id = study.completes()
    run = study.run
    assert order(run.root) == expected_order(run)
    first, second = pair(run)
    for number, chosen in enumerate((second, first), 1):
        before = order(run.root)
        study.clear(run_id, task_id(chosen))
        assert study.wait_over(run_id) == "success"
        acts = order(run.root)[len(before) :]
        builds = [step.build for step in run.plan.steps if step.repetition == second.repetition]
        one, other = dict.fromkeys(builds)
        ups = [f"up {one}", f"up {other}"]
        assert acts == [
            *ups,
            first.label,
            second.label,
            f"down {one}",
            f"down {other}",
            *STAGE_NAMES,
        ]
        counted = {name: len(found) for name, found in earlier_attempts(run.records).items()}
        assert counted == {str(first.trial): number, str(second.trial): number}
        assert study.nothing_stands()
        assert status_of(run).state == "ok"


@pytest.mark.parametrize("state", ["failed", "success"])
def test_marked_by_hand_in_a_trial_both_clusters_go_and_the_run_is_resumed(
    web: Web, state: str
) -> None:
    study = Study(web, "stopped")
    study.break_down(**{TRIAL: "sleep 300"})
    run_id = study.trigger(fresh=True)
    study.reaches(TRIAL)
    study.break_down()
    study.mark(run_id, state)
    assert study.wait_over(run_id) == "failed", "a stopped run is never called a success"
    assert study.nothing_stands()
    run = study.run
    assert status_of(run).state == "failed"
    first, second = pair(run)
    before = order(run.root)
    study.completes(fresh=False)
    again = [act for act in order(run.root)[len(before) :] if act.startswith("trial")]
    assert again == [first.label, second.label]
    assert status_of(run).state == "ok"
