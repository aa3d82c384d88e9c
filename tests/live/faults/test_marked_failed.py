"""A real run is marked failed in a real Airflow, by the request that its pages send, twice in a row: each
time its cluster is gone and nothing is left. The third time it comes to its report."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from density_study.cluster.providers.local.network import door_left
from density_study.cluster.state import lease
from density_study.cluster.state.events import StepStarted
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.tags import tagged
from density_study.dags.run_status.status import status_of
from density_study.workloads.record.record import closed_records
from tests.dag.backend import wait_until
from tests.dag.furnished import furnish
from tests.dag.web import Study, Web
from tests.live.support.command import study as command

pytestmark = pytest.mark.timeout(2400)
MIXES = ("load", "read45-insert55")
"""The trials, in this order; the run is marked while it measures each."""
STUDY = """\
study: marked
hosts: [{name: here, memory: 6 GiB, roles: [master, worker, client]}]
factors: {vms_per_host: [1]}
stack: {base_port: 27000}
workloads:
  - ycsb: {records: [60_000], mixes: [load, read45-insert55], threads: [4], duration: 45 s, warm_up: 2 s,
           warm_up_client: off, warm_up_daemons: off}
"""
GONE_WITHIN_S = 90.0


class RealWeb(Web):
    """The server that `study airflow` starts, which builds real clusters."""

    def start(self) -> None:
        argv = [self.python, "-m", "density_study.dags.web.webserver", "--port", str(self.port)]
        with self.out.open("w") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=self.environment)

    def stop(self) -> None:
        """As by Ctrl-C: it marks what runs as failed, and takes it down."""
        self.process.terminate()
        try:
            self.process.wait(120)
        finally:
            self.kill()


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    runtime = tmp_path / "runs" / ".runtime"  # of commands on these runs, too
    monkeypatch.setenv("DENSITY_STUDY_RUNTIME", str(runtime))
    furnish(tmp_path / "airflow")
    web = RealWeb(tmp_path, DENSITY_STUDY_RUNTIME=str(runtime), NO_PROXY="127.0.0.1")
    try:
        study = Study(web, "marked", STUDY)
        web.sign_in()
        wait_until(lambda: study.dag in web.dags(), 300, "the DAG is read")
        yield study
    finally:
        web.stop()
        command("reap", "--runs", str(web.runs), runs=web.runs)
        assert tagged("marked") == []


def measures(study: Study, run_id: str, trial: str) -> None:
    """Waits until the trial has begun since the run was last opened, and its client runs."""

    def begun() -> bool:
        if not study.folders():
            return False
        seen = study.run.journal.since_opening(StepStarted)
        return any(one.trial and trial in one.trial for one in seen)

    try:
        wait_until(begun, 600, f"the trial {trial} begins")
    except TimeoutError as error:
        seen = [entry for folder in study.folders() for entry in Journal(folder / JOURNAL).read()]
        raise AssertionError(f"{error}: {seen[-5:]}, {study.states(run_id)}") from error
    time.sleep(5)


def test_a_real_run_is_marked_failed_twice_in_a_row_and_resumed(marked: Study) -> None:
    for trial in MIXES:
        run_id = marked.trigger(fresh=False)
        measures(marked, run_id, trial)
        run = marked.run
        assert len(tagged(run.tag)) > 3, "daemons and a client"
        marked.mark(run_id, "failed")
        at = time.monotonic()
        assert marked.wait_over(run_id) == "failed"
        print(f"gone {time.monotonic() - at:.0f} s after the mark", file=sys.stderr)
        assert time.monotonic() - at < GONE_WITHIN_S
        states = marked.states(run_id)
        assert [state for task, state in states.items() if task.endswith(".down")] == ["success"]
        assert tagged(run.tag) == []
        assert [door for build in run.plan.builds for door in door_left(f"{run.tag}/{build}")] == []
        assert lease.holder() is None
        ended = status_of(run)
        assert (ended.state, ended.stopped) == ("failed", True)
        assert "marked failed or success in Airflow" in ended.failures[0]
        assert not list(run.root.glob("builds/*/data/*")), "no data"
        swept = command("reap", "--dry-run", "--runs", str(marked.web.runs), runs=marked.web.runs)
        assert (swept.returncode, swept.stdout) == (0, "Nothing to remove.\n"), swept
    marked.completes(fresh=False)
    (root,) = marked.folders()
    assert {record.state for record in closed_records(root / "records").values()} == {"complete"}
    assert (root / "report" / "index.html").exists()
    assert status_of(marked.run).state == "ok" and tagged(marked.run.tag) == []
