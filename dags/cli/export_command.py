"""`study export`: the tables of runs for other programs. Thin, like dags/cli/main.py."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.extras import need
from density_study.cluster.model.plain import counted
from density_study.dags.cli.arguments import RUNS, Json, Runs, examples, option, run_ids
from density_study.dags.cli.console import out, print_json

EXAMPLES = examples(
    "study export 20261114T020003Z 20261121T020003Z --to export",
    "study export runs/quickstart/20261121T020003Z --to results.duckdb",
    "study export 20261121T020003Z --to http://127.0.0.1:4318",
)


def export(
    named: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Analysed runs: folders, ids, or studies for their newest run.",
            autocompletion=run_ids,
        ),
    ],
    to: Annotated[
        str,
        option(
            "--to",
            "DIR|FILE.duckdb|URL",
            "Folder for Parquet files, or DuckDB database: runs that are there already stay. Or address "
            "of an OpenTelemetry collector (OTLP over HTTP), which gets the steps of each run as spans.",
        ),
    ],
    runs: Runs = RUNS,
    as_json: Json = False,
) -> None:
    """Export the tables of runs, each row with its study, run and trial; or their steps as spans.

    Columns have their meaning and unit in a DuckDB database. Exporting a run again replaces its rows.
    """
    if to.startswith(("http://", "https://")):
        _send(named, runs, to, as_json)
        return
    if "://" in to:
        raise InputError(
            "this is not an address over HTTP.",
            f"--to {to}",
            "name a folder, a file that ends in .duckdb, or http://HOST:PORT of a collector.",
        )
    _write(named, runs, Path(to), as_json)


def _send(named: list[Path], runs: Path, to: str, as_json: bool) -> None:
    """Spans of bring-up phases, trials and analysis, from the journals."""
    need(f"--to {to}", "telemetry")
    from density_study.cluster.providers.simulated import refused
    from density_study.cluster.providers.simulated.rehearsal import is_rehearsal
    from density_study.dags.run_status.status import find_run
    from density_study.dags.telemetry.send import send

    found = [find_run(one, runs) for one in named]
    for run in found:
        if is_rehearsal(run.root):
            raise refused(str(run.root))
    sent = [(run, send(run, to)) for run in found]
    if as_json:
        facts = [
            {"study": run.plan.study, "run": run.root.name, "spans": spans} for run, spans in sent
        ]
        print_json({"to": to, "runs": facts})
        return
    for run, spans in sent:
        out.print(f"{run.plan.study} {run.root.name}: {counted(spans, 'span')}")


def _write(named: list[Path], runs: Path, to: Path, as_json: bool) -> None:
    need("study export", "spark")
    from density_study.workloads.rows.export import DUCKDB, sources, to_duckdb, to_parquet

    to_database = to.suffix == DUCKDB
    if to_database:
        need(f"--to {to.name}", "duckdb")
    found = sources([_folder(one, runs) for one in named])
    done = to_duckdb(found, to) if to_database else to_parquet(found, to)
    if as_json:
        facts = [{"study": e.source.study, "run": e.source.run, "rows": e.rows} for e in done]
        print_json({"to": to, "runs": facts})
        return
    for each in done:
        amount = f"{counted(len(each.rows), 'table')}, {counted(sum(each.rows.values()), 'row')}"
        out.print(f"{each.source.study} {each.source.run}: {amount}")
    out.print(f"to       {to}")


def _folder(named: Path, runs: Path) -> Path:
    """The folder of a run. Tables copied from another machine have no plan, and need none."""
    if (named / "tables").is_dir():
        return named
    from density_study.dags.run_status.status import find_root

    return find_root(named, runs)
