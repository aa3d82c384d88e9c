"""Checks and status as `study` prints them. Colours appear on a terminal only."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from rich.text import Text

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.events import Notified
from density_study.cluster.state.run_state import how_to_reap
from density_study.dags.cli.arguments import RUNS
from density_study.dags.cli.console import err, given
from density_study.dags.cli.progress_display import headline
from density_study.workloads.base.quantity import duration

if TYPE_CHECKING:
    from rich.console import Console

    from density_study.dags.run_status.status import Status
    from density_study.workloads.execution.run import Run
    from density_study.workloads.planning.preflight import Check


def check_line(check: Check) -> Text:
    """A line of the checklist before a run; of a fault also where, what and remedy."""
    if check.warning:
        return Text.assemble(("warn   ", "yellow"), f"{check.name}\n       {check.warning}")
    if check.fault is None:
        return Text.assemble(("ok     ", "green"), check.name)
    fault, remedy = check.fault, given().exact(check.fault.remedy)
    text = f"{check.name}\n       {fault.where}: {fault.what}\n       remedy: {remedy}"
    return Text.assemble(("fault  ", "bold red"), text)


@contextmanager
def checklist(console: Console) -> Iterator[Callable[[Check], None]]:
    """Yields what prints each check before a run. A fault that it printed, with its remedy and all other
    faults, ends the command and is not printed again."""
    printed = []

    def report(check: Check) -> None:
        (err if check.fault else console).print(check_line(check))
        printed.append(check.fault)

    try:
        yield report
    except StudyError as error:
        if error in printed:
            raise typer.Exit(error.exit_code) from error
        raise


# ------------------------------------------------------------------------------------ status


def status_page(status: Status) -> list[Text]:
    """State, step, elapsed and remaining time, failures, and the next command on a line of its own."""
    from density_study.workloads.execution.run import spec_of

    root = status.run.root
    seen, spec = status.progress, shlex.quote(spec_of(root))
    runs = root.parents[1]
    elsewhere = "" if runs == RUNS.absolute() else f" --runs {shlex.quote(str(runs))}"
    again = f"resume it:\nstudy run {spec}{elsewhere}"
    if status.is_rehearsal:
        again = f"make another:\nstudy rehearse {spec}{elsewhere}"
    rows = [
        ("folder", str(root)),
        ("step", f"{seen.position} of {seen.total}"),
        ("elapsed", duration(seen.elapsed_s)),
    ]
    if status.state == "running" and seen.kept:
        until = time.strftime("%Y-%m-%d %H:%M", time.localtime(seen.kept.until))
        rows[1:] = [("kept", f"{seen.kept.build}, until {until}; study down takes it down before")]
    elif status.state == "running":
        now = " · ".join(filter(None, (headline(seen), seen.doing)))
        rows += [("now", now), ("left", f"about {duration(seen.remaining_s)}")]
    if status.stopped:
        rows.append(("next", again))
    if status.state == "unknown":
        owner = status.owner
        silent_s = status.silent_s
        last = (
            "its last sign of life is unknown"
            if silent_s is None
            else f"last seen {duration(silent_s)} ago"
        )
        reap = how_to_reap(root, "--force", str(owner))
        remedy = f"if you know that the owner is dead:\n{reap}"
        rows += [
            ("owner", f"{owner}, {last}; it cannot be checked from this machine"),
            ("next", remedy),
        ]
    if status.state == "interrupted":
        rows += [("next", f"clean up:\n{how_to_reap(root)}"), ("or", again)]
    rows += [("note", note) for note in status.notes]
    return [
        Text(f"{seen.study} {seen.run}: {status.state}", style="bold"),
        *(Text(f"{name:<8} {text}".replace("\n", "\n    ")) for name, text in rows),
        *failure_lines(status.failures),
        *notification_lines(status.run),
    ]


def failure_lines(failures: Iterable[str]) -> Iterator[Text]:
    return (Text(f"failed   {failure}", style="red") for failure in failures)


def notification_lines(run: Run) -> Iterator[Text]:
    """The receivers that did not get the message about this run, and why."""
    for told in run.journal.since_opening(Notified):
        yield from (Text(f"not notified  {fault}", style="yellow") for fault in told.faults)
