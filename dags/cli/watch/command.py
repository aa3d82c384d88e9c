"""`study watch`: a run under way, second by second, whoever drives it. Thin, like dags/cli/main.py."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from density_study.cluster.model.extras import need
from density_study.dags.cli.arguments import RUNS, Named, Runs, examples, option
from density_study.dags.cli.console import out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from density_study.dags.run_status.progress import Progress
    from density_study.workloads.execution.run import Run

EXAMPLES = examples(
    "study watch",
    "study watch runs/quickstart/20261120T201530Z",
    "study watch --web 8090",
    "study watch --web 8090 --metrics",
)
EVERY_S = 1.0
ALIVE_EVERY_S = 10.0
"""How often the owner of the run is looked for: a killed one writes no end."""


def watch(
    run: Named = None,
    runs: Runs = RUNS,
    web: Annotated[
        int | None,
        option(
            "--web",
            "PORT",
            "Serve a page with the same view on this machine's loopback address; 0: a free port.",
            min=0,
            max=65535,
        ),
    ] = None,
    metrics: Annotated[
        bool,
        typer.Option(
            "--metrics",
            help="Serve /metrics (OpenMetrics) beside the page. Without --web: on a free port.",
        ),
    ] = False,
) -> None:
    """Watch a run: its step, and each second rate, p99, CPU of hosts and nodes; results as trials end.

    Reads the run's files, so it works for a run of `study run` and of Airflow alike, and may start and stop
    at any time. Ctrl-C ends the view, not the run. Without RUN: the newest.

    Exit codes: 0 the run succeeded, 1 it failed or was interrupted, 2 invalid input.
    """
    from density_study.dags.cli.display import status_page
    from density_study.dags.cli.progress_display import progress_display
    from density_study.dags.cli.watch.page import Page
    from density_study.dags.run_status.status import find_run, status_of

    found = find_run(run, runs)
    if metrics:
        need("--metrics", "telemetry")
    page = Page(web or 0, metrics) if web is not None or metrics else None
    try:
        with ExitStack() as stack:
            if page:
                stack.enter_context(page.served())
                out.print(f"page     {page.url}")
            show = stack.enter_context(progress_display(out, found.plan))
            for seen in _seen(found):
                show(seen)
                if page:
                    page.show(seen)
                elif not out.has_reader:
                    return
    except KeyboardInterrupt:
        return
    ended = status_of(found)
    out.print(*status_page(ended), sep="\n")
    if ended.state != "ok":
        raise typer.Exit(1)


def _seen(run: Run) -> Iterator[Progress]:
    """The progress each second, until the run ends or its owner is dead."""
    from density_study.cluster.state import presence
    from density_study.cluster.state.events import Event
    from density_study.cluster.state.run_state import run_state
    from density_study.dags.run_status.live import LiveTrial
    from density_study.dags.run_status.progress import progress

    live = LiveTrial(run.study, run.plan, run.records)
    asked_t = 0.0
    while True:
        now, is_over = time.time(), False
        if now - asked_t >= ALIVE_EVERY_S:
            asked_t = now
            # cheaper than the whole status, which also has failures and progress
            found = run_state(run.root, presence.is_free(run.root))
            is_over = found is None or found.state in ("dead", "ended")
        events = run.journal.events(Event)
        now = events[-1].t if is_over and events else now  # a dead run takes no more time
        seen = live.added_to(progress(run.plan, events, now), now)
        yield seen
        if is_over or seen.state == "ended":
            return
        time.sleep(EVERY_S)
