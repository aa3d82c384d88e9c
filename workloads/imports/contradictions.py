"""Numbers of a map that the trial's files contradict, and no check of the analysis sees: that knows when less
was done than was requested. These are more work, other work, and a window of another time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from density_study.workloads.base.values import Window
from density_study.workloads.imports.agreement import LOG_S, LOG_SHARE
from density_study.workloads.imports.found_windows import Found
from density_study.workloads.imports.map_model import DfsioEntry, YcsbEntry
from density_study.workloads.imports.piece import DfsioFacts, YcsbFacts
from density_study.workloads.imports.ycsb.shares import (
    MIX_TOLERANCE,
    are_alike,
    in_words,
    shares,
    shares_of_mix,
)
from density_study.workloads.ycsb.mixes import MIXES, is_load

MOST_MORE = 1.01
"""Most work that a run may have done, relative to what was requested."""
SHORT_S, LONG_S, LONG = 2.0, 60.0, 2.0
"""A window includes the start of a client; it is not twice as long as the run and a minute."""
SIGMAS = 3.0


def of_window(
    window: Window | None, found: Sequence[Found | None], run_s: float | None
) -> Iterator[str]:
    """window: the map's, None if it gives none. found: those that the files show. run_s: by the output."""
    if window is None:
        return
    length_s = window.end_epoch_s - window.start_epoch_s
    if run_s is not None and not _holds(length_s, run_s):
        yield f"window: {length_s:,.0f} s in the map, and the run took {run_s:,.0f} s"
    for other, source in [one for one in found if one is not None][:1]:
        away_s = max(
            other.start_epoch_s - window.end_epoch_s, window.start_epoch_s - other.end_epoch_s
        )
        if away_s > SHORT_S:
            when = "before" if other.start_epoch_s > window.end_epoch_s else "after"
            yield f"window: the map's lies {away_s:,.0f} s {when} that of the {source}"


def _holds(length_s: float, run_s: float) -> bool:
    shortest = run_s - max(SHORT_S, LOG_SHARE * run_s)
    return shortest <= length_s <= LONG * run_s + LONG_S


def of_ycsb(entry: YcsbEntry, clients: Mapping[str, YcsbFacts]) -> Iterator[str]:
    """clients: what each printed, by its name."""
    every = Counter[str]()
    for name, facts in clients.items():
        done = sum(facts.counts.values())
        every.update(facts.counts)
        if entry.operations and done > MOST_MORE * entry.operations:
            yield f"operations: {entry.operations:,} in the map, and {name} counts {done:,}"
        asked_s = entry.duration
        if asked_s and (facts.run_s or 0.0) > asked_s + max(LOG_S, LOG_SHARE * asked_s):
            yield f"duration: {asked_s:,.0f} s in the map, and {name} ran for {facts.run_s:,.0f} s"
    total = sum(every.values())
    if entry.records and is_load(entry.mix) and total > MOST_MORE * entry.records:
        yield f"records: {entry.records:,} in the map, and {total:,} were loaded"
    known = next((facts for name, facts in MIXES.items() if name == entry.mix), None)
    if known is None or not total:
        return
    asked, found = shares_of_mix(known), shares(every)
    # operations are drawn: of n, a share differs by sqrt(1 / 4n) at most
    if not are_alike(asked, found, max(MIX_TOLERANCE, SIGMAS / sqrt(4 * total))):
        yield f"mix: {entry.mix} is {in_words(asked)}, and the output counts {in_words(found)}"


def of_dfsio(entry: DfsioEntry, facts: DfsioFacts) -> Iterator[str]:
    if entry.files and facts.files > entry.files:
        yield f"files: {entry.files:,} in the map, and the result is of {facts.files:,}"
    size, each = entry.file_size, facts.file_mib
    if size and each is not None and not 1 / MOST_MORE <= each / size <= MOST_MORE:
        yield f"file_size: {size:,} MiB in the map, and the job processed {each:,.0f} MiB per file"
