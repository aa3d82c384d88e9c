"""Find and remove what a build's containers have on a host, by the names that its journal has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from density_study.cluster.model.errors import do_all
from density_study.cluster.providers.container.making import Act
from density_study.cluster.providers.container.names import bridge_name, link_name
from density_study.cluster.state.events import Intent
from density_study.cluster.state.journal import Journal

_Names = tuple[list[str], list[str], list[list[str]]]


def find(act: Act, tag: str, journal: Journal, host: str = "") -> list[str]:
    """Descriptions of what exists. Changes nothing. `host` is empty for this machine."""
    where = f" on host {host}" if host else ""
    changed = [
        f"changed {what}{where}"
        for former in _former_tables(tag, journal, host)
        for what in act("files-changed", former)
    ]
    names = _intended(tag, journal, host)
    found = act("find-containers", tag, *names) if any(names) else {}
    return [*changed, *(f"{kind} {name}{where}" for kind, there in found.items() for name in there)]


def remove(act: Act, tag: str, journal: Journal, host: str = "") -> None:
    def remove_containers() -> None:
        names = _intended(tag, journal, host)
        removed = act("remove-containers", tag, *names) if any(names) else {}
        for kind, there in removed.items():
            for name in there:
                journal.write(f"{kind.replace(' ', '-')}-removed", tag=tag, host=host, path=name)

    tables = _former_tables(tag, journal, host)
    do_all(remove_containers, *(partial(act, "restore-files", former) for former in tables))


def _former_tables(tag: str, journal: Journal, host: str) -> list[Mapping[str, str]]:
    """The host's table of flows before the build's first change."""
    intents = journal.intents("set-flow-table", tag)
    return [intent.former for intent in intents if intent.host == host][:1]


def _intended(tag: str, journal: Journal, host: str) -> _Names:
    """Containers, interfaces (the bridge last) and routes."""

    def intents(act: str) -> list[Intent]:
        return [one for one in journal.intents(act, tag) if one.host == host]

    spaces = intents("make-netns")
    names = list(dict.fromkeys(one.path for one in spaces))
    links = list(dict.fromkeys(link_name(tag, one.node) for one in spaces))
    bridge = [bridge_name(tag)] if intents("make-bridge") else []
    routes = dict.fromkeys((one.path, one.via) for one in intents("make-route"))
    return names, [*links, *bridge], [list(route) for route in routes]
