"""`study report`: repeat the analysis, on this machine or on YARN. Thin, like dags/cli/main.py."""

from __future__ import annotations

import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.extras import need
from density_study.dags.cli.arguments import RUNS, Named, Runs, examples, option
from density_study.dags.cli.console import err, print_json_text, print_report, print_text, progress

EXAMPLES = examples(
    "study report runs/quickstart/20261120T201530Z --open",
    "study report 20261120T201530Z --format csv",
    "study report 20261120T201530Z --master yarn",
    "study report --conf spark.eventLog.enabled=true",
)
EVERY_CORE = "local[*]"


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    csv = "csv"
    json = "json"


def _checked(master: str) -> str:
    if re.fullmatch(r"yarn|local|local\[(\*|[1-9]\d{0,3})\]", master):
        return master
    raise InputError(
        "this is not a supported Spark master.",
        f"--master {master[:80]}",
        "use yarn, local[N] for N cores of this machine, or local[*] for all its cores.",
    )


def report(
    run: Named = None,
    runs: Runs = RUNS,
    browse: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    form: Annotated[
        Format,
        typer.Option("--format", help="`html` writes the page; the others go to standard output."),
    ] = Format.html,
    master: Annotated[
        str,
        typer.Option(
            "--master",
            help="Spark master: `yarn`, or `local[4]` for four cores of this machine.",
            callback=_checked,
        ),
    ] = EVERY_CORE,
    cluster: Annotated[
        Path | None,
        option(
            "--cluster",
            "BUILD",
            "For yarn: folder of a build with a running cluster. Default: the newest one.",
        ),
    ] = None,
    store: Annotated[
        str | None,
        option(
            "--store",
            "URI",
            "Store of the records and tables of all runs, as URI/study/run-id. Default: the "
            "cluster's HDFS for yarn, else the run's folder.",
        ),
    ] = None,
    conf: Annotated[
        list[str] | None,
        option(
            "--conf",
            "KEY=VALUE",
            "Spark option, for example spark.eventLog.enabled=true or spark.ui.enabled=true. "
            "Repeatable.",
        ),
    ] = None,
) -> None:
    """Analyse a run again from its records and write its report. Needs no cluster.

    With --format markdown, csv or json, prints the numbers. An analysed run is not analysed again, unless
    an option of the analysis is given. CSV has one row per number and test case; JSON
    is summary.json.

    With --store or yarn, the records are copied to the store (only the missing ones) and the tables are
    built there. summary.json and the report go to the run's own folder.
    """
    from density_study.dags.run_status.status import find_root

    need("study report", "spark", "report")
    options = dict(_option(pair) for pair in conf or [])
    # Records copied from another machine have no plan, and the analysis needs none.
    alone = run is not None and (run / "records").is_dir()
    root = run.absolute() if run and alone else find_root(run, runs)
    is_asked_for = master != EVERY_CORE or cluster or store or options
    if form is Format.html or is_asked_for or not _is_analysed(root):
        with progress(err).status("Analysing the records"):
            _analyse(root, runs, master, cluster, store, options)
    if form is Format.html:
        print_report(root)
    else:  # nothing else goes to standard output, so that it can be piped
        from density_study.analysis.comparison.history import SUMMARY, read_summary_file
        from density_study.analysis.report.formats import FORMATS

        write = print_json_text if form is Format.json else print_text
        write(FORMATS[form](read_summary_file(root / SUMMARY, str(root))))
    if browse:
        typer.launch(str(root / "report" / "index.html"))


def _enter_network_of(build: Path) -> None:
    """Spark's driver and the executors connect to each other. So where the cluster has a network of its own,
    this command begins again in it."""
    from density_study.cluster.providers.local.transport import entry_of, network_of
    from density_study.cluster.state.journal import JOURNAL, Journal
    from density_study.dags.airflow_home.child import python

    run = build.parent.parent
    tag, journal = "/".join((*run.parts[-2:], build.name)), Journal(run / JOURNAL)
    network = network_of(tag, journal)
    if network and os.environ.get(_INSIDE) != network:
        argv = (*entry_of(tag, journal), *python("density_study.dags.cli.main"), *sys.argv[1:])
        os.execvpe(argv[0], argv, {**os.environ, _INSIDE: network})


_INSIDE = "STUDY_INSIDE_NETWORK"


def _is_analysed(root: Path) -> bool:
    """Whether this version can read the run's summary."""
    from density_study.analysis.comparison.history import SUMMARY, read_summary_file

    try:
        read_summary_file(root / SUMMARY)
    except InputError:
        return False
    return True


def _analyse(
    root: Path,
    runs: Path,
    master: str,
    cluster: Path | None,
    store: str | None,
    options: dict[str, str],
) -> None:
    from density_study.cluster.lifecycle.running_clusters import running_clusters
    from density_study.jobs.remote_analysis import YARN, AnalysisTarget, analyse_elsewhere

    build = cluster
    if build is None and master == YARN:
        build = next(reversed(running_clusters(runs)), None)
    if build is not None and master == YARN:
        _enter_network_of(build.absolute())
    analyse_elsewhere(root, AnalysisTarget(master, build, store, options))


def _option(pair: str) -> tuple[str, str]:
    key, equals, value = pair.partition("=")
    if not equals or not key.startswith("spark."):
        raise InputError(
            "this is not a Spark option.", f"--conf {pair}", "write --conf spark.KEY=VALUE."
        )
    return key, value
