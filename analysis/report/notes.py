"""Warnings a reader must see before any chart: the summary's own, and those its facts demand."""

from __future__ import annotations

from analysis.report.observations import emulated_media
from analysis.summary import Summary

FEWEST_BLOCKS_FOR_A_CLAIM = 5


def notes(summary: Summary) -> tuple[str, ...]:
    """The summary's warnings first; a fact already warned of is not said twice."""
    said = " ".join(summary.warnings).lower()
    own = [note for marker, note in _own(summary) if marker not in said]
    return (*summary.warnings, *own)


def _own(summary: Summary) -> list[tuple[str, str]]:
    """(what a warning that says the same would contain, the note)."""
    found = []
    if summary.isolation == "process":
        found.append(("isolation: process", _PROCESS))
    for medium in sorted(emulated_media(summary)):
        found.append(("emulated", f"The medium {medium} is emulated by an I/O limit."))
    if summary.blocks < FEWEST_BLOCKS_FOR_A_CLAIM:
        found.append(("points", _few_blocks(summary.blocks)))
    outside = sum(trial.verdict != "valid" for trial in summary.trials)
    if outside:
        found.append(("outside", _outside(outside, len(summary.trials))))
    return found


_PROCESS = (
    "isolation: process. Nodes are groups of processes on one machine, a stand-in for VMs: "
    "nothing here decides a claim about VMs."
)


def _few_blocks(blocks: int) -> str:
    count = "1 block" if blocks == 1 else f"{blocks} blocks"
    return f"{count}: points only, no claim. Claims need {FEWEST_BLOCKS_FOR_A_CLAIM} builds an arm."


def _outside(outside: int, trials: int) -> str:
    are = "trial is" if outside == 1 else "trials are"
    return (
        f"{outside} of {trials} {are} not valid: in the table of trials, with reasons, and outside "
        "the statistics."
    )


def badges(summary: Summary) -> tuple[str, ...]:
    """Marks that every figure carries, so that one cut out of the page still tells."""
    marks = ["isolation: process"] if summary.isolation == "process" else []
    marks += [f"{medium}: emulated" for medium in sorted(emulated_media(summary))]
    return tuple(marks)
