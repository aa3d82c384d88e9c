"""`study capacity size` and `whatif`: hosts for a load. Thin, like command.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import (
    RUNS,
    Draws,
    Hosts,
    Json,
    Mapped,
    ModelFile,
    PerDay,
    ProfileName,
    Seed,
    Slo,
    option,
)
from density_study.dags.cli.capacity.inputs import (
    PROFILE,
    SEED,
    DataGib,
    Format,
    Mix,
    PlanOptions,
    ReadP99,
    Split,
    refuse_unused,
)
from density_study.dags.cli.console import err, out, print_json

if TYPE_CHECKING:
    from density_study.analysis.capacity.curves.model import Model
    from density_study.analysis.capacity.inputs.profile import Profile
    from density_study.analysis.capacity.operations.load import Load
    from density_study.analysis.capacity.plan.operations import OperationsPlan
    from density_study.analysis.capacity.plan.plan import Excuse, Plan

SIZE_EXAMPLE = (
    "study capacity size --genomes-per-day 100 --hosts catalog.yaml --model model.json"
    " --slo turnaround_p95=24h --slo query_p95=3s"
)
OPERATIONS_EXAMPLE = (
    "study capacity size --ops 250k/s --mix a --read-p99 10ms --hosts catalog.yaml"
    " --model model.json"
)
WHATIF_EXAMPLE = (
    "study capacity whatif --genomes-per-day 100 --hosts catalog.yaml --model model.json"
    " -o whatif.svg"
)


def size(
    hosts: Hosts,
    model: ModelFile,
    genomes_per_day: Annotated[
        float | None, option("--genomes-per-day", "N", "Load, in genomes per day.")
    ] = None,
    ops: Annotated[
        str | None, option("--ops", "RATE", "Load, in operations: 250k/s or 1,000,000/s.")
    ] = None,
    mix: Mix = None,
    read_p99: ReadP99 = None,
    data_gib: DataGib = None,
    split: Split = False,
    profile: ProfileName = PROFILE,
    slo: Slo = None,
    mapped: Mapped = None,
    draws: Draws = 1000,
    seed: Seed = SEED,
    output: Annotated[
        Path | None, option("--output -o", "JSON", "Output file of the plan.")
    ] = None,
    page: Annotated[
        Path | None, option("--page", "HTML", "Also write the plan as an HTML page, to this file.")
    ] = None,
    beside: Annotated[
        Path | None,
        option(
            "--beside", "RUN", "Put the page beside this run's report; runs/index.html links it."
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="table; csv by stage; nodes and partition for slurm.conf; process settings for Nextflow.",
        ),
    ] = Format.table,
    as_json: Json = False,
) -> None:
    """Size a cluster for N genomes per day, or for a rate of operations, under SLOs.

    If no candidate fits, it explains why.

    Exit codes: 0 a plan, 1 no plan, 2 invalid input.
    """
    from density_study.analysis.capacity.sizing.size import size as find_plan
    from density_study.dags.cli.capacity.plan_display import answer_page, warnings_page
    from density_study.dags.cli.capacity.plan_text import plan_text

    if (genomes_per_day is None) == (ops is None):
        raise InputError(
            f"{'no load is' if ops is None else 'two loads are'} given.",
            "study capacity size",
            "give either --genomes-per-day N or --ops RATE with --mix.",
        )
    root = None if beside is None else _run_of(beside)
    options = PlanOptions(model, profile, slo, mapped, draws, seed)
    found: Plan | OperationsPlan | Excuse
    if ops is not None:
        refuse_unused("operations", profile=profile != PROFILE, measured_by=mapped)
        if form is not Format.table:
            remedy = "leave it out, or give --genomes-per-day."
            raise InputError("operations have no stages to write.", f"--format {form}", remedy)
        found = _of_operations(hosts, options.operations(ops, mix, read_p99, data_gib, split))
    else:
        refuse_unused("genomes", mix=mix, read_p99=read_p99, data_gib=data_gib, split=split)
        inputs = options.plan_of(genomes_per_day or 0.0, hosts)
        if not as_json and form is Format.table:
            _print_differences(profile, inputs[2])
        found = find_plan(*inputs)
    _write(found, output, page, root)
    if as_json:
        print_json(found)
    elif found.kind == "plan" and form is not Format.table:
        out.file.write(plan_text(found, inputs[2], inputs[3], form))
        err.print(warnings_page(found.warnings))
    else:
        out.print(answer_page(found))
    raise typer.Exit(1 if found.kind == "excuse" else 0)


def _of_operations(hosts: Path, asked: tuple[Load, Model]) -> OperationsPlan | Excuse:
    from density_study.analysis.capacity.inputs.catalogue import read_catalogue
    from density_study.analysis.capacity.operations.sizing import size_operations

    return size_operations(*asked, read_catalogue(hosts))


def _run_of(named: Path) -> Path:
    """The folder of a run in a folder of runs: the hub has only these. InputError for another."""
    from density_study.dags.run_status.status import find_root

    return find_root(named, RUNS)


def _write(
    found: Plan | OperationsPlan | Excuse, output: Path | None, page: Path | None, root: Path | None
) -> None:
    """The plan as JSON, and its page: in a file, and beside the report of the run in the folder `root`, to
    which the hub leads."""
    from density_study.cluster.state.atomic import write_text

    if output is not None:
        write_text(output, found.model_dump_json(indent=1) + "\n")
    if page is None and root is None:
        return
    from density_study.analysis.capacity.plan.plan import PAGE
    from density_study.analysis.hub.page import rebuild
    from density_study.analysis.report.plan_page.page import write_plan_page

    if page is not None:
        write_plan_page(found, page)
    if root is not None:
        write_plan_page(found, root / "report" / PAGE)
        rebuild(root.parents[1])


def whatif(
    genomes_per_day: PerDay,
    hosts: Hosts,
    model: ModelFile,
    profile: ProfileName = PROFILE,
    slo: Slo = None,
    mapped: Mapped = None,
    draws: Draws = 1000,
    seed: Seed = SEED,
    output: Annotated[Path, option("--output -o", "SVG", "Output file of the cost chart.")] = Path(
        "whatif.svg"
    ),
    as_json: Json = False,
) -> None:
    """List cost and hosts for every density, disk type and host type, and chart cost over density."""
    from density_study.analysis.capacity.sizing.cautions import price_warnings
    from density_study.analysis.capacity.sizing.plan_maker import examples
    from density_study.analysis.capacity.sizing.size import whatif as table
    from density_study.analysis.report.charts.cost_by_density import write_chart
    from density_study.dags.cli.capacity.plan_display import whatif_page

    options = PlanOptions(model, profile, slo, mapped, draws, seed)
    inputs = options.plan_of(genomes_per_day, hosts)
    rows, rejected = table(*inputs)
    _, fitted, needs, catalogue = inputs
    made_up = examples(fitted, catalogue)
    warnings = [*made_up, *needs.left_out(), *needs.notes, *price_warnings(catalogue)]
    found = any(row.hosts for row in rows)
    if found:
        write_chart(rows, output)
    if as_json:
        print_json({"rows": rows, "rejected": rejected, "warnings": warnings})
    else:
        out.print(whatif_page(rows, rejected, warnings))
        if found:
            out.print(f"chart    {output}")
    raise typer.Exit(0 if found else 1)


def _print_differences(name: str, profile: Profile) -> None:
    from density_study.analysis.capacity.inputs.measured import PREFIX, differences
    from density_study.dags.cli.capacity.plan_display import differences_page

    if name.startswith(PREFIX):
        out.print(differences_page(differences(profile)))
