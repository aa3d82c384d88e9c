"""Arguments and options that several `study` commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RUNS = Path("runs")

Spec = Annotated[Path, typer.Argument(metavar="SPEC", help="The study's YAML file.")]


def _checked(runs: Path) -> Path:
    from workloads.planning.planned_study import check_runs

    check_runs(runs)
    return runs


Runs = Annotated[
    Path,
    typer.Option("--runs", metavar="DIR", help="Where runs are kept.", callback=_checked),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a key of the study: repetitions=2, stack.base_port=22000. May be repeated.",
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
