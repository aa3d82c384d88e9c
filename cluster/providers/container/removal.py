"""Find and remove what a build's containers have on a host, by the names that its journal has."""

from __future__ import annotations

from density_study.cluster.providers.container.making import Act
from density_study.cluster.providers.container.names import bridge_name, link_name
from density_study.cluster.state.events import Intent
from density_study.cluster.state.journal import Journal

_Names = tuple[list[str], list[str], list[list[str]]]


def find(act: Act, tag: str, journal: Journal, host: str = "") -> list[str]:
    """Descriptions of what exists. Changes nothing. `host` is empty for this machine."""
    names = _intended(tag, journal, host)
    if not any(names):
        return []
    found = act("find-containers", *names)
    where = f" on host {host}" if host else ""
    return [f"{kind} {name}{where}" for kind, there in found.items() for name in there]


def remove(act: Act, tag: str, journal: Journal, host: str = "") -> None:
    names = _intended(tag, journal, host)
    if not any(names):
        return
    for kind, there in act("remove-containers", tag, *names).items():
        for name in there:
            journal.write(f"{kind.replace(' ', '-')}-removed", tag=tag, host=host, path=name)


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
