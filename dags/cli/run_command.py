"""`study run`: from a study's file to its report. Thin, like dags/cli/main.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dags.cli.arguments import RUNS, Only, Runs, Sets, Spec
from dags.cli.console import out, print_report

if TYPE_CHECKING:
    from dags.cli.carry_out import RunEnd
    from workloads.execution.run import RunRequest


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="""Examples:

    study run workloads/studies/quickstart.yaml --set repetitions=2
    study run workloads/studies/quickstart.yaml --add-repetitions 4
    study run workloads/studies/quickstart.yaml --only 'ycsb-*' --fresh
"""
    )(run)


def run(
    spec: Spec,
    runs: Runs = RUNS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew; do not go on with an unfinished run.")
    ] = False,
    sets: Sets = None,
    only: Only = None,
    add_repetitions: Annotated[
        int,
        typer.Option(
            "--add-repetitions",
            metavar="N",
            min=0,
            help="Extend the newest finished run: build every topology N times more.",
        ),
    ] = 0,
) -> None:
    """Carry out a study, from its file to its report.

    Goes on with the newest unfinished run if its study is unchanged. With --add-repetitions, or --only, a
    finished run is extended by whole repetitions; their order is the one that the study's seed gives.

    Exit code: 0 success, 1 failed (the run's folder says why), 2 bad input (nothing was started),
    130 Ctrl-C, 143 SIGTERM.
    """
    from dags.airflow_home.interrupt import interruptible
    from workloads.execution.run import RunRequest

    with interruptible():
        end = _run(spec, runs, sets or [], RunRequest(fresh, add_repetitions, tuple(only or ())))
    _print_end(end)
    raise typer.Exit(0 if end.succeeded else 1)


def _run(spec: Path, runs: Path, sets: list[str], request: RunRequest) -> RunEnd:
    from cluster.state.owner import Owner
    from dags.airflow_home.home import home
    from dags.cli.carry_out import carry_out
    from dags.cli.display import clock, progress_display
    from dags.cli.overrides import parse_overrides
    from dags.run_status.progress import ANALYSIS_ESTIMATE_S
    from dags.stages.planning import check_plan
    from workloads.execution.run import open_run
    from workloads.execution.steps import steps_left

    opened = open_run(
        spec,
        runs,
        parse_overrides(sets),
        request=request,
        owner=Owner.of_process(os.getpid(), holds_lock=True),
        check=lambda study, plan: check_plan(study, plan, spec, runs),
    )
    left = steps_left(opened)
    estimate = clock(sum(step.estimate_s for step in left) + ANALYSIS_ESTIMATE_S)
    trials = sum(step.kind == "trial" for step in left)
    out.print(f"study {opened.study.study}: {trials} trials, about {estimate}", markup=False)
    out.print(f"run   {opened.root}", markup=False, soft_wrap=True)
    with progress_display(out) as show:
        return carry_out(opened, home(), show)


def _print_end(end: RunEnd) -> None:
    from dags.cli.carry_out import LOG
    from dags.cli.display import failure_lines

    print_report(end.run.root)
    for line in failure_lines(end.failures):
        out.print(line, soft_wrap=True)
    if not end.succeeded:
        out.print(f"failed: see {end.run.root / LOG}, and records/*/logs beside it",
                  markup=False, soft_wrap=True)  # fmt: skip
