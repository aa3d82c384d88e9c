"""Builds and tears down one cluster, and kills itself after a chosen line of its journal.

python -m tests.live.support.killed SPEC RUNS [KIND [real]]: without a kind it runs to its end. The
daemons are fakes that sleep, so that every line comes within seconds, unless `real` is given; the code
that starts, tags and removes them is real.
"""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from density_study.cluster.lifecycle import bring_up
from density_study.cluster.providers.physical.provider import PhysicalProvider
from density_study.cluster.render.daemons import PREPARE, Daemon
from density_study.cluster.render.rendered import Rendered
from density_study.cluster.state.journal import Journal
from density_study.workloads.execution import opening, steps
from density_study.workloads.execution.opening import open_run
from density_study.workloads.execution.run import end_run
from density_study.workloads.execution.steps import carry_out, close_run

STAND_IN = ("/bin/sleep", "600")


def kind_of(entry: dict[str, Any]) -> str:
    """The kind of a journal line, without its node or file."""
    return " ".join(str(entry[key]) for key in ("event", "act", "kind", "name") if key in entry)


def kinds(journal: Path) -> list[str]:
    """Every kind once, in the order of its first line; names of phases are not acts of their
    own."""
    return list(dict.fromkeys(kind_of(entry) for entry in Journal(journal).read()))


def die_after(kind: str) -> None:
    write = Journal.write

    def written(self: Journal, event: str, **fields: Any) -> None:
        write(self, event, **fields)
        if kind_of({"event": event, **fields}) == kind:
            os.kill(os.getpid(), signal.SIGKILL)

    Journal.write = written  # type: ignore[method-assign]


def stand_in(daemon: Daemon) -> Daemon:
    argv = ("/bin/true",) if daemon.name == PREPARE else STAND_IN
    return dataclasses.replace(daemon, command=dataclasses.replace(daemon.command, argv=argv))


def install() -> None:
    render = bring_up.render

    def rendered(*given: Any) -> Rendered:
        made = render(*given)
        stand_ins = tuple(stand_in(daemon) for daemon in made.daemons)
        return dataclasses.replace(made, prepare=stand_in(made.prepare), daemons=stand_ins)

    bring_up.render = rendered  # type: ignore[attr-defined]
    no_services: Any = SimpleNamespace(readiness=lambda *_: [])
    bring_up.store_of = lambda _: no_services  # type: ignore[attr-defined]
    steps.row_written_and_read = lambda *_: None  # type: ignore[attr-defined]
    opening.preflight = lambda *_: None  # type: ignore[attr-defined]
    PhysicalProvider.preflight = lambda *_: None  # type: ignore[method-assign]


def main(spec: Path, folder: Path, kind: str | None = None, daemons: str = "fake") -> None:
    if daemons == "fake":
        install()
    if kind is not None:
        die_after(kind)
    run = open_run(spec, folder)
    up = carry_out(run, run.plan.steps[0])
    assert up.outcome == "ok", up
    close_run(run)
    close_run(run)  # again, after removal: no effect, and no error
    end_run(run, "ok")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
