"""What is in effect: every property that a study sets, read back from the daemons that it is for."""

from __future__ import annotations

import http.client
from collections.abc import Iterable, Iterator, Mapping

from density_study.cluster.model.configuration import Configuration, DaemonKind, Site
from density_study.cluster.model.errors import StudyError
from density_study.cluster.render.daemons import Daemon
from density_study.cluster.state.plain_file import why_unread
from density_study.cluster.stores.answers import Fetch, fetch_json

_READERS: Mapping[Site, tuple[DaemonKind, ...]] = {
    "core-site": ("namenode", "datanode"),
    "hdfs-site": ("namenode", "datanode"),
    "yarn-site": ("resourcemanager", "nodemanager"),
    "mapred-site": (),  # jobs have it, and the history of each job
    "hbase-site": ("hmaster", "regionserver"),
}
_UNSET = "nothing"


def in_effect(
    daemons: Iterable[Daemon], configuration: Configuration, fetch: Fetch | None = None
) -> dict[str, dict[str, str]]:
    """<node>/<daemon> -> name -> value, as the daemon's /conf shows it.

    StudyError if a daemon does not answer, or has another value than the study sets.
    """
    found = {}
    for daemon in daemons:
        wanted = dict(_wanted(daemon, configuration))
        if wanted:
            values = _values(daemon, fetch or fetch_json)
            own = {name: values.get(name, _UNSET) for name in wanted}
            _check(daemon, wanted, own)
            found[f"{daemon.node}/{daemon.name}"] = own
    return found


def _wanted(daemon: Daemon, configuration: Configuration) -> Iterator[tuple[str, str]]:
    for site, properties in configuration.properties.items():
        if daemon.role in _READERS[site]:
            yield from properties.items()
    if configuration.block_cache and daemon.role == "regionserver":
        yield "hbase.bucketcache.size", str(configuration.block_cache.size_mib)


def _values(daemon: Daemon, fetch: Fetch) -> dict[str, str]:
    url = f"http://{daemon.http}/conf?format=json"
    try:
        return {one["key"]: str(one["value"]) for one in fetch(url)["properties"]}
    except (OSError, http.client.HTTPException, LookupError, ValueError, TypeError) as error:
        raise StudyError(
            f"{daemon.name} does not show its configuration: {why_unread(error)}.",
            url,
            "read its log; a study that sets properties needs /conf of each daemon.",
        ) from error


def _check(daemon: Daemon, wanted: Mapping[str, str], own: Mapping[str, str]) -> None:
    for name, value in wanted.items():
        # ${user.name} and the like: the daemon shows what they stand for
        if own[name].strip() != value.strip() and "${" not in value:
            raise StudyError(
                f"{daemon.name} runs with {name} = {own[name]}, not with {value}.",
                f"node {daemon.node!r}",
                "remove the property from factors.configuration: this version does not take it.",
            )
