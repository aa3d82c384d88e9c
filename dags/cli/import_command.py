"""`study import`: records that others made become a run. Thin, like dags/cli/main.py."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import RUNS, Json, Runs, examples, option
from density_study.dags.cli.console import err, out, print_json, print_report, progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from density_study.workloads.imports.piece import Recognised
    from density_study.workloads.imports.trials import ImportedTrial

EXAMPLES = examples(
    "study import old-results --init",
    "study import old-results --dry-run",
    "study import old-results --map old-results/map.yaml",
)


def import_records(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with the files.")],
    map_file: Annotated[
        Path | None,
        option(
            "--map",
            "YAML",
            "YAML file: which files belong to which trial, and facts that they lack. "
            "Default: map.yaml in the folder.",
        ),
    ] = None,
    runs: Runs = RUNS,
    init: Annotated[
        bool,
        typer.Option(
            "--init", help="Look at the folder and write a commented map; import nothing."
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show what each file holds and each trial lacks; write nothing."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Import records that others made, and analyse them: monitors, YCSB, TestDFSIO.

    Reads CSV files of dstat, dool, pcp-dstat and sar (`sadf -d`), outputs and HdrHistogram logs of YCSB,
    results, reduce outputs and job histories of TestDFSIO. Each is recognised by its content. A file of a
    known format that cannot be read whole is refused by name.

    What neither the files nor the map say is unknown, in the verdicts and in the report.
    """
    from density_study.workloads.imports.recognise import MAP_FILE, recognise_all

    path = map_file or folder / MAP_FILE
    if map_file is None and path.is_symlink() and not init:
        raise InputError(
            "this is a link, and may lead anywhere.", str(path), "name the map with --map."
        )
    if init:
        _init(folder, path, as_json)
        return
    if dry_run and map_file is None and not path.exists():
        _show(recognise_all(folder), None, as_json)
        return
    recognised, trials, root = _imported(folder, path, runs, dry_run)
    if dry_run:
        _show(recognised, trials, as_json)
        return
    if not as_json:
        _show_trials(trials)
        out.print(f"run      {root}")
    with progress(err).status("Analysing the records"):
        from density_study.jobs.pipeline import analyse

        analyse(root)
    if as_json:
        print_json({"run": root, "trials": [_facts(trial) for trial in trials]})
    else:
        print_report(root)


def _init(folder: Path, path: Path, as_json: bool) -> None:
    import re

    from density_study.cluster.state.atomic import create_text
    from density_study.workloads.imports.draft_map import draft_map
    from density_study.workloads.imports.recognise import recognise_all

    _require_new(path)
    recognised = recognise_all(folder)
    name = re.sub(r"[^a-z0-9]+", "-", folder.absolute().name.lower()).strip("-")[:48].strip("-")
    create_text(path, draft_map(name or "imported", recognised))
    _show(recognised, None, as_json)
    if not as_json:
        out.print(f"map      {path}")
        out.print(f"next     complete it, then:\n    study import {quote(str(folder))} --dry-run")


def _require_new(path: Path) -> None:
    """InputError if there is anything of this name; a link that leads nowhere, too."""
    if os.path.lexists(path):
        raise InputError(
            "the file exists.", str(path), "name another file with --map, or remove it."
        )


def _imported(
    folder: Path, path: Path, runs: Path, dry_run: bool
) -> tuple[Mapping[str, Recognised], tuple[ImportedTrial, ...], Path]:
    """What was recognised, the trials, and the run's folder, which a dry run does not write."""
    from density_study.analysis.validity.rules import RULES
    from density_study.cluster.state.run_id import next_run_id
    from density_study.workloads.imports.map_file import read_map
    from density_study.workloads.imports.recognise import recognise_all
    from density_study.workloads.imports.run_folder import reserved_run, write_run
    from density_study.workloads.imports.trials import assemble

    checks = {rule.check for rule in RULES if rule.null == "unknown"}
    file = read_map(path, checks)
    zones = {
        entry.file: entry.time_zone
        for trial in file.map.trials
        for entry in trial.files
        if entry.time_zone
    }
    recognised = recognise_all(folder, file.map.time_zone or "", zones)
    if dry_run:
        trials = assemble(file, recognised, next_run_id(runs))
        return recognised, trials, (runs / file.map.study / trials[0].manifest.run).absolute()
    with reserved_run(runs, file.map.study) as root:
        trials = assemble(file, recognised, root.name)
        write_run(folder, file, recognised, trials, root)
    return recognised, trials, root.absolute()


def _show(
    recognised: Mapping[str, Recognised], trials: tuple[ImportedTrial, ...] | None, as_json: bool
) -> None:
    from density_study.dags.cli.layout import rows_table
    from density_study.workloads.imports.describe import FILE_HEADER, file_rows

    rows = list(file_rows(recognised))
    if as_json:
        files = [dict(zip(FILE_HEADER, row, strict=True)) for row in rows]
        print_json({"files": files, "trials": [_facts(trial) for trial in trials or ()]})
        return
    out.print(rows_table(FILE_HEADER, rows) if rows else "The folder has no files.")
    if trials is not None:
        _show_trials(trials)


def _show_trials(trials: tuple[ImportedTrial, ...]) -> None:
    from density_study.dags.cli.layout import rows_table
    from density_study.workloads.imports.describe import TRIAL_HEADER, trial_rows

    out.print(rows_table(TRIAL_HEADER, list(trial_rows(trials))))
    for trial in trials:
        for doubt in trial.doubts:
            out.print(f"doubt    {trial.manifest.trial}: {doubt}")


def _facts(trial: ImportedTrial) -> dict[str, object]:
    manifest = trial.manifest
    return {
        "trial": manifest.trial,
        "state": manifest.state,
        "reasons": manifest.reasons,
        "window": manifest.window,
        "window_from": trial.window_source,
        "unknown": trial.imported.unknown,
        "given": trial.imported.given,
        "sources": trial.imported.sources,
        "doubts": trial.doubts,
    }
