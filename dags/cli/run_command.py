"""`study run`: from a study file to its report. Thin, like dags/cli/main.py."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.extras import need
from density_study.cluster.model.plain import counted
from density_study.dags.cli.arguments import (
    RUNS,
    Anyway,
    Budget,
    Json,
    Only,
    Runs,
    Sets,
    Spec,
    Tags,
    examples,
    option,
    parse_overrides,
)
from density_study.dags.cli.console import err, given, out, print_json, print_report, progress
from density_study.dags.cli.keep_commands import EXPIRES, Expires, expiry_s, print_reach

if TYPE_CHECKING:
    from rich.console import Console

    from density_study.cluster.state.events import KeepAsked
    from density_study.dags.cli.carry_out import RunEnd
    from density_study.dags.run_status.progress import Progress
    from density_study.workloads.execution.keeping import Kept
    from density_study.workloads.execution.opening import RunRequest
    from density_study.workloads.study.study_file import StudyFile

EXAMPLES = examples(
    "study run quickstart --set repetitions=2",
    "study run quickstart --add-repetitions 4",
    "study run quickstart --only 'ycsb-*' --fresh",
    "study run quickstart --tag ticket=PERF-12",
    "study run block-cache --budget '66 min'",
    "study run quickstart --keep on-failure --expires '12 h'",
)


class Keep(StrEnum):
    ON_FAILURE = "on-failure"
    ALWAYS = "always"


def run(
    spec: Spec,
    runs: Runs = RUNS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start a new run; do not resume an unfinished one.")
    ] = False,
    sets: Sets = None,
    only: Only = None,
    add_repetitions: Annotated[
        int,
        option(
            "--add-repetitions",
            "N",
            "Extend the newest finished run by N repetitions of every topology.",
            min=0,
        ),
    ] = 0,
    as_json: Json = False,
    tags: Tags = None,
    keep: Annotated[
        Keep | None,
        typer.Option(
            "--keep",
            help="Keep a cluster for people after the report: that of the first failed trial, which ends the "
            "study, or always the last one. `study shell` uses it, `study down` ends it.",
        ),
    ] = None,
    expires: Expires = EXPIRES,
    budget: Budget = None,
    anyway: Anyway = False,
) -> None:
    """Run a study, from its file to its report.

    Resumes the newest unfinished run if the study has not changed. With --add-repetitions or --only, it
    extends a finished run by whole repetitions, in the order given by the study's seed.

    With --json, standard output is one document at the end: the run's folder, its outcome, its failures
    and the paths of its results. Progress then goes to standard error.

    Exit codes: 0 success, 1 failure (see the run's folder), 2 invalid input (nothing was started),
    130 Ctrl-C, 143 SIGTERM.
    """
    need("study run", "airflow", "spark", "report")
    from density_study.cluster.state.events import KeepAsked
    from density_study.cluster.state.run_tags import parse_tags
    from density_study.dags.airflow_home.interrupt import interruptible
    from density_study.dags.cli.carry_out import LOG
    from density_study.dags.cli.display import failure_lines, notification_lines
    from density_study.workloads.execution.opening import RunRequest

    request = RunRequest(fresh, add_repetitions, tuple(only or ()))
    wanted = parse_tags(tags or [])
    asked = KeepAsked(when=keep.value, seconds=expiry_s(expires)) if keep else None
    with interruptible():
        console = progress(err if as_json else out)
        end = _run(spec, runs, sets or [], request, wanted, asked, console, budget, anyway)
    if as_json:
        print_json(_facts(end))
        raise typer.Exit(0 if end.succeeded else 1)
    print_report(end.run.root)
    for line in (*failure_lines(end.failures), *notification_lines(end.run)):
        out.print(line)
    if not end.succeeded:
        out.print(f"failed: see {end.run.root / LOG} and records/*/logs in the same folder")
    raise typer.Exit(0 if end.succeeded else 1)


def _facts(end: RunEnd) -> dict[str, object]:
    """For other programs. `report` and `summary` are null if the analysis did not come that far."""
    report = end.run.root.absolute() / "report"
    paths = {"report": report / "index.html", "summary": report / "summary.json"}
    return {
        "study": end.run.study.study,
        "run": end.run.id,
        "folder": end.run.root.absolute(),
        "succeeded": end.succeeded,
        "failures": end.failures,
        **{name: path if path.exists() else None for name, path in paths.items()},
    }


def _run(
    spec: Path,
    runs: Path,
    sets: list[str],
    request: RunRequest,
    tags: Mapping[str, str],
    asked: KeepAsked | None,
    console: Console,
    budget: float | None,
    anyway: bool,
) -> RunEnd:
    from density_study.cluster.state.owner import Owner
    from density_study.cluster.state.run_tags import tag_run
    from density_study.dags.airflow_home.home import home
    from density_study.dags.cli.carry_out import LOG, LogFollower, carry_out
    from density_study.dags.cli.display import checklist
    from density_study.dags.cli.progress_display import progress_display
    from density_study.dags.stages.budget import fitted
    from density_study.dags.stages.earlier import Earlier
    from density_study.dags.stages.estimates import whole_s
    from density_study.dags.stages.planning import check_plan
    from density_study.workloads.base.quantity import duration
    from density_study.workloads.execution.keeping import kept
    from density_study.workloads.execution.opening import open_run
    from density_study.workloads.execution.steps import steps_left
    from density_study.workloads.study.study_file import read_study

    overrides = parse_overrides(sets)
    study = read_study(spec, overrides, recorded=True).study  # `open_run` refuses what is new
    fit_s, earlier = budget or study.fit_s, Earlier(study, runs)

    def fit() -> StudyFile:
        within = fitted(spec, overrides, earlier, fit_s or 0.0, only=request.only)
        console.print(f"budget: {within.chosen}")
        return within.made.file

    with checklist(console) as report:
        opened = open_run(
            spec,
            runs,
            overrides,
            fit=fit if fit_s else None,
            request=request,
            owner=Owner.of_process(os.getpid(), holds_lock=True),
            check=None if anyway else lambda study, plan: check_plan(study, plan, spec, earlier),
            report=report,
        )
    tag_run(opened.root, tags)
    if asked:
        opened.journal.record(asked)
    left = steps_left(opened)
    estimate = duration(whole_s(earlier.pace.of_steps(left), opened.study.budget))
    trials = sum(step.kind == "trial" for step in left)
    console.print(f"study {opened.study.study}: {counted(trials, 'trial')}, about {estimate}")
    console.print(f"run   {opened.root}")
    told: list[Kept] = []
    log = LogFollower(opened.root / LOG) if given().verbose else None
    with progress_display(console, opened.plan) as show:

        def shown(seen: Progress) -> None:
            show(seen)
            if log:
                err.print(log.new_text(), end="")
            if seen.kept and not told and (found := kept()):
                told.append(found)
                print_reach(found, console)

        return carry_out(opened, home(), shown)
