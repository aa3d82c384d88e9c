"""What `study doctor` says of the hosts' settings: facts that change results, and what mends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from density_study.cluster.lifecycle.host_facts import facts_of
from density_study.cluster.machine.equality.judgement import (
    Facts,
    differing_facts,
    in_words,
    remarks,
    unknown_facts,
)
from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.topology import AnyTopology
from density_study.cluster.providers.ssh.acting import UNASKED
from density_study.workloads.planning.preflight import Check

_NAME = "settings of hosts that change results"


def setting_checks(topologies: Iterable[AnyTopology]) -> Iterator[Check]:
    """Warnings, with remedies: a study runs on such hosts all the same. A fault if a host does not answer."""
    try:
        found = facts_of(*topologies)
    except StudyError as fault:
        yield Check(_NAME, fault)
        return
    yield from _judged(found)


def _judged(facts: Facts) -> Iterator[Check]:
    for one in remarks(facts):
        yield Check(
            f"{one.fact.name} of {in_words(one.hosts)}",
            warning=f"{one.value}: {one.fact.why}. As root: {one.remedy}",
        )
    if different := differing_facts(facts):
        yield Check("hosts are equal", warning="; ".join(different))
    silent = [host for host, values in facts.get("machine", {}).items() if not values]
    unknown = [*unknown_facts(facts), *(f"all of {host}, {UNASKED}" for host in silent)]
    yield Check(f"{_NAME} (unknown: {', '.join(unknown)})" if unknown else _NAME)
