"""`study capacity`: size a cluster from measured curves. Thin, like dags/cli/main.py."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import Json, PointsFile, Source, examples, option
from density_study.dags.cli.capacity import imported, sizing, standing
from density_study.dags.cli.capacity.inputs import analysed_run
from density_study.dags.cli.console import out, print_json

if TYPE_CHECKING:
    from density_study.analysis.capacity.accuracy.hold_out_load import LoadMiss
    from density_study.analysis.capacity.inputs.point import Point


class HoldOut(StrEnum):
    hosts = "hosts"
    density = "density"
    largest = "largest"


app = typer.Typer(
    name="capacity",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="""Size a cluster from measured curves: hosts, VMs per host, disk types, cost per genome.""",
    epilog=examples(
        "study capacity fit --points points.csv -o model.json",
        "study capacity check model.json --hold-out hosts",
        "study capacity explain model.json --group hdfs-read --disk-type flash --count 6",
        sizing.SIZE_EXAMPLE,
        sizing.OPERATIONS_EXAMPLE,
        sizing.WHATIF_EXAMPLE,
        standing.CARRY_EXAMPLE,
    ),
)


@app.command(epilog=examples("study capacity fit --points points.csv -o model.json"))
def fit(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN...", help="Analysed runs: folders, ids, or studies for their newest run."
        ),
    ] = None,
    points: PointsFile = None,
    output: Annotated[Path, option("--output -o", "JSON", "Output file of the model.")] = Path(
        "model.json"
    ),
    as_json: Json = False,
) -> None:
    """Fit scaling, density, utilization and latency curves to analysed runs or to CSV files."""
    from density_study.analysis.capacity.curves.fit import fit as fit_points
    from density_study.analysis.capacity.curves.model import write_model
    from density_study.dags.cli.capacity.display import model_page

    measured, sources = _measured(runs or [], points or [])
    model = fit_points(measured, sources)
    write_model(model, output)
    if as_json:
        print_json(model)
        return
    out.print(model_page(model))
    out.print(f"model    {output}")


def _measured(runs: list[Path], files: list[Path]) -> tuple[list[Point], list[str]]:
    """The points of all sources, and the sources; the example's are labelled. InputError without a source."""
    from density_study.analysis.capacity.inputs.example import labelled
    from density_study.analysis.capacity.inputs.point_slips import check_names
    from density_study.analysis.capacity.inputs.points import read_points

    if not runs and not files:
        raise InputError(
            "no input is named.", "study capacity fit", "name a run, or use --points points.csv."
        )
    for run in runs:
        if run.is_file():
            raise InputError(
                "this is a file, not the folder of a run.",
                str(run),
                f"for a CSV file of points, use study capacity fit --points {run}.",
            )
    found = [(str(file), read_points(file)) for file in files]
    if runs:
        from density_study.analysis.capacity.inputs.run_points import run_points

        found = [*((str(run), run_points(analysed_run(run))) for run in runs), *found]
    measured = [point for _, points in found for point in points]
    check_names(measured)
    return measured, [labelled(source, points) for source, points in found]


@app.command(epilog=examples("study capacity check model.json --hold-out hosts"))
def check(
    source: Source,
    hold_out: Annotated[
        HoldOut, typer.Option("--hold-out", help="What to leave out and predict from the rest.")
    ] = HoldOut.hosts,
    as_json: Json = False,
) -> None:
    """Cross-validate a model: leave points out, predict them, and check the accuracy goals.

    Exit codes: 0 no goal missed (a goal with too few points counts as undecided), 1 a goal missed,
    2 invalid input.
    """
    from density_study.analysis.capacity.accuracy.goals import judged, judged_under_load
    from density_study.analysis.capacity.accuracy.hold_out import hold_out as predict_left_out
    from density_study.analysis.capacity.accuracy.hold_out import left_out
    from density_study.dags.cli.capacity.display import check_page

    points = _points_of(source)
    misses = predict_left_out(points, hold_out.value)
    goals = judged(misses, hold_out.value)
    under_load: tuple[LoadMiss, ...] = ()
    if hold_out is HoldOut.density:
        from density_study.analysis.capacity.accuracy.hold_out_load import hold_out_load

        under_load = hold_out_load(points)
        goals += judged_under_load(under_load)
    unused = left_out(points, misses, hold_out.value)
    if as_json:
        print_json({"goals": goals, "misses": misses, "under_load": under_load, "unused": unused})
    else:
        out.print(check_page(misses, goals, hold_out.value, under_load, unused))
    raise typer.Exit(1 if any(goal.outcome == "missed" for goal in goals) else 0)


def _points_of(source: Path) -> tuple[Point, ...]:
    from density_study.analysis.capacity.curves.model import read_model
    from density_study.analysis.capacity.inputs.points import read_points

    if source.is_dir():
        raise InputError(
            "this is a folder, not a model or a CSV file of points.",
            str(source),
            f"for a run, use study capacity fit {source} -o model.json, then check model.json.",
        )
    return read_model(source).points if source.suffix.lower() == ".json" else read_points(source)


@app.command(epilog=examples("study capacity explain model.json --group sort --count 6"))
def explain(
    source: Source,
    group: Annotated[str, typer.Option("--group", help="Measured group.")],
    hosts: Annotated[int, typer.Option("--count", min=1, help="Number of hosts to predict for.")],
    disk_type: Annotated[
        str,
        typer.Option(
            "--disk-type", help="Required if the group was measured on several disk types."
        ),
    ] = "",
    vms_per_host: Annotated[int, typer.Option("--vms-per-host", min=0, help="Density.")] = 1,
    as_json: Json = False,
) -> None:
    """Print one curve with its formulas, parameters, weights and interval, to check by hand.

    Exit codes: 0 the points support a number, 1 they do not, 2 invalid input.
    """
    from density_study.analysis.capacity.curves.explain import explain as explained
    from density_study.analysis.capacity.curves.explain import surface_of
    from density_study.dags.cli.capacity.display import explanation_page

    surface = surface_of(_points_of(source), group, disk_type)
    found = explained(surface, vms_per_host, hosts)
    if as_json:
        print_json(found.facts())
    else:
        out.print(explanation_page(found))
    raise typer.Exit(0 if found.is_supported else 1)


app.command(epilog=examples(sizing.SIZE_EXAMPLE, sizing.OPERATIONS_EXAMPLE))(sizing.size)
app.command(epilog=examples(sizing.WHATIF_EXAMPLE))(sizing.whatif)
app.command("import-trace", epilog=examples("study capacity import-trace trace.txt -o mine.yaml"))(
    imported.import_trace
)
app.command(epilog=examples(standing.CARRY_EXAMPLE))(standing.carry)
app.command("years", epilog=examples(standing.YEARS_EXAMPLE))(standing.years_of_growth)
