"""`study capacity`: from measured curves to a purchase. Thin, like dags/cli.py."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from analysis.capacity.points import Point

out = Console(highlight=False)
if not out.is_terminal:
    out.width = 132  # a pipe or a file has no width of its own

app = typer.Typer(
    name="capacity",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Plan a purchase from measured curves: hosts, VMs per host, media, cost per genome.""",
    epilog="""
Examples:

    study capacity fit --points analysis/capacity/examples/points.csv -o model.json
    study capacity check model.json --hold-out hosts
""",
)


class HoldOut(StrEnum):
    hosts = "hosts"
    density = "density"
    largest = "largest"


PointsFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--points",
        metavar="CSV",
        help="Measured points: group, hosts, vms_per_host, medium, value, unit, repetition.",
    ),
]


@app.command(epilog="Example:  `study capacity fit --points points.csv -o model.json`")
def fit(
    runs: Annotated[
        list[Path] | None, typer.Argument(metavar="RUN...", help="Folders of analysed runs.")
    ] = None,
    points: PointsFile = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="JSON", help="Where the model goes.")
    ] = Path("model.json"),
) -> None:
    """Fit scaling, density, utilization and latency curves to a study's tables, or to a CSV file."""
    from analysis.capacity.fit import fit as fit_points
    from analysis.capacity.model import write_model
    from dags.capacity_display import model_page

    measured, sources = _measured(runs or [], points or [])
    model = fit_points(measured, sources)
    write_model(model, output)
    out.print(model_page(model))
    out.print(f"model    {output}", markup=False, soft_wrap=True)


def _measured(runs: list[Path], files: list[Path]) -> tuple[list[Point], list[str]]:
    """The points of all sources. InputError if none is named."""
    from analysis.capacity.points import read_points
    from cluster.errors import InputError

    if not runs and not files:
        raise InputError(
            "there is nothing to fit.", "study capacity fit", "name a run, or --points points.csv."
        )
    measured = [point for file in files for point in read_points(file)]
    if runs:
        from analysis.capacity.run_points import run_points

        measured += [point for run in runs for point in run_points(run)]
    return measured, [str(source) for source in (*runs, *files)]


@app.command(epilog="Example:  `study capacity check model.json --hold-out hosts`")
def check(
    source: Annotated[
        Path, typer.Argument(metavar="MODEL|CSV", help="A model.json, or a CSV file of points.")
    ],
    hold_out: Annotated[
        HoldOut, typer.Option("--hold-out", help="What is left out and predicted from the rest.")
    ] = HoldOut.hosts,
) -> None:
    """Leave points out, predict them, and hold the misses against the accuracy goals.

    Exit code: 0 all goals met or not decidable on so few points, 1 a goal missed, 2 bad input.
    """
    from analysis.capacity.goals import judged
    from analysis.capacity.hold_out import hold_out as left_out
    from dags.capacity_display import check_page

    misses = left_out(_points_of(source), hold_out.value)
    goals = judged(misses, hold_out.value)
    out.print(check_page(misses, goals, hold_out.value))
    raise typer.Exit(1 if any(goal.outcome == "missed" for goal in goals) else 0)


def _points_of(source: Path) -> tuple[Point, ...]:
    if source.suffix.lower() == ".json":
        from analysis.capacity.model import read_model

        return read_model(source).points
    from analysis.capacity.points import read_points

    return read_points(source)
