"""The `study` command. Thin: each command calls one function and shows what it returns.

Nothing heavy is imported before a command needs it: no Airflow, no Spark, in this process at all but
for `study report`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from cluster.errors import BringUpError, StudyError
from dags import capacity_command, compare_command

if TYPE_CHECKING:
    from dags.running import RunEnd
    from workloads.run import Ask

RUNS = Path("runs")

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""How many VMs per host, and on which disks? Builds the clusters a study names, runs its
    workloads on them, and reports what can be claimed.""",
    epilog="""
Examples:

    study plan workloads/studies/quickstart.yaml
    study run workloads/studies/quickstart.yaml --set blocks=2
    study status
    study report runs/quickstart/20261120T201530Z
    study capacity fit --points points.csv -o model.json
    study reap --dry-run
""",
)
app.add_typer(capacity_command.app)
compare_command.add_to(app)
LOG_WIDTH = 132
"""Columns of what goes to a file or a pipe, where a terminal has its own: no row shall be broken."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
err = Console(stderr=True, highlight=False)

Spec = Annotated[Path, typer.Argument(metavar="SPEC", help="The study's YAML file.")]
Runs = Annotated[Path, typer.Option("--runs", metavar="DIR", help="Where runs are kept.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a key of the study: blocks=2, stack.base_port=22000. May be repeated.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="GLOB",
        help="Only the settings whose id matches: 'ycsb-*'. May be repeated.",
    ),
]
Named = Annotated[
    Path | None,
    typer.Argument(metavar="RUN", help="A run's folder, or its id. Left out: the newest run."),
]


class YesNo(StrEnum):
    yes = "yes"
    no = "no"


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    csv = "csv"
    json = "json"


@app.command(
    epilog="""Examples:

    study run workloads/studies/quickstart.yaml --set blocks=2
    study run workloads/studies/quickstart.yaml --add-blocks 4
    study run workloads/studies/quickstart.yaml --only 'ycsb-*' --fresh
