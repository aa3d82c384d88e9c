"""The rules of a study's provider, and the provider that makes its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from density_study.cluster.providers.provider import OF_STUDIES, Provider, provider_named
from density_study.workloads.study.providers.rules import ProviderRules

if TYPE_CHECKING:
    from density_study.workloads.study.keys import StudyKeys


@cache
def rules_of(name: str) -> ProviderRules:
    """`RULES` of the provider's module in this package; the defaults, if it has none."""
    module = f"{__package__}.{name}"
    if find_spec(module) is None:
        return ProviderRules(name)
    rules: ProviderRules = import_module(module).RULES
    return rules


def filled(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A study before it is validated, with what its provider fills in. ValueError for what it cannot take."""
    name = value.get("provider")
    return rules_of(str(name)).filled(value) if name in OF_STUDIES else value


def nodes_of(study: StudyKeys) -> Provider[Any]:
    """What makes the study's nodes, where they are not bare hosts."""
    return provider_named(rules_of(study.provider).nodes_by(study))


def check_provider(study: StudyKeys) -> None:
    """ValueError for the first rule of a provider that the study violates."""
    rules = rules_of(study.provider)
    for name in OF_STUDIES:
        if name != study.provider:
            rules_of(name).check_foreign(study)
    rules.check(study)


def densities(study: StudyKeys) -> tuple[tuple[int, int], ...]:
    """(VMs per host, RegionServers per node) of every combination of these factors that is built.

    A VM or container has one RegionServer. Only the bare host may have more: as control variant, it has as
    many RegionServers as there would be VMs (default: as many as the densest variant has VMs).
    """
    vms, servers = study.factors.vms_per_host, study.factors.regionservers_per_node
    if not nodes_of(study).bare:
        return tuple((level, each) for level in vms for each in servers)
    if "regionservers_per_node" not in study.factors.model_fields_set:
        servers = tuple(dict.fromkeys((1, max(vms))))
    return tuple((level, each) for level in vms for each in (servers if level == 0 else (1,)))
