"""What a study would have to ask for, in its own keys, where the run lacks what a chart compares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from analysis.report.charts.observations import Observation
from analysis.summary.summary import SettingSummary


def both_media(settings: Iterable[SettingSummary]) -> Iterator[str]:
    """Nothing if both are there; else what is needed and what the run has."""
    media = sorted({one.medium for one in settings})
    if len(media) < 2:
        yield f"both media (factors.medium: [hdd, flash]); {_had(media)}"


def several(what: str, found: Iterable[object]) -> Iterator[str]:
    """Nothing if `found` holds two different values; else what is needed."""
    known = sorted(str(one) for one in set(found) if one is not None)
    if len(known) < 2:
        yield f"two or more {what}; {_had(known)}"


def mixes(seen: Iterable[Observation], wanted: Sequence[str]) -> Iterator[str]:
    """Nothing if each mix has a valid trial; else which lack one."""
    found = {one.setting.mode for one in seen}
    missing = [mix for mix in wanted if mix not in found]
    if missing:
        yield f"valid ycsb trials of {' and '.join(missing)}"


def _had(found: Sequence[str]) -> str:
    return f"this run has {', '.join(found)}" if found else "this run has none"