"""
)
def run(
    spec: Spec,
    runs: Runs = RUNS,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start anew; do not go on with an unfinished run.")
    ] = False,
    sets: Sets = None,
    only: Only = None,
    add_blocks: Annotated[
        int,
        typer.Option(
            "--add-blocks",
            metavar="N",
            min=0,
            help="Extend the newest finished run: build every topology N times more.",
        ),
    ] = 0,
) -> None:
    """Carry out a study, from its file to its report.

    Goes on with the newest unfinished run if its study is unchanged. With --add-blocks, or --only, a
    finished run is extended by whole blocks; their order is the one that the study's seed gives.

    Exit code: 0 success, 1 failed (the run's folder says why), 2 bad input (nothing was started),
    130 Ctrl-C, 143 SIGTERM.
    """
    from dags.interrupt import interruptible
    from workloads.run import Ask

    with interruptible():
        end = _run(spec, runs, sets or [], Ask(fresh, add_blocks, tuple(only or ())))
    _print_end(end)
    raise typer.Exit(0 if end.succeeded else 1)


def _run(spec: Path, runs: Path, sets: list[str], ask: Ask) -> RunEnd:
    from dags.display import clock, progress_display
    from dags.home import home
    from dags.overrides import parse_overrides
    from dags.planning import check
    from dags.progress import ANALYSIS_ESTIMATE_S
    from dags.running import carry_out
    from workloads.run import open_run
    from workloads.steps import steps_left

    overrides = parse_overrides(sets)
    if not ask.add_blocks:
        check(spec, overrides, runs, ask.only)
    opened = open_run(spec, runs, overrides, ask=ask)
    left = steps_left(opened)
    estimate = clock(sum(step.estimate_s for step in left) + ANALYSIS_ESTIMATE_S)
    trials = sum(step.kind == "trial" for step in left)
    out.print(f"study {opened.study.study}: {trials} trials, about {estimate}", markup=False)
    out.print(f"run   {opened.root}", markup=False, soft_wrap=True)
    with progress_display(out) as show:
        return carry_out(opened, home(), show)


def _print_end(end: RunEnd) -> None:
    from dags.display import failure_lines
    from dags.running import LOG

    _print_report(end.run.root)
    for line in failure_lines(end.failures):
        out.print(line, soft_wrap=True)
    if not end.succeeded:
        out.print(f"failed: see {end.run.root / LOG}, and records/*/logs beside it",
                  markup=False, soft_wrap=True)  # fmt: skip


def _print_report(root: Path) -> None:
    """The summary table, and where the report is; nothing where the run came to none."""
    summary = root / "report" / "summary.json"
    if not summary.exists():
        return
    from analysis.report.table import summary_header, summary_rows
    from analysis.summary import Summary
    from dags.display import rows_table

    value = Summary.model_validate_json(summary.read_text(encoding="utf-8"))
    out.print(rows_table(summary_header(value), summary_rows(value)))
    out.print(Text(f"\n{value.answer}", style="bold"))
    out.print(f"report   {root / 'report' / 'index.html'}", markup=False, soft_wrap=True)
    out.print(f"numbers  {summary}", markup=False, soft_wrap=True)


def _print_format(root: Path, form: Format) -> None:
    """The summary alone on standard output, byte for byte, so that it can be piped."""
    from analysis.report.__main__ import load
    from analysis.report.formats import FORMATS

    sys.stdout.write(FORMATS[form](load(root / "report" / "summary.json")))


@app.command(epilog="Example:  `study plan workloads/studies/quickstart.yaml --set blocks=5`")
def plan(
    spec: Spec,
    runs: Runs = RUNS,
    sets: Sets = None,
    only: Only = None,
    effect: Annotated[
        float,
        typer.Option(
            "--effect", metavar="RATIO", min=0.01, help="Tell the blocks this effect needs."
        ),
    ] = 1.2,
) -> None:
    """What would run, in what order, how long it would take, and what it could show. Starts nothing.

    A study whose hypotheses could never be decided, or whose comparison over time cannot show its own
    tolerance, is refused.
    """
    from analysis.planning import notes, warnings
    from dags.display import plan_page
    from dags.overrides import parse_overrides
    from dags.planning import check_plan, noise
    from dags.progress import ANALYSIS_ESTIMATE_S
    from workloads.preflight import disk_need_mib
    from workloads.run import plan_study
    from workloads.study_file import read_study

    overrides = parse_overrides(sets or [])
    planned = plan_study(spec, overrides, runs, tuple(only or ()))
    study = read_study(spec, overrides).study
    seen = noise(study, runs)
    told = tuple(notes(study, planned, seen, effect))
    need_mib = disk_need_mib(study)
    out.print(
        plan_page(planned, need_mib, ANALYSIS_ESTIMATE_S, told, tuple(warnings(study, planned)))
    )
    check_plan(study, planned, spec, runs)


@app.command(epilog="Example:  `study status runs/quickstart/20261120T201530Z`")
def status(run: Named = None, runs: Runs = RUNS) -> None:
    """How far a run is: state, step, elapsed time, failures."""
    from dags.display import status_page
    from dags.status import find_run, status_of

    out.print(status_page(status_of(find_run(run, runs))))


@app.command(epilog="Example:  `study report runs/quickstart/20261120T201530Z --open no`")
def report(
    run: Named = None,
    runs: Runs = RUNS,
    browse: Annotated[
        YesNo, typer.Option("--open", help="Whether to show the report in a browser.")
    ] = YesNo.no,
    form: Annotated[
        Format, typer.Option("--format", help="html writes the page; others go to standard output.")
    ] = Format.html,
) -> None:
    """Analyse a run again from its records, without a cluster, and write its report.

    CSV has a row for each number of each setting; JSON is summary.json.
    """
    from dags.status import find_run

    found = find_run(run, runs)
    with err.status("analysing the records"):
        from jobs.pipeline import analyse

        analyse(found.root)
    if form is Format.html:
        _print_report(found.root)
    else:
        _print_format(found.root, form)
    if browse is YesNo.yes:
        typer.launch(str(found.root / "report" / "index.html"))


@app.command(epilog="Example:  `study reap --dry-run`")
def reap(
    runs: Runs = RUNS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed; remove nothing.")
    ] = False,
) -> None:
    """Remove what killed runs left (processes, data, leases), and prove it gone."""
    from dags import stages

    reaped = stages.reap(runs, dry_run)
    if not reaped:
        out.print("nothing is left of any run")
    for each in reaped:
        out.print(f"{each.mark}: {'would remove' if dry_run else 'removed'}", markup=False)
        for one in each.removed:
            out.print(f"  {one}", markup=False, soft_wrap=True)
    if reaped and not dry_run:
        out.print("gone: each was looked for again, and not found")


@contextmanager
def _errors_shown() -> Iterator[None]:
    """Errors a user can act on become a message and an exit code; others keep their traceback."""
    try:
        yield
    except StudyError as error:
        _print_error(error)
        sys.exit(error.exit_code)


def _print_error(error: StudyError) -> None:
    """What, where, remedy; and the last lines of a daemon, where the error has them."""
    place = Text.assemble(("error: ", "bold red"), f"{error.where}: {error.what}")
    err.print(place, Text(f"remedy: {error.remedy}"), sep="\n", soft_wrap=True)
    if isinstance(error, BringUpError) and error.log_tail:
        err.print(Text(f"--- last lines of {error.daemon} ---\n{error.log_tail}"), soft_wrap=True)


def main() -> None:
    """Entry point of the `study` command."""
    from dags.interrupt import Interrupted

    try:
        with _errors_shown():
            app()
    except Interrupted as interrupted:
        err.print(
            f"stopped by {interrupted}: nothing of the run is left running, a trial it was in is "
            "recorded as incomplete; the same command goes on from there",
            markup=False,
            soft_wrap=True,
        )
        sys.exit(interrupted.exit_code)


if __name__ == "__main__":
    main()
