"""`carry_out`: execute an opened run in a child process, show its progress, and clean up after it."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.machine.processes import stop_all
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import Event, KeptReleased, kept_in
from density_study.cluster.state.tags import TAG, tagged
from density_study.dags.airflow_home.child import Child, python
from density_study.dags.airflow_home.home import Home
from density_study.dags.airflow_home.interrupt import Interrupted
from density_study.dags.run_status.live import LiveTrial
from density_study.dags.run_status.progress import Progress, progress
from density_study.dags.stages import conclusion, study_stages
from density_study.workloads.execution.run import Run

_log = logging.getLogger(__name__)
LOG = "airflow.log"
_LOOK_EVERY_S = 0.25
_GRACE_S = 5.0
_TELL_WITHIN_S = 600.0

Show = Callable[[Progress], None]


class LogFollower:
    """What a log has got since the last look, for --verbose."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = path.stat().st_size if path.exists() else 0

    def new_text(self) -> str:
        if not self.path.exists():
            return ""
        with self.path.open("rb") as log:
            log.seek(self.read)
            text = log.read()
        self.read += len(text)
        return text.decode("utf-8", "replace")


@dataclass(frozen=True)
class RunEnd:
    """Result of the DAG run, from the exit code of its process and the run's journal."""

    run: Run
    succeeded: bool
    failures: tuple[str, ...]


def carry_out(run: Run, home: Home, show: Show) -> RunEnd:
    """Run the DAG for an opened run. No process of the run survives, however the DAG ends."""
    live = LiveTrial(run.study, run.plan, run.records)
    faults: set[str] = set()

    def look() -> None:
        """Show the progress. A fault of the view must not end hours of measuring: it is logged once."""
        try:
            now = time.time()
            show(live.added_to(progress(run.plan, run.journal.events(Event), now), now))
        except Exception as error:
            if repr(error) not in faults:
                faults.add(repr(error))
                _log.warning("The progress is not shown, the run goes on: %r", error, exc_info=True)

    environment = {**home.command_environment(), TAG: run.tag}
    argv = python("density_study.dags.inprocess", str(run.root))
    try:
        with Child(argv, environment, run.root / LOG) as child:
            code = None
            while code is None:
                try:
                    code = child.wait(_LOOK_EVERY_S)
                    look()
                except Interrupted:
                    if kept_in(run.journal.events(Event)) is None:
                        raise
                    run.journal.record(KeptReleased())  # the run then ends as without --keep
        stop_all(tagged(run.tag), _GRACE_S)  # Spark's JVM ends a moment after its Python
        look()
    except BaseException as error:
        clean_up(run, f"the run was interrupted ({error})")
        raise
    if code == 0:
        return RunEnd(run, True, ())
    left = ""
    try:
        clean_up(run, "the process executing the run ended before the trial")
    except StudyError as error:  # a lost host hides no other failure, and keeps back no message
        left = str(error)
    failures = _failures(run, code, left)
    if run.study.notify and not conclusion.is_concluded(run):
        tell(run, home, failures[0])
    return RunEnd(run, False, failures)


def clean_up(run: Run, reason: str) -> None:
    """Remove what the child left: processes, the cluster, an open record."""
    stop_all(tagged(run.tag), _GRACE_S)
    study_stages.tear_down(str(run.root), reason)


def tell(run: Run, home: Home, reason: str) -> None:
    """Send the message that a run without a conclusion could not send itself."""
    argv = python("density_study.dags.notify", "run", str(run.root), reason)
    with Child(argv, home.command_environment(), run.root / LOG) as child:
        child.wait(_TELL_WITHIN_S)


def _failures(run: Run, code: int, left: str) -> tuple[str, ...]:
    """`left`: why what the child left could not be removed."""
    found = tuple(conclusion.failures(run))
    if left and not any(left in failure for failure in found):
        found += (f"clean-up: {left}",)
    if conclusion.is_concluded(run):
        return found
    ended = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return (f"the run did not finish: its process ended {ended}", *found)
