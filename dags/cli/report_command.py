"""`study report`: the analysis again, here or where the data are. Thin, like dags/cli/main.py."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cluster.model.errors import InputError
from dags.cli.arguments import RUNS, Named, Runs
from dags.cli.console import err, print_report


class YesNo(StrEnum):
    yes = "yes"
    no = "no"


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    csv = "csv"
    json = "json"


def _print_format(root: Path, form: Format) -> None:
    """The summary alone on standard output, byte for byte, so that it can be piped."""
    from analysis.report.__main__ import load
    from analysis.report.formats import FORMATS

    sys.stdout.write(FORMATS[form](load(root / "report" / "summary.json")))


def add_to(app: typer.Typer) -> None:
    app.command(
        epilog="""Examples:

    study report runs/quickstart/20261120T201530Z --open no
    study report 20261120T201530Z --master yarn
    study report --conf spark.eventLog.enabled=true
"""
    )(report)


def _checked(master: str) -> str:
    if re.fullmatch(r"yarn|local|local\[(\*|[1-9]\d{0,3})\]", master):
        return master
    raise InputError(
        "that is no place where Spark computes.",
        f"--master {master[:80]}",
        "write yarn, or local[N] for N cores of this machine, or local[*] for all of them.",
    )


def report(
    run: Named = None,
    runs: Runs = RUNS,
    browse: Annotated[
        YesNo, typer.Option("--open", help="Whether to show the report in a browser.")
    ] = YesNo.no,
    form: Annotated[
        Format, typer.Option("--format", help="html writes the page; others go to standard output.")
    ] = Format.html,
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
    conf: Annotated[
        list[str] | None,
        typer.Option(
            "--conf",
            metavar="KEY=VALUE",
            help="An option of Spark's: spark.eventLog.enabled=true, spark.ui.enabled=true. May be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Analyse a run again from its records, without its cluster, and write its report.

    CSV has a row for each number of each setting; JSON is summary.json. With --store or yarn, the
    records are copied there (what is there already is not copied again) and the tables are made there;
    summary.json and report go to the run's own folder.
    """
    from cluster.lifecycle.running_clusters import running_clusters
    from dags.run_status.status import find_run

    options = dict(_option(pair) for pair in conf or [])
    # records brought here from elsewhere need no plan: they are all that an analysis asks for
    alone = run is not None and (run / "records").is_dir()
    root = run.absolute() if run and alone else find_run(run, runs).root
    with err.status("analysing the records"):
        from jobs.remote_analysis import YARN, AnalysisTarget, analyse_elsewhere

        build = cluster
        if build is None and master == YARN:
            build = next(reversed(running_clusters(runs)), None)
        analyse_elsewhere(root, AnalysisTarget(master, build, store, options))
    if form is Format.html:
        print_report(root)
    else:
        _print_format(root, form)
    if browse is YesNo.yes:
        typer.launch(str(root / "report" / "index.html"))


def _option(pair: str) -> tuple[str, str]:
    key, equals, value = pair.partition("=")
    if not equals or not key.startswith("spark."):
        raise InputError(
            "it is not an option of Spark's.", f"--conf {pair}", "write --conf spark.KEY=VALUE."
        )
    return key, value
