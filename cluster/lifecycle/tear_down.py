"""Tear-down: remove everything of one build and prove it gone, from only the journal and the tag."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from density_study.cluster.lifecycle.quiet_hosts import not_put_back, put_back
from density_study.cluster.model.cluster import Site
from density_study.cluster.model.errors import TearDownError, do_all, each_of
from density_study.cluster.providers.provider import Leftovers, Provider, provider_named
from density_study.cluster.state.events import BuildDestroyed
from density_study.cluster.state.journal import Journal

_GONE_WITHIN_S, _POLL_S = 1.0, 0.05
"""A killed process may take a moment to go, and its ports with it."""
_LOOKED_FOR = ("processes", "directories", "ports", "units", "machines")


def tear_down(site: Site, journal: Journal) -> None:
    """Stop this build's processes, remove its directories, keep its logs; `destroyed` is journalled.

    Needs no parent process and no Cluster; succeeds again after success, and for what never was. StudyError
    if that cannot be proved: a TearDownError for what is left, a HostLostError for a host that does not
    answer, or one error of several.
    """
    providers = [provider_named(name) for name in _providers(site.tag, journal)]
    # what fails on one host keeps nothing else from being removed; without all of them, nothing is proved
    do_all(
        partial(put_back, site, journal),
        *(partial(provider.destroy, site, journal) for provider in providers),
        *(partial(_prove_gone, provider, site, journal) for provider in providers),
    )
    if providers:
        proof = {"tag": site.tag, "looked_for": _LOOKED_FOR, "found": 0}
        journal.record(BuildDestroyed(build=site.root.name, tag=site.tag, proof=proof))


def _prove_gone(provider: Provider[Any], site: Site, journal: Journal) -> None:
    deadline = time.monotonic() + _GONE_WITHIN_S
    while left := provider.leftovers(site, journal):
        if time.monotonic() > deadline:
            raise TearDownError(
                f"still there after tear-down: {', '.join(left)}.",
                f"build {site.tag}",
                "find out what holds them, remove them, and run `study reap`.",
            )
        time.sleep(_POLL_S)


def leftovers_of(site: Site, journal: Journal) -> Leftovers:
    """What `tear_down` would remove. Changes nothing."""
    providers = map(provider_named, _providers(site.tag, journal))
    left = (one for provider in providers for one in provider.leftovers(site, journal))
    return (*not_put_back(site, journal), *left)


def release_hosts(tag: str, journal: Journal) -> None:
    """Release the hosts that the run `tag` leased, with whichever provider it used."""
    providers = map(provider_named, _providers("", journal))
    each_of(providers, lambda provider: provider.release_leases(tag, journal))


def _providers(tag: str, journal: Journal) -> list[str]:
    """The providers of the build `tag`, or of all builds if it is empty. A build's intent comes first."""
    return sorted({intent.provider for intent in journal.intents("build", tag)})
