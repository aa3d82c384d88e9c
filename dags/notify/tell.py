"""`tell`: send the message about a run that has ended to the receivers of its study, once.

Nothing here changes the outcome of a run. What could not be delivered is logged, journalled and printed by
`study run`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from density_study.cluster.state.events import Notified
from density_study.dags.airflow_home.home import base_folder
from density_study.dags.notify.message import Message, words_of
from density_study.workloads.execution.run import Run, load_run
from density_study.workloads.study.notify import Receiver
from density_study.workloads.study.shipped import study_path
from density_study.workloads.study.study_file import read_study

if TYPE_CHECKING:
    from density_study.cluster.lifecycle.reap import Swept

log = logging.getLogger(__name__)
NO_CONTEXT: Mapping[str, Any] = {}


def tell(root: str, reason: str = "", context: Mapping[str, Any] = NO_CONTEXT) -> None:
    """Send the message about the run in `root`, if there is something to tell, and journal that it was sent.
    Never raises. Again: nothing, until the run is opened again.

    `reason` is why a run without an end was killed. `context` is that of the Airflow task.
    """
    try:
        run = load_run(Path(root))
        if run.study.notify and not run.journal.since_opening(Notified):
            _tell(run, reason, context)
    except Exception as error:
        _log_fault("no message about the run could be made", error)


@contextmanager
def telling(root: str, context: Mapping[str, Any] = NO_CONTEXT) -> Iterator[None]:
    """`tell` after the block, which ends the run. If the block fails before it could journal the end, as on a
    full disk, its error is the reason."""
    reason = ""
    try:
        yield
    except Exception as error:
        reason = words_of(error)
        raise
    finally:
        tell(root, reason, context)


def tell_killed(runs: Path, swept: Swept, context: Mapping[str, Any] = NO_CONTEXT) -> None:
    """`tell` about the runs below `runs` that were reaped, or could not be: a host may be gone for days."""
    reasons = {one.tag: "the run was killed" for one in swept.reaped}
    for one in swept.failed:
        reasons[one.tag] = f"the run was killed, and what it left could not be removed: {one.why}"
    for tag, reason in reasons.items():
        if (runs / tag).is_dir():  # else its study says nothing about receivers
            tell(str(runs / tag), reason, context)


def _tell(run: Run, reason: str, context: Mapping[str, Any]) -> None:
    from density_study.dags.notify.incident import (
        message_of,  # the statistics take a second to import
    )

    message = message_of(run, reason)
    if message is None:
        return
    log.info("Message: %s", message.subject)
    faults = send(message, run.study.notify, context)
    run.journal.record(
        Notified(
            occasion=message.event,
            headline=message.headline,
            baseline=message.baseline,
            faults=faults,
        )
    )


def send(
    message: Message, receivers: Iterable[Receiver], context: Mapping[str, Any] = NO_CONTEXT
) -> tuple[str, ...]:
    """Deliver the message to the receivers of its event, one after the other. Returns, and logs, a line for
    each that did not get it."""
    from density_study.dags.notify.receivers import deliver

    faults = []
    for receiver in receivers:
        if message.event not in receiver.events:
            continue
        if fault := deliver(receiver, message, context):
            log.error("Not notified: %s", fault)
            faults.append(fault)
        else:
            log.info("Notified: %s", receiver.name)
    return tuple(faults)


def could_not_open(context: Mapping[str, Any]) -> None:
    """`on_failure_callback` of the task that opens a run, whose argument `spec` is the study file: without a
    run, nothing else can tell."""
    try:
        spec = Path(context["task"].op_kwargs["spec"])
        study = read_study(study_path(spec, base_folder())).study
        error = context.get("exception")
        fault = str(error).splitlines()[0] if str(error) else type(error).__name__
        headline = f"the run could not start: {fault}"
        send(Message("failure", study.study, "", headline), study.notify, context)
    except Exception as error:
        _log_fault("the failure could not be reported", error)


def _log_fault(what: str, error: Exception) -> None:
    log.error("%s: %s", what, words_of(error))
