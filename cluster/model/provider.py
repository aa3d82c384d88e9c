"""`ProviderKind`: what placement, plans and rules need to know of what makes a topology's nodes.

A provider is a class in a folder of `density_study.cluster.providers`, or in another package that names it by
an entry point. Plans, records and journals keep only its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, ClassVar

from pydantic_core import CoreSchema, core_schema

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.isolation import Isolation

_NAMED = "density_study.cluster.providers.provider:provider_named"
"""Imported by name, because providers stand above this package: they render files and start daemons."""


class ProviderKind:
    """The facts of a provider. There is one object of each, so that identity is equality.

    `cluster.providers.provider.Provider` adds what builds need.
    """

    name: str = ""
    """Its name in plans, records and journals."""
    isolation: ClassVar[Isolation]
    """What keeps its nodes apart, from density 1 on."""
    bare: ClassVar[str] = ""
    """Name of the provider of its control variant: the bare host, density 0. Empty: it divides no host."""
    here: ClassVar[bool] = False
    """Nodes see this machine's files, under the same paths."""
    shares_hosts: ClassVar[bool] = False
    """Nodes share memory, disks and ports with the hosts' other programs."""
    leases_hosts: ClassVar[bool] = False
    """Runs on other controllers may use the same hosts, so that a run leases them."""
    slowest: ClassVar[float] = 1.0
    """How many times as long as estimated its builds may take."""
    cuts_hosts: ClassVar[bool] = False
    """A fault may cut a host off from the others."""
    slows_disks: ClassVar[bool] = False
    """A fault may slow down a node's disk."""
    simulates: ClassVar[bool] = False
    """Its clusters are a model, on which nothing runs."""
    keeps_folders: ClassVar[bool] = False
    """A node sees folders that outlive its build: it has `make_kept_folder`."""

    no_network_factor: ClassVar[str] = ""
    """Why variants cannot differ in the network of its nodes; empty: they can."""
    fixed_of_network: ClassVar[Mapping[str, str]] = {}
    """Keys of that factor which its nodes cannot have, and why."""

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return resolve_name(_NAMED), (self.name,)

    def for_bare_hosts(self) -> ProviderKind:
        """What makes the control variant, where it divides hosts; otherwise itself."""
        return _parsed(self.bare) if self.bare else self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _parsed, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


def _parsed(value: Any) -> ProviderKind:
    """The provider with this name. ValueError if there is none."""
    if isinstance(value, ProviderKind):
        return value
    try:
        found: ProviderKind = resolve_name(_NAMED)(str(value))
    except InputError as error:
        raise ValueError(str(error)) from error
    return found
