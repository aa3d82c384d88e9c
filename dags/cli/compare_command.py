"""`study compare`: did the cluster get slower? Thin, like dags/cli/main.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from cluster.model.errors import InputError
from workloads.spec.schedule import Baseline, CompareSpec, parse_baseline, percent

out = Console(highlight=False)
RUNS = Path("runs")

RunName = Annotated[Path | None, typer.Argument(metavar="RUN", help="A run's folder, or its id.")]


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="""Examples:

    study compare 20261114T020003Z 20261121T020003Z
    study compare runs/nightly/20261121T020003Z --baseline 'rolling 5' --tolerance 10%
"""
    )(compare)


def compare(
    first: RunName = None,
    later: RunName = None,
    runs: Annotated[
        Path, typer.Option("--runs", metavar="DIR", help="Where runs are kept.")
    ] = RUNS,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="`rolling N`, or a run's id. Default: the study's."),
    ] = None,
    tolerance: Annotated[
        str | None, typer.Option("--tolerance", help="Such as 5%. Default: the study's, else 5%.")
    ] = None,
) -> None:
    """Did the cluster get slower? With two runs, the second against the first; with one, or none
    (the newest), against the baseline. Both must be analysed.

    Exit code: 1 if a number changed for the worse by more than the tolerance, else 0.
    """
    from dags.run_status.status import find_run
    from dags.stages.comparison import compare_with, comparison_lines

    run = find_run(later or first, runs)
    spec = run.study.compare
    pinned = find_run(first, runs).root if later and first else None
    if pinned is not None and pinned.parent != run.root.parent:
        raise InputError("it is a run of another study.", str(pinned), "name runs of one study.")
    against = Baseline(run=pinned.name) if pinned else _baseline(baseline, spec)
    share = _tolerance(tolerance, spec)
    compared = compare_with(run.root, against, share)
    if compared is None:
        raise InputError(
            "there is no earlier run to compare with.", str(run.root), "run the study again later."
        )
    for line in comparison_lines(compared):
        out.print(line, markup=False, soft_wrap=True)
    raise typer.Exit(1 if compared.regressions else 0)


def _baseline(text: str | None, spec: CompareSpec | None) -> Baseline:
    if text is None:
        return spec.baseline if spec else Baseline(rolling=1)
    try:
        return parse_baseline(text)
    except ValueError as error:
        raise _refused(error, "--baseline") from error


def _tolerance(text: str | None, spec: CompareSpec | None) -> float:
    if text is None:
        return spec.tolerance if spec else 0.05
    try:
        return percent(text)
    except ValueError as error:
        raise _refused(error, "--tolerance") from error


def _refused(error: ValueError, option: str) -> InputError:
    return InputError(f"{error}.", option, "correct the value.")
