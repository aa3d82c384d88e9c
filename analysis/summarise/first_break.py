"""What breaks first where a study promises more memory or cores than there are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from density_study.analysis.summary.summary import SummaryWarning
from density_study.workloads.record.manifest import Manifest
from density_study.workloads.study.factors.oversubscribe import OVERSUBSCRIBE

_KINDS = ("memory", "cores")


def first_breaks(manifests: Iterable[Manifest]) -> Iterator[SummaryWarning]:
    """Yield a note for each ladder of oversubscription (a test case on otherwise equal clusters, by memory or
    cores): the level at which trials begin to fail, or that none failed."""
    ladders: dict[tuple[str, str, str], dict[float, list[Manifest]]] = {}
    for one in manifests:
        level = one.topology.levels.get(OVERSUBSCRIBE.name, "")
        kind, _, times = level.partition("-")
        if kind in _KINDS and one.state != "incomplete":
            alike = one.topology.name.replace(f"-{level}", "", 1)
            ladders.setdefault((one.test_case_id, alike, kind), {}).setdefault(
                float(times), []
            ).append(one)
    for (test_case, alike, kind), levels in sorted(ladders.items()):
        yield SummaryWarning(
            code="oversubscription",
            level="info",
            message=f"{test_case} on {alike}: {_told(kind, levels)}",
        )


def _told(kind: str, levels: dict[float, list[Manifest]]) -> str:
    held = 0.0
    for times in sorted(levels):
        broken = [one for one in levels[times] if one.state == "failed"]
        if broken:
            before = f"{held:g} times the {kind} held; " if held else ""
            why = next((one.reasons[0] for one in broken if one.reasons), "no reason is recorded")
            return (
                f"{before}{times:g} times broke {len(broken)} of {len(levels[times])} trials, first "
                f"{broken[0].trial}: {why.rstrip('.')}."
            )
        held = times
    return f"{held:g} times the {kind} held in all trials; nothing broke."
