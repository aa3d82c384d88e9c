"""Tear-down: everything of one build gone, and proved gone. From the journal and the tag alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from cluster.model.cluster import Site
from cluster.model.errors import TearDownError
from cluster.providers.provider import Leftovers, provider_of
from cluster.state.events import BuildDestroyed
from cluster.state.journal import Journal


@dataclass(frozen=True)
class Proof:
    """That nothing is left: what was looked for, and how many of it were found (always none)."""

    tag: str
    looked_for: tuple[str, ...] = ("processes", "directories", "ports", "units", "machines")
    found: int = 0


def tear_down(site: Site, journal: Journal) -> Proof:
    """Stop this build's processes, remove its directories, keep its logs; `destroyed` is journalled.

    Needs no parent process and no Cluster; succeeds again after success, and for what never was.
    TearDownError if anything is left.
    """
    providers = _providers(site.tag, journal)
    for name in providers:
        remains = provider_of(name).destroy(site, journal)
        if remains:
            raise TearDownError(
                f"still there after tear-down: {remains.named}.",
                f"build {site.tag}",
                "look at what holds them, remove them, and run `study reap`.",
            )
    proof = Proof(site.tag)
    if providers:
        build = site.root.name
        journal.record(BuildDestroyed(build=build, tag=site.tag, proof=asdict(proof)))
    return proof


def remains_of(site: Site, journal: Journal) -> Leftovers:
    """What `tear_down` would remove. Changes nothing."""
    found = [provider_of(name).remains(site, journal) for name in _providers(site.tag, journal)]
    return Leftovers(
        *(
            tuple(one for remains in found for one in getattr(remains, field.name))
            for field in fields(Leftovers)
        )
    )


def give_back(tag: str, journal: Journal) -> None:
    """Release the hosts that the run `tag` leased, of whichever provider it used."""
    for name in _providers("", journal):
        provider_of(name).give_back(tag, journal)


def _providers(tag: str, journal: Journal) -> list[str]:
    """The providers of the build `tag`, or of all builds if it is empty. A build's intent comes first."""
    return sorted({intent.provider for intent in journal.intents("build", tag)})
