"""The `study` command. Thin: each command calls one function and shows what it returns.

Nothing heavy is imported before a command needs it: no Airflow, no Spark, in this process at all but
for `study report`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from cluster.model.errors import StudyError
from dags.cli import capacity_command, compare_command, report_command, run_command
from dags.cli.arguments import RUNS, Named, Only, Runs, Sets, Spec
from dags.cli.console import err, out, print_error

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
    study run workloads/studies/quickstart.yaml --set repetitions=2
    study list
    study status
    study report runs/quickstart/20261120T201530Z
    study capacity fit --points points.csv -o model.json
    study reap --dry-run
""",
)
app.add_typer(capacity_command.app)
run_command.add_to(app)
compare_command.add_to(app)
report_command.add_to(app)


@app.command(epilog="Example:  `study plan workloads/studies/quickstart.yaml --set repetitions=5`")
def plan(
    spec: Spec,
    runs: Runs = RUNS,
    sets: Sets = None,
    only: Only = None,
    effect: Annotated[
        float,
        typer.Option(
            "--effect", metavar="RATIO", min=0.01, help="Tell the repetitions this effect needs."
        ),
    ] = 1.2,
) -> None:
    """What would run, in what order, how long it would take, and what it could show. Starts nothing, and
    writes nothing: which medium a disk is, `study run` probes.

    A study whose hypotheses could never be decided, or whose comparison over time cannot show its own
    tolerance, is refused.
    """
    from analysis.findings.power_of_design import notes, warnings
    from dags.cli.display import plan_page
    from dags.cli.overrides import parse_overrides
    from dags.run_status.progress import ANALYSIS_ESTIMATE_S
    from dags.stages.planning import check_plan, noise
    from workloads.planning.planned_study import plan_study
    from workloads.planning.preflight import disk_need_mib, disks_too_small
    from workloads.planning.resolve import assumptions

    made = plan_study(spec, parse_overrides(sets or []), runs, tuple(only or ()))
    study, planned = made.study, made.plan
    seen = noise(study, runs)
    told = tuple(notes(study, planned, seen, effect))
    need_mib = disk_need_mib(study)
    hosts = next(iter(planned.topologies.values())).hosts
    warned = (
        *warnings(study, planned),
        *assumptions(study, hosts),
        *disks_too_small(study, planned, runs),
    )
    out.print(plan_page(planned, need_mib, ANALYSIS_ESTIMATE_S, told, warned))
    check_plan(study, planned, spec, runs)


@app.command(name="list", epilog="Example:  `study list --runs runs`")
def list_runs(runs: Runs = RUNS) -> None:
    """The runs, oldest first: study, id, state, when it was opened, trials done."""
    from dags.cli.display import rows_table
    from dags.run_status.listing import HEADER, listed

    rows = list(listed(runs))
    out.print(rows_table(HEADER, rows) if rows else f"there is no run in {runs}")


@app.command(epilog="Example:  `study status runs/quickstart/20261120T201530Z`")
def status(run: Named = None, runs: Runs = RUNS) -> None:
    """How far a run is: state, step, elapsed time, failures."""
    from dags.cli.display import status_page
    from dags.run_status.status import find_run, status_of

    out.print(status_page(status_of(find_run(run, runs))))


@app.command(epilog="Example:  `study reap --dry-run`")
def reap(
    runs: Runs = RUNS,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be removed; remove nothing.")
    ] = False,
    force: Annotated[
        str | None,
        typer.Option(
            "--force",
            metavar="OWNER",
            help="Reap the runs of this owner, too. Only if you know that it is dead: it cannot be "
            "seen from here. `study reap` prints the owner's name.",
        ),
    ] = None,
) -> None:
    """Remove what killed runs left (processes, data, leases), and prove it gone.

    A run whose owner runs in another container or on another host is left alone, unless the kernel's
    lock on the run shows that the owner has ended.
    """
    from dags.stages import study_stages

    swept = study_stages.reap(runs, dry_run, force)
    for each in swept.reaped:
        out.print(f"{each.tag}: {'would remove' if dry_run else 'removed'}", markup=False)
        for one in each.removed:
            out.print(f"  {one}", markup=False, soft_wrap=True)
    for left in swept.left_alone:
        out.print(str(left), markup=False, soft_wrap=True)
    if swept.reaped and not dry_run:
        out.print("gone: each was looked for again, and not found")
    elif not swept.reaped and not swept.left_alone:
        out.print("nothing is left of any run")


@contextmanager
def _errors_shown() -> Iterator[None]:
    """Errors a user can act on become a message and an exit code; others keep their traceback."""
    try:
        yield
    except StudyError as error:
        print_error(error)
        sys.exit(error.exit_code)


def main() -> None:
    """Entry point of the `study` command."""
    from dags.airflow_home.interrupt import Interrupted

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
