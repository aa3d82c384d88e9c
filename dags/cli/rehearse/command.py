"""`study rehearse`: what a study takes and decides, before hosts are spent. Thin, like dags/cli/main.py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.extras import need
from density_study.cluster.model.plain import counted
from density_study.dags.cli.arguments import (
    RUNS,
    Budget,
    Json,
    Only,
    Runs,
    Sets,
    Spec,
    examples,
    option,
    parse_overrides,
)
from density_study.dags.cli.console import err, out, print_json, print_report, progress

if TYPE_CHECKING:
    from density_study.analysis.rehearsal.decisions import Decisions
    from density_study.dags.stages.rehearsal import Foreseen

EXAMPLES = examples(
    "study rehearse quickstart --set repetitions=8",
    "study rehearse talk-2013 --effects talk --noise builds=5% --times 200",
    "study rehearse collectors --effects none --times 200 --drawn",
    "study rehearse upgrade --effects effects.yaml --times 50 --json",
)


def rehearse(
    spec: Spec,
    folder: Annotated[
        Path, option("--rehearsals", "DIR", "Folder that holds all rehearsals.")
    ] = Path("rehearsals"),
    effects: Annotated[
        str,
        option(
            "--effects",
            "NAME|YAML",
            "What the variants do to the speed: `model` (only the queueing model), `none` (all alike), "
            "`talk` (the effects of the talk), or a YAML file.",
        ),
    ] = "model",
    noise: Annotated[
        str,
        option(
            "--noise",
            "PARTS",
            "How much speeds vary: nights=5%,builds=2.5%,trials=1%,seconds=10%. Parts that are left out "
            "keep these values.",
        ),
    ] = "",
    times: Annotated[
        int,
        option("--times", "N", "Decide N rehearsals, each with other seeds.", min=1, max=100_000),
    ] = 1,
    drawn: Annotated[
        bool,
        typer.Option("--drawn", help="Draw all of them from the model: no records and no report."),
    ] = False,
    runs: Runs = RUNS,
    sets: Sets = None,
    only: Only = None,
    budget: Budget = None,
    as_json: Json = False,
) -> None:
    """Rehearse a study on a simulated cluster: how long it takes, and how often it decides rightly.

    One rehearsal has the study's own plan, records, analysis and report. The cluster is a queueing
    model, and time is simulated. Rehearsals of --times are drawn from the model and decided by the same
    statistics.
    No host is contacted, and nothing is measured: a rehearsal supports no claim, and no other command
    compares it with runs.

    With --budget, or the key `budget` and no `repetitions`, rehearses the study that `study run` would fit
    into that time. No repetition begins that would exceed the budget.
    """
    need("study rehearse", "spark", "report")
    from density_study.cluster.providers.simulated.noise import Noise
    from density_study.dags.stages.budget import fitted
    from density_study.dags.stages.earlier import Earlier
    from density_study.dags.stages.rehearsal import foreseen, planned, rehearse
    from density_study.workloads.simulated.effects_file import named_effects
    from density_study.workloads.study.study_file import read_study

    overrides = parse_overrides(sets or [])
    file = read_study(spec, overrides)
    if fit_s := budget or file.study.fit_s:
        within = fitted(
            spec, overrides, Earlier(file.study, runs), fit_s, planned, tuple(only or ())
        )
        file = within.made.file
        progress(err).print(f"budget: {within.chosen}")
    seen = foreseen(file, folder, named_effects(effects), Noise.parse(noise), tuple(only or ()))
    if not as_json:
        _print_costs(seen)
    root = None
    if not drawn:
        with progress(err).status("Rehearsing the steps, and analysing their records"):
            root = rehearse(seen, folder)
    with progress(err).status("Drawing rehearsals"):
        found = seen.decided(times)
    if as_json:
        print_json({**seen.facts(), "folder": root, "decisions": found.facts()})
        return
    if root is not None:
        print_report(root)
    _print_decisions(found, "" if drawn else "; the report is of another one")


def _print_costs(seen: Foreseen) -> None:
    from density_study.workloads.base.quantity import duration

    most = "at most " if seen.plan.precise else ""
    out.print(
        f"simulated: {counted(len(seen.plan.trials), 'trial')} in {most}about {duration(seen.most_s)}, "
        f"{seen.disk_mib / 1024:,.0f} GiB on the disks"
    )


def _print_decisions(found: Decisions, beside: str) -> None:
    from density_study.dags.cli.layout import titled

    rows = [(one.question, one.truth, one.rightly, one.wrongly) for one in found.rows]
    header = ("Simulated: question", "True of the model", "Decided rightly", "Wrong claim")
    caption = f"{counted(found.times, 'rehearsal')} drawn from the model{beside}"
    out.print(titled(caption, header, rows))
    out.print(f"\nsimulated: {found.sentence}")
