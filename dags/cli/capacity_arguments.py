"""Arguments and options that several `study capacity` commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class HoldOut(StrEnum):
    hosts = "hosts"
    density = "density"
    largest = "largest"


PointsFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--points",
        metavar="CSV",
        help="Measured points, with the columns group, hosts, vms_per_host, medium, value, unit, "
        "repetition. Repeatable.",
    ),
]
PerDay = Annotated[
    float, typer.Option("--genomes-per-day", metavar="N", help="Load, in genomes per day.")
]
ProfileName = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME|YAML",
        help="Workload of one genome: wgs30x, exome, cohort-query, or a YAML file.",
    ),
]
Hosts = Annotated[
    Path, typer.Option("--hosts", metavar="YAML", help="Catalogue of host types with prices.")
]
ModelFile = Annotated[
    Path, typer.Option("--model", metavar="JSON", help="Model written by `study capacity fit`.")
]
Slo = Annotated[
    list[str] | None,
    typer.Option(
        "--slo",
        metavar="NAME=LIMIT",
        help="Service level objective: turnaround_p95=24h, query_p95=3s. Repeatable.",
    ),
]
Mapped = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="RESOURCE=GROUP",
        help="Measured group that represents hdfs_read, hdfs_write, hbase_write, hbase_scan or "
        "genome_job. Repeatable.",
    ),
]
Draws = Annotated[int, typer.Option("--draws", help="Number of Monte Carlo draws.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the draws; it makes a plan repeatable.")]
SEED = 20130226
