"""Keep a cluster standing, for people instead of trials.

A keeper owns the run: for `study up` a process of its own, for `study run --keep` that command itself. So
leases, `study status` and `study reap` treat a kept cluster like a study that is running. The keeper takes
its cluster down when the time is over or when it is released; if it is killed, `study reap` does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.cluster import Cluster, read_cluster
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state import lease
from density_study.cluster.state.events import ClusterKept, Event, kept_in
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.owner import Owner
from density_study.cluster.state.run_state import how_to_reap
from density_study.cluster.state.tags import tagged
from density_study.workloads.execution.run import Run, end_run
from density_study.workloads.execution.steps import build_to_keep, carry_out, close_run, keep_asked
from density_study.workloads.planning.plan import Step

SUFFIX = "-up"
"""Added to the study's name: a kept cluster is a run without trials, which `study run` must not resume."""
LOOK_EVERY_S = 30.0
LOOK_FOR_RELEASE_EVERY_S = 1.0
ENDED = "the kept cluster was taken down"


@dataclass(frozen=True)
class Kept:
    """A cluster that is kept on this machine. `tag`: that of its run, in the folder `root`. `until`: epoch
    seconds."""

    tag: str
    root: Path
    owner: Owner
    build: str
    until: float

    @property
    def folder(self) -> Path:
        """The build's folder."""
        return self.root / "builds" / self.build

    @property
    def cluster(self) -> Cluster:
        return read_cluster(self.folder)


def kept() -> Kept | None:
    """The cluster that is kept on this machine; None if there is none.

    InputError if a study that measures holds the machine, or if the keeper was killed and left its cluster.
    """
    held = lease.holder()
    if held is None:
        return None
    found = kept_in(Journal(held.root / JOURNAL).events(Event))
    if held.state == "dead":
        if found and tagged(held.tag):
            raise InputError(
                "its keeper was killed and left processes running.",
                f"the kept cluster {held.tag}",
                f"run `{how_to_reap(held.root)}`, which removes them.",
            )
        return None
    if not found:
        raise InputError(
            f"study {held.tag} is running; its cluster is not kept.",
            "this machine",
            "`study status` shows how far it is.",
        )
    return Kept(held.tag, held.root, held.owner, found.build, found.until)


def step_of(run: Run, build: str | None) -> Step:
    """The bring-up of `build`, or of the plan's first one. InputError if the plan has no such build."""
    ups = {step.build: step for step in run.plan.steps if step.kind == "up"}
    if build is not None and build not in ups:
        raise InputError(
            f"the study has no build {build!r}.",
            str(run.root),
            f"name one of these: {', '.join(ups)}.",
        )
    return ups[build] if build else next(iter(ups.values()))


def keep(run: Run, step: Step, seconds: float, ready: Callable[[Kept], None]) -> None:
    """Build the cluster of `step`, call `ready`, wait for so long, and take it down. It is taken down too if
    anything is raised, by a signal for instance. StudyError if it cannot be built or taken down."""
    failure = "its cluster did not come up"
    try:
        up = carry_out(run, step)
        if up.outcome != "ok":
            failure = up.message
            raise StudyError(up.message, step.label, f"read the logs in {run.root}/builds.")
        until = time.time() + seconds
        run.journal.record(ClusterKept(build=step.build, until=until))
        found = kept()
        assert found is not None, "this process holds the lease"
        failure = ""
        ready(found)
        while (left_s := until - time.time()) > 0:  # the machine may sleep meanwhile
            time.sleep(min(left_s, LOOK_EVERY_S))
    finally:
        close_run(run)
        end_run(run, "failed" if failure else "ok", failure or ENDED)


def hold(run: Run) -> None:
    """Keep the cluster that `study run --keep` requested, until its time is over or until it is released.

    Returns at once if nothing was requested, or if that cluster is down. The caller takes it down.
    """
    asked = keep_asked(run)
    build = build_to_keep(run, asked) if asked else None
    if asked is None or build is None:
        return
    until = time.time() + asked.seconds
    run.journal.record(ClusterKept(build=build, until=until))
    while time.time() < until and kept_in(run.journal.events(Event)):
        time.sleep(LOOK_FOR_RELEASE_EVERY_S)
