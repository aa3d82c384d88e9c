"""Running clusters: brought up and not taken down, according to the journals of their runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from density_study.cluster.machine.other_users.private_network import connect
from density_study.cluster.model.cluster import Cluster
from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.events import BuildDestroyed, BuildReady, Event, Intent
from density_study.cluster.state.journal import JOURNAL, Journal, events_among, run_folders
from density_study.cluster.state.plain_file import why_unread

_ANSWER_S = 5.0
_REMEDY = (
    "name a build whose cluster is still running; when a run ends, its clusters are taken down."
)


def running_clusters(runs: Path) -> list[Path]:
    """Folders of the builds below `runs` that became ready and were not destroyed, the newest last.

    A cluster whose processes died unnoticed is among them: see `require_yarn`.
    """
    found = [
        (ready_s, folder / "builds" / build)
        for folder in run_folders(runs)
        for build, ready_s in _ready(events_among(folder, Event)).items()
    ]
    return [folder for _, folder in sorted(found)]


def require_yarn(build: Path, cluster: Cluster) -> None:
    """StudyError if the cluster of the folder `build` was taken down, or its ResourceManager does not
    accept connections.

    Ports are reused: another cluster, with a measurement under way, may answer at the address of one
    that is gone. Where nothing listens, Hadoop's own client would retry for minutes.
    """
    build, address = build.absolute(), cluster.endpoints.one("resourcemanager.rpc")
    if cluster.topology.existing is not None:
        what = "an existing cluster has one queue for the study, which the analysis does not use."
        raise InputError(what, str(build), "name a build of a cluster that a study built.")
    if build.name not in _ready(Journal(build.parent.parent / JOURNAL).events(Event)):
        raise InputError("its cluster was taken down, or was never ready.", str(build), _REMEDY)
    host, _, port = address.rpartition(":")
    try:
        connect(cluster.endpoints.network, (host, int(port)), _ANSWER_S).close()
    except OSError as error:
        what = f"the ResourceManager does not answer: {why_unread(error)}."
        raise StudyError(what, address, _REMEDY) from error


def _ready(events: Iterable[Event]) -> dict[str, float]:
    """Builds that run according to these events of a journal, and since when (epoch seconds)."""
    ready: dict[str, float] = {}
    for event in events:
        if isinstance(event, BuildReady):
            ready[event.build] = event.t
        elif isinstance(event, BuildDestroyed) or (
            isinstance(event, Intent) and event.act == "build"
        ):
            ready.pop(event.build, None)
    return ready
