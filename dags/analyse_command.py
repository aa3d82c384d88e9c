"""`study analyse`: the analysis alone, here or on a cluster's YARN. Thin, like dags/cli.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from cluster.errors import InputError
from dags.arguments import RUNS, Named, Runs
from dags.console import err, out


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="""Examples:

    study analyse runs/quickstart/20261120T201530Z
    study analyse 20261120T201530Z --master yarn
    study analyse 20261120T201530Z --master yarn --cluster runs/big/20261121T080000Z/builds/b1-v1-flash
"""
    )(analyse)


def _checked(master: str) -> str:
    if re.fullmatch(r"yarn|local|local\[(\*|[1-9]\d{0,3})\]", master):
        return master
    raise InputError(
        "that is no place where Spark computes.",
        f"--master {master[:80]}",
        "write yarn, or local[N] for N cores of this machine, or local[*] for all of them.",
    )


def analyse(
    run: Named = None,
    runs: Runs = RUNS,
    master: Annotated[
        str,
        typer.Option(
            "--master",
            help="Where Spark computes: `yarn`, or here, as `local[4]`.",
            callback=_checked,
        ),
    ] = "local[*]",
    cluster: Annotated[
        Path | None,
        typer.Option(
            "--cluster",
            metavar="BUILD",
            help="For yarn: folder of the build whose cluster stands. Left out: the newest that does.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="URI",
            help="Where records and tables of all runs lie, as URI/study/run-id. Left out: for yarn "
            "the cluster's HDFS, else the run's folder.",
        ),
    ] = None,
) -> None:
    """Analyse a run, on this machine or on the YARN of a cluster that stands.

    With --store or yarn, the records are copied there (what is there already is not copied again)
    and the tables are made there; summary.json and report go to the run's own folder.
    """
    from cluster.standing import standing_builds
    from dags.status import find_run

    # records brought here from elsewhere need no plan: they are all that an analysis asks for
    alone = run is not None and (run / "records").is_dir()
    root = run.absolute() if run and alone else find_run(run, runs).root
    with err.status("analysing the records"):
        from jobs.analysis_elsewhere import YARN, Elsewhere, analyse_elsewhere

        build = cluster
        if build is None and master == YARN:
            build = next(reversed(standing_builds(runs)), None)
        report = analyse_elsewhere(root, Elsewhere(master, build, store))
    out.print(f"report {report}", markup=False, soft_wrap=True)
