"""Several workers: CeleryExecutor, PostgreSQL, Redis. The clusters are simulated; all else is real.

Each test leaves all workers running, and no study.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from density_study.cluster.state import presence
from density_study.cluster.state.run_state import run_state
from density_study.dags.run_status.status import status_of
from density_study.dags.stages import study_stages
from tests.dag.backend import expected_order, order, wait_until
from tests.dag.celery.team import (
    LOCAL,
    LOCAL_TRIAL,
    MARKS,
    WAITS,
    WORKLOADS,
    TeamAirflow,
    check_over,
    check_waits,
    client_of,
    times_of,
)
from tests.dag.web import Study
from tests.fresh.environments import locked_with_celery

pytestmark = [*MARKS]
REMOTE = (
    """\
study: {name}
provider: physical
ssh: {{user: study}}
hosts:
  - name: far
    address: 192.0.2.10
    memory: 6 GiB
    roles: [master, worker, client]
    disks: [{{disk_type: flash}}]
factors: {{vms_per_host: [0]}}"""
    + WORKLOADS
)
ON_ONE, ON_TWO = "queue: rack-1\n", "queue: rack-2\n"
REMOTE_TRIAL = "trial b1-v0-flash testdfsio-write-n2"


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamAirflow]:
    airflow = TeamAirflow(tmp_path_factory.mktemp("team"), locked_with_celery())
    try:
        airflow.sign_in()
        airflow.add(
            north=LOCAL + ON_ONE,
            south=LOCAL + ON_TWO,
            later=LOCAL + ON_ONE + WAITS,
            killed=REMOTE,
            after=LOCAL + ON_ONE,
            lost=LOCAL + ON_TWO,
            restarted=REMOTE,
            outage=REMOTE,
        )
        yield airflow
    finally:
        airflow.kill()


def check_alive(study: Study) -> None:
    """To a process outside of Airflow, which knows no DAG run, the run is alive, and reap leaves it alone."""
    root = study.run.root
    found = run_state(root, presence.is_free(root))
    assert found is not None
    assert (found.state, found.owner and found.owner.pid) == ("alive", None), found
    swept = study_stages.reap(root.parents[1], dry_run=True)
    assert study.run.tag not in {each.tag for each in (*swept.reaped, *swept.left_alone)}


def test_two_studies_on_two_hosts_run_at_once_and_a_third_waits_without_a_worker(
    team: TeamAirflow,
) -> None:
    north, south, later = (Study(team, name) for name in ("north", "south", "later"))
    for study in (north, south):
        study.break_down(**{LOCAL_TRIAL: "sleep 600"})
    run_ids = {study: study.trigger() for study in (north, south)}
    for study in (north, south):
        study.reaches(LOCAL_TRIAL)
    on = {study.name: team.worker_of(client_of(study).pid) for study in (north, south)}
    assert on == {"north": "one", "south": "two"}
    check_alive(north)
    check_alive(south)

    run_ids[later] = later.trigger()
    check_waits(later, run_ids[later])

    for study in (north, south):
        study.end_trial()
    for study, run_id in run_ids.items():
        assert study.wait_over(run_id) == "success", study.name
        assert order(study.run.root) == expected_order(study.run)
        check_over(study)
    assert times_of(north)[1] < times_of(later)[0]


def test_after_kill_of_a_worker_another_takes_the_cluster_down_and_the_study_resumes(
    team: TeamAirflow,
) -> None:
    team.workers["two"].kill()
    killed = Study(team, "killed")
    killed.break_down(**{REMOTE_TRIAL: "sleep 3600"})
    run_id = killed.trigger()
    killed.reaches(REMOTE_TRIAL)
    client, foreign = client_of(killed), subprocess.Popen(["sleep", "3600"])
    assert team.worker_of(client.pid) == "one"
    check_alive(killed)
    team.workers["two"].start()
    team.workers["one"].kill()
    assert client.is_running(), "of a worker that dies, something is left"

    try:
        assert killed.wait_over(run_id) == "failed"
        check_over(killed)
        assert not client.is_running() or client.status() == psutil.STATUS_ZOMBIE
        assert foreign.poll() is None
        assert status_of(killed.run).stopped
        states = killed.states(run_id)
        assert (states["b1-v0-flash.down"], states["analysis.report"]) == ("success", "success")
    finally:
        foreign.kill()
        foreign.wait()
        team.workers["one"].start()

    # `open` ran on the dead worker, `conclude` on the other: the lease there is nobody's.
    assert list((team.folder / "leases-one").glob("lease.json"))
    Study(team, "after").completes()

    killed.break_down()
    killed.completes()
    assert len(killed.folders()) == 1, "it resumed the same run"
    assert status_of(killed.run).state == "ok"
    check_over(killed)


def test_a_run_whose_worker_died_in_its_last_task_is_resumed_by_the_next(team: TeamAirflow) -> None:
    """Nobody writes the end of that run, so only Airflow knows that its owner, the DAG run, is over."""
    study, down = Study(team, "lost"), "down b1-v1-flash"
    study.break_down(**{down: "fail"})
    run_id = study.trigger()
    study.reaches("ingest")
    study.break_down(**{down: "sleep 3600"})
    wait_until(lambda: order(study.run.root).count(down) == 2, 600, "`conclude` takes it down")
    client_of(study)
    team.workers["two"].kill()
    assert study.wait_over(run_id) == "failed"
    assert status_of(study.run).state not in ("ok", "failed"), "the run was not ended"

    study.break_down()
    root = study.run.root
    for path in root.iterdir():  # time passes
        os.utime(path, (0, 0))
    swept = study_stages.reap(root.parents[1], dry_run=True)
    assert study.run.tag in {left.tag for left in swept.left_alone}, "not removed by guess"
    team.workers["two"].start()
    study.completes()
    assert len(study.folders()) == 1
    assert status_of(study.run).state == "ok"
    check_over(study)


def test_a_restart_of_the_scheduler_does_not_touch_a_trial(team: TeamAirflow) -> None:
    study = Study(team, "restarted")
    study.break_down(**{REMOTE_TRIAL: "sleep 600"})
    run_id = study.trigger()
    study.reaches(REMOTE_TRIAL)
    client = client_of(study)
    team.units["scheduler"].kill()
    time.sleep(10)
    check_alive(study)
    team.units["scheduler"].start()
    wait_until(team.is_healthy, 300, "the scheduler is back")
    assert client.is_running()
    study.end_trial()
    assert study.wait_over(run_id) == "success"
    assert order(study.run.root) == expected_order(study.run)
    check_over(study)


def test_a_trial_survives_a_minute_without_the_database(team: TeamAirflow) -> None:
    study = Study(team, "outage")
    study.break_down(**{REMOTE_TRIAL: "sleep 600"})
    run_id = study.trigger()
    study.reaches(REMOTE_TRIAL)
    client = client_of(study)
    team.postgres.stop()
    time.sleep(60)
    check_alive(study)
    team.postgres.start()
    wait_until(team.is_healthy, 300, "Airflow is back")
    assert client.is_running()
    study.end_trial()
    assert study.wait_over(run_id) == "success"
    assert order(study.run.root) == expected_order(study.run)
    check_over(study)


def test_no_test_has_left_files_outside(team: TeamAirflow) -> None:
    """The databases are in memory, in a mount that only the machine sees."""
    assert not Path("/var/lib/postgresql/data").exists()
