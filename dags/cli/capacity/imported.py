"""`study capacity import-trace`: the record of a workflow run as a profile. Thin, like command.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from density_study.dags.cli.arguments import option
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
    genomes: Annotated[
        int, typer.Option("--genomes", min=1, help="Number of genomes in the trace.")
    ] = 1,
    output: Annotated[Path, option("--output -o", "YAML", "Output file of the profile.")] = Path(
        "profile.yaml"
    ),
    sizes: Annotated[
        Path | None, option("--sizes", "CSV", "Samples with the GiB of their input: sample,gib.")
    ] = None,
    input_gib: Annotated[
        float | None,
        typer.Option("--input-gib", help="Write the profile of a sample with this much input."),
    ] = None,
) -> None:
    """Convert the record of a workflow run into a profile: measured stages, core-hours, memory and I/O."""
    from density_study.analysis.capacity.traces.profiled import write_profile

    imported = write_profile(traces, genomes, output, sizes, input_gib)
    profile = imported.profile
    count = len(profile.stages)
    text = f"profile  {output}: {count} stage{'s' * (count != 1)}"
    out.print(text)
    for line in profile.left_out():
        out.print(f"unknown  {line}")
    for line in profile.notes:
        out.print(f"note     {line}")
    for line in imported.excuses:
        out.print(f"no law   {line}")
    for law in imported.laws:
        text = (
            f"law      {law.process}: {law.quantity} grow with the input's size to the power "
            f"{law.exponent:.2f} ({law.low:.2f} to {law.high:.2f}), of {len(law.sizes_gib)} samples of "
            f"{law.sizes_gib.min():.3g} to {law.sizes_gib.max():.3g} GiB"
        )
        if input_gib is not None:
            low, middle, high = law.at(input_gib)
            text += f"; at {input_gib:g} GiB {middle:.3g} ({low:.3g} to {high:.3g})"
        out.print(text)
