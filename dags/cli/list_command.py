"""`study list` and `study rm`: the runs of a folder. Thin, like dags/cli/main.py."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.plain import one_line, plain
from density_study.cluster.providers.simulated import SIMULATED
from density_study.dags.cli.arguments import RUNS, Json, Runs, Tags, examples
from density_study.dags.cli.console import out, print_json
from density_study.workloads.base.quantity import duration

if TYPE_CHECKING:
    from density_study.workloads.execution.run_facts import RunFacts

LIST_EXAMPLES = examples("study list", "study list --tag ticket=PERF-12 --json")
REMOVE_EXAMPLES = examples(
    "study rm 20261120T201530Z", "study rm runs/quickstart/20261120T201530Z --yes"
)
HEADER = ("study", "run", "state", "opened (UTC)", "age", "trials done", "size", "tags")
_MOST_SHOWN = 2000
"""Characters of a run's tags. A journal of others may have any number of them."""
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def list_runs(runs: Runs = RUNS, tags: Tags = None, as_json: Json = False) -> None:
    """List the runs, oldest first: study, id, state, start time, age, completed trials, size on disk, tags.

    A run that cannot be read is listed as `unreadable`, with the reason below the list. With --tag, only
    runs that have all these tags are listed.
    """
    from density_study.cluster.state.run_tags import parse_tags
    from density_study.dags.cli.layout import rows_table
    from density_study.workloads.execution.run_facts import facts_of_runs, size_bytes

    wanted = parse_tags(tags or [])
    found = facts_of_runs(runs, wanted)
    now = time.time()
    if as_json:
        print_json([_facts(one, now, size_bytes(one.folder)) for one in found])
        return
    if not found:
        what = "no runs" if not wanted else f"no runs with {_shown(wanted)}"
        out.print(f"{runs} contains {what}.")
        return
    cells = (_cells(one, now, size_bytes(one.folder)) for one in found)
    out.print(rows_table(HEADER, list(map(tuple, cells))))
    for one in found:
        if one.fault:
            out.print(f"unreadable: {one_line(f'{one.study} {one.run}')}: {one.fault}")


def remove(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder or id of a run, or a study for its newest run."),
    ],
    runs: Runs = RUNS,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a run with its records, tables and report, completely or not at all.

    Refuses a run that you have not opened, one that is or may be running, and one with a cluster that is not
    verified to be gone. Asks first; rebuilds the results hub.

    Exit codes: 0 deleted, 1 not confirmed, 2 invalid input or refused; nothing was deleted.
    """
    from density_study.workloads.execution.run_facts import facts_of, size_bytes

    root = only(run, runs)
    bytes_used = size_bytes(root)
    if not yes:
        if as_json or not out.is_terminal:
            raise InputError(
                "deleting a run needs a confirmation, and there is no terminal to ask on.",
                str(root),
                "add --yes.",
            )
        facts = facts_of(root)
        what = f"{facts.study} {facts.run} ({facts.state}, {size(bytes_used)})"
        if not typer.confirm(plain(f"Delete {what} for good?")):
            raise typer.Exit(1)
    # the import of the hub's charts takes 0.3 s: after the question
    from density_study.dags.stages.removal import remove as remove_run

    remove_run(root)
    if as_json:
        print_json({"removed": root, "size_bytes": bytes_used})
    else:
        out.print(f"removed  {root} ({size(bytes_used)})")


def only(named: Path, runs: Path) -> Path:
    """The folder of the one run that is named by folder, id, or study (its newest). InputError if it is not
    exactly one."""
    from density_study.cluster.state.journal import JOURNAL, run_folders
    from density_study.dags.run_status.status import unnamed

    if (named / JOURNAL).is_file():
        return named if named.is_symlink() else named.absolute()
    folders = run_folders(runs)
    of_study = [folder for folder in folders if folder.parent.name == str(named)]
    found = [folder for folder in folders if folder.name == str(named)] or of_study[-1:]
    if len(found) == 1:
        return found[0].absolute()
    if found:
        raise InputError(
            f"{len(found)} studies have a run with this id.",
            str(named),
            f"name the folder: {' or '.join(map(str, found))}.",
        )
    raise unnamed(named)


def size(count: float) -> str:
    """Bytes as 512 B, 1.5 MiB or 20 GiB."""
    for unit in _UNITS:
        if count < 1024 or unit == _UNITS[-1]:
            break
        count /= 1024
    return f"{count:.0f} {unit}" if count >= 10 or unit == "B" else f"{count:.1f} {unit}"


def _shown(tags: Mapping[str, str]) -> str:
    return " ".join(f"{key}={value}" for key, value in tags.items())


def _cells(facts: RunFacts, now: float, bytes_used: int) -> Iterator[str]:
    age_s = facts.age_s(now)
    age = "-" if age_s is None else duration(age_s)
    state = f"{facts.state}, {SIMULATED}" if facts.simulated else facts.state
    yield from (facts.study, facts.run, state, _opened(facts) or "-", age)
    yield "-" if facts.trials is None else f"{facts.trials_done} of {facts.trials}"
    yield from (size(bytes_used), _shown(facts.tags)[:_MOST_SHOWN] or "-")


def _opened(facts: RunFacts) -> str | None:
    if facts.opened_t is None:
        return None
    try:
        return datetime.fromtimestamp(facts.opened_t, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # no time that a clock shows
        return None


def _facts(facts: RunFacts, now: float, bytes_used: int) -> dict[str, object]:
    """The run as plain values, for other programs; null where something is not known."""
    return {
        "study": facts.study,
        "run": facts.run,
        "folder": facts.folder.absolute(),
        "state": facts.state,
        "simulated": facts.simulated,
        "opened_utc": _opened(facts),
        "age_s": facts.age_s(now),
        "trials_done": facts.trials_done,
        "trials": facts.trials,
        "size_bytes": bytes_used,
        "tags": facts.tags,
        "fault": facts.fault,
    }
