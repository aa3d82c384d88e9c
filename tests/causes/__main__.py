"""`python -m tests.causes [NAME...]`: disturb, analyse, score. Exit code 1: a goal is missed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

import typer

from tests.causes import page
from tests.causes.disturbance import Disturbance, disturbances
from tests.causes.injections import needs
from tests.causes.library import QUIET, carried_out, quiet_trials
from tests.causes.score import read_trials, score

STUDY = Path(sys.executable).with_name("study")


def main(
    names: Annotated[list[str] | None, typer.Argument(help="globs; all if left out")] = None,
    trials: Annotated[int, typer.Option(min=1, help="Of each disturbance.")] = 1,
    quiet: Annotated[int, typer.Option(min=1, help="Quiet trials of all.")] = 20,
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs"),
    fresh: Annotated[bool, typer.Option(help="Begin anew; else resume.")] = False,
    only_score: Annotated[bool, typer.Option(help="Analyse and score what was run.")] = False,
    write: Annotated[bool, typer.Option(help="Write docs/known-answers.md.")] = False,
) -> None:
    """Disturb a small cluster in known ways, and score what the analysis names. Every run in the folder and
    below counts, so that parts may be run one after the other."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no cluster is left
    known = disturbances()
    if not only_score:
        if obstacle := needs():
            raise typer.BadParameter(obstacle)
        run_parts(_chosen(known, names or ["*"]), trials, quiet, runs, fresh)
    found = sorted(runs.glob("**/causes-*/2*"))
    analyse(found)
    done = [trial for run in found for trial in read_trials(run)]
    result = score(done, known)
    print(page.section(result, known))
    if write:
        page.write(result, done, known)
    raise typer.Exit(int(not result.holds))


def run_parts(
    chosen: Sequence[Disturbance], trials: int, quiet: int, runs: Path, fresh: bool = False
) -> list[Path]:
    """A run of each workload. Their folders."""
    roots = []
    for workload in dict.fromkeys(one.workload for one in chosen):
        kinds = [one.name for one in chosen if one.workload == workload] * trials
        kinds += [QUIET] * quiet_trials(quiet, len(kinds), len(chosen) * trials)
        roots.append(carried_out(workload, kinds, runs, fresh))
    return roots


def analyse(runs: Sequence[Path]) -> None:
    """With the present rules, whatever analysed them before. CalledProcessError if that fails."""
    for run in runs:
        folder = run.parents[1]
        subprocess.run([STUDY, "report", str(run), "--runs", str(folder)], check=True)


def _chosen(known: dict[str, Disturbance], globs: Sequence[str]) -> list[Disturbance]:
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in known):
            raise typer.BadParameter(f"there is no {glob}; there are {', '.join(known)}")
    return [one for name, one in known.items() if any(fnmatchcase(name, g) for g in globs)]


if __name__ == "__main__":
    typer.run(main)
