"""`Provider`: makes nodes out of hosts, and removes them. One folder each, one line here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

from cluster.cluster import Site
from cluster.errors import InputError
from cluster.journal import Journal
from cluster.ports import Ports
from cluster.render.blueprint import Places
from cluster.topology import Topology
from cluster.transport import Transport


@dataclass(frozen=True)
class Remains:
    """What of a build is still there: processes, directories, ports. Empty is the proof."""

    processes: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.processes or self.directories or self.ports)

    @property
    def named(self) -> str:
        return ", ".join((*self.processes, *self.directories, *self.ports))


class Provider(Protocol):
    """Everything is undone from the journal alone: who destroys need not be who created."""

    def places(self, site: Site, topology: Topology) -> Places:
        """Where the nodes' files will be. Pure."""
        ...

    def check(self, ports: Ports) -> None:
        """InputError if a port is taken. Starts nothing."""
        ...

    def reserve(self, ports: Ports) -> AbstractContextManager[None]:
        """`check`, and hold the ports against other studies while daemons take them."""
        ...

    def create(self, site: Site, topology: Topology, journal: Journal) -> None:
        """Make the nodes and their directories; each act is journalled before it is done."""
        ...

    def transport(self, site: Site, journal: Journal) -> Transport: ...

    def disclose(self, topology: Topology) -> dict[str, Any]:
        """What a stranger must know of the machines: kernel, CPU, memory, disks."""
        ...

    def destroy(self, site: Site, journal: Journal) -> Remains:
        """Remove what the journal or the mark says is this build's; returns what is left."""
        ...

    def remains(self, site: Site, journal: Journal) -> Remains:
        """What `destroy` would remove. Changes nothing."""
        ...


_MODULES = {"local": "cluster.local.provider"}


def provider_of(name: str) -> Provider:
    """The provider of that name; InputError if there is none."""
    if name not in _MODULES:
        raise InputError(
            f"there is no provider {name!r}.", "provider", f"use one of: {', '.join(_MODULES)}."
        )
    make: Callable[[], Provider] = import_module(_MODULES[name]).provider
    return make()
