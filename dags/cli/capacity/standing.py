"""`study capacity carry` and `years`: existing hosts, and growth. Thin, like command.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.dags.cli.arguments import (
    Draws,
    Hosts,
    Json,
    Mapped,
    ModelFile,
    ProfileName,
    Seed,
    Slo,
    option,
)
from density_study.dags.cli.capacity.inputs import (
    PROFILE,
    SEED,
    DataGib,
    Mix,
    PlanOptions,
    ReadP99,
    Split,
    refuse_unused,
)
from density_study.dags.cli.console import err, out, print_json

if TYPE_CHECKING:
    from density_study.analysis.capacity.curves.model import Model
    from density_study.analysis.capacity.inputs.catalogue import Catalogue
    from density_study.analysis.capacity.operations.load import Load
    from density_study.analysis.capacity.plan.carried import Carried
    from density_study.analysis.capacity.plan.operations import OperationsPlan
    from density_study.analysis.capacity.plan.plan import Excuse

CARRY_EXAMPLE = (
    "study capacity carry --hosts mine.yaml --model model.json --slo turnaround_p95=24h"
    " --today 20 --growth 30%"
)
YEARS_EXAMPLE = (
    "study capacity years --today 100 --growth 30% --years 5 --hosts catalog.yaml --model model.json"
    " --slo turnaround_p95=24h"
)
Standing = Annotated[
    Path, option("--hosts", "YAML", "Your hosts: a catalogue whose host types have a count.")
]
Today = Annotated[float, option("--today", "N", "Genomes per day today.")]
Grows = Annotated[str, option("--growth", "PERCENT", "Growth of the load in a year, e.g. 30%.")]
NO_GROWTH = "0%"
Years = Annotated[int, typer.Option("--years", min=1, help="Number of years.")]


def carry(
    hosts: Standing,
    model: ModelFile,
    mix: Mix = None,
    read_p99: ReadP99 = None,
    data_gib: DataGib = None,
    split: Split = False,
    profile: ProfileName = PROFILE,
    slo: Slo = None,
    mapped: Mapped = None,
    today: Annotated[float | None, option("--today", "N", "Genomes per day today.")] = None,
    growth: Grows = NO_GROWTH,
    years: Years = 5,
    draws: Draws = 1000,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Find the load that your hosts carry under SLOs, and when they are full.

    Shows also what one more host, disk or VM per host would change. Each host type with a count is a cluster.
    With --mix, the load is operations per second instead of genomes per day.

    Exit codes: 0 they carry a load, 1 they carry none, 2 invalid input.
    """
    from density_study.analysis.capacity.inputs.catalogue import read_standing
    from density_study.analysis.capacity.sizing.carry import carry_each
    from density_study.dags.cli.capacity.standing_display import clusters_page

    standing, options = read_standing(hosts), PlanOptions(model, profile, slo, mapped, draws, seed)
    found: Sequence[Carried | OperationsPlan | Excuse]
    if mix is not None:
        refuse_unused(
            "operations",
            profile=profile != PROFILE,
            measured_by=mapped,
            today=today is not None,
            growth=growth != NO_GROWTH,
        )
        # any rate: the one that is carried is looked for
        found = _operations(options.operations("1/s", mix, read_p99, data_gib, split), standing)
    else:
        refuse_unused("genomes", read_p99=read_p99, data_gib=data_gib, split=split)
        inputs, grows = options.grown(today, growth, years)
        found = carry_each(*inputs, standing, grows)
    if as_json:
        print_json(found)
    else:
        out.print(clusters_page(found))
    raise typer.Exit(0 if any(one.kind != "excuse" for one in found) else 1)


def _operations(
    asked: tuple[Load, Model], catalogue: Catalogue
) -> Sequence[OperationsPlan | Excuse]:
    from density_study.analysis.capacity.operations.sizing import carry_operations

    types = [host for host in catalogue.hosts if host.count is not None]
    return [carry_operations(*asked, catalogue, host) for host in types]


def years_of_growth(
    today: Today,
    hosts: Hosts,
    model: ModelFile,
    growth: Grows = NO_GROWTH,
    years: Years = 5,
    profile: ProfileName = PROFILE,
    slo: Slo = None,
    mapped: Mapped = None,
    draws: Draws = 1000,
    seed: Seed = SEED,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print CSV, a row for each host type and year.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare host types over several years of a growing load.

    Shows each as bought, reserved and on demand, with power and rack units.

    Exit codes: 0 a host type suffices, 1 none does, 2 invalid input.
    """
    from density_study.analysis.capacity.inputs.catalogue import read_catalogue
    from density_study.analysis.capacity.sizing.purchase import purchases
    from density_study.dags.cli.capacity.plan_display import warnings_page
    from density_study.dags.cli.capacity.plan_text import years_csv
    from density_study.dags.cli.capacity.standing_display import purchases_page

    options = PlanOptions(model, profile, slo, mapped, draws, seed)
    inputs, grows = options.grown(today, growth, years)
    assert grows is not None  # the load of today is required here
    rows, refused = purchases(*inputs, read_catalogue(hosts), grows)
    if as_json:
        print_json({"rows": rows, "rejected": refused})
    elif as_csv:
        out.file.write(years_csv(rows))
        err.print(warnings_page(text for row in rows for text in (*row.example, *row.warnings)))
    else:
        out.print(purchases_page(rows, refused, grows))
    raise typer.Exit(0 if any(row.usd is not None for row in rows) else 1)
