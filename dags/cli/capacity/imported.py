"""`study capacity import-trace`: the record of a workflow run as a profile. Thin, like command.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from density_study.dags.cli.console import out


def import_trace(
    traces: Annotated[
        list[Path],
        typer.Argument(
            metavar="TRACE...",
            help="Records of one run, or folders of them: trace.txt of Nextflow, metadata of Cromwell, "
            "benchmarks of Snakemake, a manifest of HealthOmics, sacct -P, an event log of Spark, job "
            "metrics of Galaxy.",
        ),
    ],
    genomes: Annotated[int, typer.Option("--genomes", help="Number of genomes in the trace.")] = 1,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="YAML", help="Output file of the profile.")
    ] = Path("profile.yaml"),
) -> None:
    """Convert the record of a workflow run into a profile: measured stages, core-hours, memory and I/O."""
    from density_study.analysis.capacity.traces.profiled import write_profile

    profile = write_profile(traces, genomes, output)
    count = len(profile.stages)
    text = f"profile  {output}: {count} stage{'s' * (count != 1)}"
    out.print(text, markup=False, soft_wrap=True)
    for line in profile.left_out():
        out.print(f"unknown  {line}", markup=False, soft_wrap=True)
    for line in profile.notes:
        out.print(f"note     {line}", markup=False, soft_wrap=True)
