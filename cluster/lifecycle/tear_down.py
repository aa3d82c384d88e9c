"""Tear-down: remove everything of one build and prove it gone, from only the journal and the tag."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from density_study.cluster.lifecycle.quiet_hosts import not_put_back, put_back
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import TearDownError, each_of
from density_study.cluster.providers.provider import Leftovers, provider_named
from density_study.cluster.state.events import BuildDestroyed
from density_study.cluster.state.journal import Journal

_LOOKED_FOR = ("processes", "directories", "ports", "units", "machines")


def tear_down(site: Site, journal: Journal) -> None:
    """Stop this build's processes, remove its directories, keep its logs; `destroyed` is journalled.

    Needs no parent process and no Cluster; succeeds again after success, and for what never was. StudyError
    if that cannot be proved: a TearDownError for what is left, a HostLostError for a host that does not
    answer, or one error of several.
    """
    providers = _providers(site.tag, journal)
    # what fails on one host keeps nothing else from being removed; without both, nothing is proved
    acts = (partial(put_back, site, journal), partial(_destroy, site, journal, providers))
    each_of(acts, lambda act: act())
    if providers:
        proof = {"tag": site.tag, "looked_for": _LOOKED_FOR, "found": 0}
        journal.record(BuildDestroyed(build=site.root.name, tag=site.tag, proof=proof))


def _destroy(site: Site, journal: Journal, providers: Iterable[str]) -> None:
    for name in providers:
        leftovers = provider_named(name).destroy(site, journal)
        if leftovers:
            raise TearDownError(
                f"still there after tear-down: {', '.join(leftovers)}.",
                f"build {site.tag}",
                "find out what holds them, remove them, and run `study reap`.",
            )


def leftovers_of(site: Site, journal: Journal) -> Leftovers:
    """What `tear_down` would remove. Changes nothing."""
    providers = map(provider_named, _providers(site.tag, journal))
    left = (one for provider in providers for one in provider.leftovers(site, journal))
    return (*not_put_back(site, journal), *left)


def release_hosts(tag: str, journal: Journal) -> None:
    """Release the hosts that the run `tag` leased, with whichever provider it used."""
    for provider in map(provider_named, _providers("", journal)):
        provider.release_leases(tag, journal)


def _providers(tag: str, journal: Journal) -> list[str]:
    """The providers of the build `tag`, or of all builds if it is empty. A build's intent comes first."""
    return sorted({intent.provider for intent in journal.intents("build", tag)})
