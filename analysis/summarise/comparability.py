"""Warnings about builds, and hosts of one build, that are not equal (method 23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from density_study.analysis.summary.disclosure import Difference
from density_study.analysis.summary.summary import SummaryWarning
from density_study.cluster.machine.equality.judgement import differing_facts

MAX_NAMED = 5


def comparability_warnings(differences: Sequence[Difference]) -> Iterator[SummaryWarning]:
    """Method 23. A difference that the topology explains is expected and causes no warning."""
    if differences:
        named = "; ".join(str(one) for one in differences[:MAX_NAMED])
        more = f"; and {len(differences) - MAX_NAMED} more" if len(differences) > MAX_NAMED else ""
        yield SummaryWarning(
            code="incomparable-builds",
            message=f"Builds differ where they should be equal, so they are not compared: {named}{more}.",
            remedy="Make the hosts equal and repeat the run.",
        )


def unequal_hosts(disclosures: Iterable[Mapping[str, Any]]) -> Iterator[SummaryWarning]:
    """Method 23, for the hosts of one build. What could not be read is left out."""
    found = dict.fromkeys(
        one for each in disclosures for one in differing_facts(each.get("facts", {}))
    )
    if found:
        named = list(found)[:MAX_NAMED]
        yield SummaryWarning(
            code="unequal-hosts",
            message=f"Hosts of one build differ in what changes results: {'; '.join(named)}.",
            remedy="Make the hosts equal; `study doctor` names the commands.",
        )
