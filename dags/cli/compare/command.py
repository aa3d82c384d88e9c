"""`study compare`: detect a regression between runs. Thin, like dags/cli/main.py."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from density_study.cluster.model.errors import InputError
from density_study.dags.cli.arguments import RUNS, Json, Runs, examples, option, run_ids
from density_study.dags.cli.console import out, print_json, print_text

if TYPE_CHECKING:
    from density_study.analysis.comparison.compare import RunComparison
    from density_study.workloads.study.schedule import CompareSpec

EXAMPLES = examples(
    "study compare 20261114T020003Z 20261121T020003Z",
    "study compare runs/nightly/20261121T020003Z --baseline 'rolling 5' --tolerance 10%",
    "study compare --format junit > compare.xml",
    "study compare 20261114T020003Z 20261121T020003Z --html compare.html",
    "study compare 20261121T020003Z --acknowledge 'new kernel, accepted'",
    "study compare 20261121T020003Z --acknowledge 'being bisected' --owner ada --ticket PERF-12",
)

Value = TypeVar("Value")


def _run(metavar: str, default: str) -> Any:
    words = f"Folder or id of a run, or a study for its newest run. Default: {default}."
    return typer.Argument(metavar=metavar, help=words, autocompletion=run_ids)


First = Annotated[Path | None, _run("A", "the newest run")]
Later = Annotated[Path | None, _run("B", "A is compared with its baseline")]


class Format(StrEnum):
    text = "text"
    markdown = "markdown"
    junit = "junit"


def compare(
    first: First = None,
    later: Later = None,
    runs: Runs = RUNS,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help="`rolling N` for the last N runs, or the id of a run. Default: the study's baseline.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            "--tolerance",
            help="Largest change that is not a regression. Default: the study's tolerance, else 5%.",
        ),
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format", help="For CI: `junit` for test reports, `markdown` for job summaries."
        ),
    ] = Format.text,
    html: Annotated[
        Path | None,
        option("--html", "FILE", "Also write the two runs side by side, as an HTML page."),
    ] = None,
    acknowledge: Annotated[
        str | None,
        option(
            "--acknowledge",
            "REASON",
            "Accept the regressions that this comparison shows: later runs are compared with the new "
            "level, and no later run reports it again until it changes. Written to acknowledged.json beside "
            "the study's runs. Repeat it to change reason, owner and ticket.",
        ),
    ] = None,
    owner: Annotated[
        str,
        option(
            "--owner",
            "NAME",
            "With --acknowledge: who looks into it. With an owner or a ticket, the results hub lists it "
            "as an open regression.",
        ),
    ] = "",
    ticket: Annotated[
        str, option("--ticket", "URL|ID", "With --acknowledge: where it is discussed.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Compare a run with earlier runs: did the cluster get slower?

    With two runs, of one study or of two, compares B with A. With one run, or none (the newest), compares it
    with the baseline. All runs must be analysed. The study's other earlier runs show how
    much runs differ though nothing changed; without them no difference is called a regression.

    Exit codes: 0 no regression, or acknowledged, 1 a number got worse by more than the tolerance, 2 invalid
    input.
    """
    from density_study.dags.run_status.status import find_root
    from density_study.dags.stages.comparison import acknowledge as write_acknowledged
    from density_study.dags.stages.comparison import compare_with, comparison_lines, side_by_side
    from density_study.workloads.study.schedule import (
        Baseline,
        CompareSpec,
        parse_baseline,
        percent,
    )

    if as_json and form is not Format.text:
        raise InputError("two formats are requested.", "--json", f"omit it, or --format {form}.")
    if acknowledge is None and (owner or ticket):
        raise InputError(
            "--owner and --ticket are for acknowledged regressions.",
            "--owner, --ticket",
            "add --acknowledge 'REASON'.",
        )
    root = find_root(later or first, runs)
    pinned = find_root(first, runs) if later and first else None
    if pinned and baseline:
        remedy = "omit it, or name one run."
        raise InputError("two runs are compared with each other.", "--baseline", remedy)
    if html is not None:
        _check_html(html, pinned)
    spec = _requested(root) or CompareSpec(baseline=Baseline(rolling=1))
    against = _parsed(parse_baseline, baseline, spec.baseline, "--baseline")
    share = _parsed(percent, tolerance, spec.tolerance, "--tolerance")
    compared: RunComparison | None
    if pinned is None:
        compared = compare_with(root, against, share)
    else:
        pair = side_by_side(pinned, root, share)
        compared = pair.comparison
        if html is not None:
            from density_study.analysis.hub.side_by_side import write

            write(pair, html)
    if compared is None:
        raise InputError(
            "there is no earlier run to compare with.", str(root), "run the study again later."
        )
    if as_json:
        print_json(compared)
    elif form is Format.text:
        for line in comparison_lines(compared, *filter(None, (pinned, root))):
            out.print(line)
    else:
        from density_study.dags.cli.compare.formats import as_junit, as_markdown

        print_text({Format.junit: as_junit, Format.markdown: as_markdown}[form](compared))
    if acknowledge is not None:
        path = write_acknowledged(root, compared, acknowledge, owner, ticket)
        if not as_json and form is Format.text:
            out.print(f"known    {path}")
    if html is not None and not as_json and form is Format.text:
        out.print(f"page     {html}")
    raise typer.Exit(1 if compared.regressions and acknowledge is None else 0)


def _requested(root: Path) -> CompareSpec | None:
    """What the run's study requests; nothing for an imported run."""
    from density_study.workloads.execution.run import import_of, load_run

    return None if import_of(root) else load_run(root).study.compare


def _check_html(path: Path, pinned: Path | None) -> None:
    if pinned is None:
        raise InputError(
            "a page shows two runs side by side, and fewer are named.",
            f"--html {path}",
            "name two runs: study compare A B --html FILE.",
        )
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(
            "no file can be written there.",
            f"--html {path}",
            "name a file in a folder that exists.",
        )


def _parsed(parse: Callable[[str], Value], text: str | None, default: Value, option: str) -> Value:
    if text is None:
        return default
    try:
        return parse(text)
    except ValueError as error:
        raise InputError(f"{error}.", option, "correct the value.") from error
