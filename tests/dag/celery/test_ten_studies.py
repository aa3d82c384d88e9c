"""Ten studies at once on ten hosts, each with a Celery worker of its own; an eleventh shares a host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dag.backend import expected_order, most_standing, order
from tests.dag.celery.team import (
    LOCAL,
    LOCAL_TRIAL,
    MARKS,
    WAITS,
    TeamAirflow,
    check_over,
    check_waits,
    client_of,
    times_of,
)
from tests.dag.web import Study
from tests.fresh.environments import locked_with_celery

pytestmark = [*MARKS]
RACKS = tuple(f"rack-{number}" for number in range(1, 11))


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamAirflow]:
    queues = {rack: f"default,{rack}" for rack in RACKS}
    airflow = TeamAirflow(tmp_path_factory.mktemp("ten"), locked_with_celery(), queues)
    try:
        airflow.sign_in()
        studies = {f"on-{rack}": f"{LOCAL}queue: {rack}\n" for rack in RACKS}
        airflow.add(**studies, shared=f"{LOCAL}queue: {RACKS[0]}\n{WAITS}")
        yield airflow
    finally:
        airflow.kill()


def test_ten_studies_run_at_once_and_an_eleventh_waits_for_its_host(team: TeamAirflow) -> None:
    studies = {rack: Study(team, f"on-{rack}") for rack in RACKS}
    for study in studies.values():
        study.break_down(**{LOCAL_TRIAL: "sleep 3600"})
    run_ids = {study: study.trigger() for study in studies.values()}
    for study in studies.values():
        study.reaches(LOCAL_TRIAL)
    workers = {rack: team.worker_of(client_of(study).pid) for rack, study in studies.items()}
    assert workers == {rack: rack for rack in RACKS}
    assert most_standing(team.runs) == len(RACKS)

    shared = Study(team, "shared")
    run_ids[shared] = shared.trigger()
    check_waits(shared, run_ids[shared])

    for study in studies.values():
        study.end_trial()
    for study, run_id in run_ids.items():
        assert study.wait_over(run_id) == "success", study.name
        assert order(study.run.root) == expected_order(study.run)
        check_over(study)
    times = [times_of(study) for study in studies.values()]
    assert max(opened for opened, _ in times) < min(ended for _, ended in times)
    assert times_of(studies[RACKS[0]])[1] < times_of(shared)[0]
    assert most_standing(team.runs) == len(RACKS)
