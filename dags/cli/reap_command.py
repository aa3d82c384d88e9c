"""`study reap`: remove what this user's killed runs left. Thin, like dags/cli/main.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.dags.cli.arguments import RUNS, Json, Runs, examples, option
from density_study.dags.cli.console import err, out, print_json

if TYPE_CHECKING:
    from density_study.cluster.lifecycle.reap import Swept

EXAMPLES = examples("study reap --dry-run", "study reap --claim runs/quickstart/20261120T201530Z")


def reap(
    runs: Runs = RUNS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be removed; remove nothing.")
    ] = False,
    force: Annotated[
        str | None,
        option(
            "--force",
            "OWNER",
            "Also reap the runs of this owner, which cannot be checked from this machine. Use "
            "it only if you know that the owner is dead. `study reap` prints the owner's name.",
        ),
    ] = None,
    claim: Annotated[
        Path | None,
        option(
            "--claim",
            "RUN",
            "Register this run, by folder or id, as your own, and reap nothing. Use it only for a "
            "run that you opened, when the registry of your runs was lost or is on another machine.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Remove the leftovers of your killed runs (processes, data, leases) and verify that they are gone.

    A run that you have not opened is left alone. So is a run with its owner in another container or on
    another host, unless the kernel's lock on the run shows that the owner has ended.

    Exit codes: 0 done, 1 a run could not be reaped (the others are), 2 invalid input.
    """
    from density_study.dags.stages import study_stages

    if claim is not None:
        _claim(claim, runs, as_json)
        return
    swept = study_stages.reap(runs, dry_run, (force,) if force else ())
    if as_json:
        print_json(
            {
                "dry_run": dry_run,
                "reaped": swept.reaped,
                "left_alone": swept.left_alone,
                "failed": swept.failed,
                "abandoned": swept.abandoned,
            }
        )
    else:
        _print(swept, dry_run)
    if swept.failed:
        raise typer.Exit(1)


def _print(swept: Swept, dry_run: bool) -> None:
    removed = (*swept.abandoned, *swept.reaped)
    for each in removed:
        out.print(f"{each.tag}: {'would remove' if dry_run else 'removed'}")
        for item in each.removed:
            out.print(f"  {item}")
    for left in swept.left_alone:
        out.print(str(left))
    if removed and not dry_run:
        out.print("Verified: everything listed is gone.")
    elif not removed and not swept.left_alone and not swept.failed:
        out.print("Nothing to remove.")
    for failed in swept.failed:
        err.print(f"error: {failed}")


def _claim(named: Path, runs: Path, as_json: bool) -> None:
    from density_study.cluster.lifecycle.reap import claim
    from density_study.dags.cli.list_command import only

    root = only(named, runs)
    claim(root)
    if as_json:
        print_json({"claimed": root})
    else:
        out.print(f"claimed  {root}; `study reap` now removes what it left")
