"""Arguments and options that several `study` commands share, and the layout of their examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

RUNS = Path("runs")


def examples(*commands: str) -> str:
    """The epilog of a command's help. The leading newline keeps Typer from dedenting the code block."""
    return "\n".join(("\nExamples:\n", *(f"    {command}" for command in commands), ""))


Spec = Annotated[Path, typer.Argument(metavar="SPEC", help="The study's YAML file.")]


def _checked(runs: Path) -> Path:
    from workloads.planning.planned_study import check_runs

    check_runs(runs)
    return runs


Runs = Annotated[
    Path,
    typer.Option("--runs", metavar="DIR", help="Folder that holds all runs.", callback=_checked),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a key of the study, for example repetitions=2 or stack.base_port=22000. "
        "Repeatable.",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="GLOB",
        help="Run only the settings with a matching id, for example 'ycsb-*'. Repeatable.",
    ),
]
Named = Annotated[
    Path | None,
    typer.Argument(metavar="RUN", help="Folder or id of a run. Default: the newest run."),
]
