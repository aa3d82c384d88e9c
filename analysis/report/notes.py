"""Warnings a reader must see before any chart: the summary's own, and those its facts demand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from analysis.report.charts.observations import emulated_media
from analysis.summary.summary import Summary, TrialSummary

MIN_REPETITIONS_FOR_CLAIM = 5


def notes(summary: Summary) -> tuple[str, ...]:
    """The summary's warnings first, then what its facts demand; nothing is said twice."""
    media = sorted(emulated_media(summary))
    kept: dict[str, str] = {}
    for note in (*summary.warnings, *_own(summary)):
        kept.setdefault(_topic(note, media), note)
    return tuple(kept.values())


_TOPICS = {
    "isolation": r"isolation: process",
    "memory": r"served from memory",
    "repetitions": r"\brepetitions?: points\b",
    "flags": r"valid trials? (is|are) flagged",
    "outside": r"\b(invalid|unknown|not valid)\b.*\boutside\b",
}
"""What a note is about, by words it holds: two on one topic say the same."""


def _topic(note: str, media: Sequence[str]) -> str:
    for medium in media:
        if "emulated" in note and re.search(rf"\b{re.escape(medium)}\b", note):
            return f"emulated {medium}"
    found = (topic for topic, words in _TOPICS.items() if re.search(words, note, re.I))
    return next(found, " ".join(note.lower().split()))


def _own(summary: Summary) -> Iterator[str]:
    if summary.isolation == "process":
        yield _PROCESS
    for medium in sorted(emulated_media(summary)):
        yield f"The medium {medium} is emulated by an I/O limit."
    if summary.repetitions < MIN_REPETITIONS_FOR_CLAIM:
        yield _few_repetitions(summary.repetitions)
    outside = sum(trial.verdict != "valid" for trial in summary.trials)
    if outside:
        yield _outside(outside, len(summary.trials))
    valid = [trial for trial in summary.trials if trial.verdict == "valid"]
    flagged = [trial for trial in valid if trial.reasons]
    if flagged:
        yield _flagged(flagged, len(valid))


_PROCESS = (
    "isolation: process. Nodes are groups of processes on one machine, a stand-in for VMs: "
    "nothing here decides a claim about VMs."
)


def _few_repetitions(repetitions: int) -> str:
    count = "1 repetition" if repetitions == 1 else f"{repetitions} repetitions"
    return f"{count}: points only, no claim. Claims need {MIN_REPETITIONS_FOR_CLAIM} builds an arm."


def _outside(outside: int, trials: int) -> str:
    are = "trial is" if outside == 1 else "trials are"
    return (
        f"{outside} of {trials} {are} not valid: in the table of trials, with reasons, and outside "
        "the statistics."
    )


def _flagged(trials: Sequence[TrialSummary], valid: int) -> str:
    flags = Counter(flag for trial in trials for flag in {_flag(why) for why in trial.reasons})
    told = ", ".join(f"{flag} {count}" for flag, count in sorted(flags.items()))
    one = len(trials) == 1
    return (
        f"{len(trials)} of {valid} valid trials {'is' if one else 'are'} flagged ({told}): "
        f"{'it counts' if one else 'they count'}; what each flag means is at Validity and trials."
    )


def _flag(reason: str) -> str:
    """A flag's reason begins with its name."""
    return reason.partition(":")[0]


def badges(summary: Summary) -> tuple[str, ...]:
    """Marks that every figure carries, so that one cut out of the page still tells."""
    marks = ["isolation: process"] if summary.isolation == "process" else []
    marks += [f"{medium}: emulated" for medium in sorted(emulated_media(summary))]
    return tuple(marks)
