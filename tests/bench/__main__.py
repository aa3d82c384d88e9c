"""`python -m tests.bench`: prints a table and writes bench.json. Not a test: it asserts nothing.

The goals are the project's; `holds` is whether the median of the runs meets them on this machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from tests.bench import (
    analysis,
    binding,
    bringup,
    capacity,
    clients,
    devices,
    harness,
    quickstart,
    rehearsals,
    report_page,
    setup_time,
    stores,
)
from tests.bench.measurement import Measurement, TrialContext

BENCHES: Mapping[str, TrialContext] = {
    "capacity": capacity.bench,
    "setup": setup_time.bench,
    "bringup": bringup.bench,
    "quickstart": quickstart.bench,
    "report": report_page.bench,
    "binding": binding.bench,
    "stores": stores.bench,
    "harness": harness.bench,
    "clients": clients.bench,
    "clients-doubling": clients.doubling,
    "devices": devices.bench,
    "analysis": analysis.bench,
    "rehearsals": rehearsals.bench,
}


def main(
    only: Annotated[
        list[str] | None, typer.Argument(help="; ".join([", ".join(BENCHES), "all if left out"]))
    ] = None,
    repeats: Annotated[int, typer.Option(help="runs of each; the median is reported")] = 3,
    output: Annotated[Path, typer.Option(help="where the JSON goes")] = Path("bench.json"),
) -> None:
    """Measures, prints a table, writes bench.json (name, value, unit, goal, holds, runs)."""
    lines: list[Measurement] = []
    for name in only or BENCHES:
        lines += BENCHES[name](repeats)
        output.write_text(json.dumps([line.to_json() for line in lines], indent=2) + "\n")
    Console().print(_table(lines))


def _table(lines: list[Measurement]) -> Table:
    table = Table("what", "median", "unit", "goal", "holds", "runs")
    for line in lines:
        holds = {None: "", True: "yes", False: "NO"}[line.holds]
        digits = 3 if line.unit == "ratio" else 1
        runs = ", ".join(f"{run:.{digits}f}" for run in line.runs)
        table.add_row(line.name, f"{line.value:.{digits}f}", line.unit, line.goal, holds, runs)
    return table


if __name__ == "__main__":
    typer.run(main)
