"""`study capacity carry` and `years`: hosts that stand, and growth. Thin, like command.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
)
from density_study.dags.cli.capacity.inputs import SEED, grown_inputs
from density_study.dags.cli.console import out, print_json

CARRY_EXAMPLE = (
    "study capacity carry --hosts mine.yaml --model model.json --slo turnaround_p95=24h"
    " --today 20 --growth 30%"
)
YEARS_EXAMPLE = (
    "study capacity years --today 100 --growth 30% --years 5 --hosts catalog.yaml --model model.json"
    " --slo turnaround_p95=24h"
)
Standing = Annotated[
    Path,
    typer.Option(
        "--hosts",
        metavar="YAML",
        help="The hosts that stand: a catalogue whose host type has a count.",
    ),
]
Today = Annotated[float, typer.Option("--today", metavar="N", help="Genomes per day today.")]
Grows = Annotated[
    str, typer.Option("--growth", metavar="PERCENT", help="Growth of the load in a year, e.g. 30%.")
]
Years = Annotated[int, typer.Option("--years", help="Number of years.")]


def carry(
    hosts: Standing,
    model: ModelFile,
    profile: ProfileName = "wgs30x",
    slo: Slo = None,
    mapped: Mapped = None,
    today: Annotated[
        float | None, typer.Option("--today", metavar="N", help="Genomes per day today.")
    ] = None,
    growth: Grows = "0%",
    years: Years = 5,
    draws: Draws = 1000,
    seed: Seed = SEED,
    as_json: Json = False,
) -> None:
    """Find the load that hosts that stand carry under SLOs, and when they are full.

    Also what one more host, disk or VM per host changes.

    Exit codes: 0 they carry a load, 1 they carry none, 2 invalid input.
    """
    from density_study.analysis.capacity.inputs.catalogue import read_standing
    from density_study.analysis.capacity.plan.carried import Carried
    from density_study.analysis.capacity.sizing.carry import carry as find
    from density_study.dags.cli.capacity.plan_display import excuse_page
    from density_study.dags.cli.capacity.standing_display import carried_page

    inputs, grows = grown_inputs(today, growth, years, model, profile, slo, mapped, draws, seed)
    found = find(*inputs, read_standing(hosts), grows)
    if as_json:
        print_json(found)
    else:
        out.print(carried_page(found) if isinstance(found, Carried) else excuse_page(found))
    raise typer.Exit(0 if isinstance(found, Carried) else 1)


def years_of_growth(
    today: Today,
    hosts: Hosts,
    model: ModelFile,
    growth: Grows = "0%",
    years: Years = 5,
    profile: ProfileName = "wgs30x",
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

    Each is bought, reserved and on demand, with power and rack units.

    Exit codes: 0 a host type suffices, 1 none does, 2 invalid input.
    """
    from density_study.analysis.capacity.inputs.catalogue import read_catalogue
    from density_study.analysis.capacity.sizing.purchase import purchases
    from density_study.dags.cli.capacity.plan_text import years_csv
    from density_study.dags.cli.capacity.standing_display import purchases_page

    inputs, grows = grown_inputs(today, growth, years, model, profile, slo, mapped, draws, seed)
    assert grows is not None  # the load of today is required here
    rows, refused = purchases(*inputs, read_catalogue(hosts), grows)
    if as_json:
        print_json({"rows": rows, "rejected": refused})
    elif as_csv:
        out.file.write(years_csv(rows))
    else:
        out.print(purchases_page(rows, refused, grows))
    raise typer.Exit(0 if any(row.usd is not None for row in rows) else 1)
