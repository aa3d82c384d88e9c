"""Whether entries of one setting's id, of several runs, are of one setting."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.summary.summary import SettingSummary


def alike(entries: Iterable[SettingSummary]) -> bool:
    """Whether no knob that the id does not tell differs: see `differing`."""
    return not differing(entries)


def differing(entries: Iterable[SettingSummary]) -> tuple[str, ...]:
    """In words, the knobs that an id does not tell and that are not the same in all entries.

    An id does not tell how large TestDFSIO's files are, or how long YCSB ran and how it drew its keys;
    within one study two values of one id are refused, between its runs they may change. What a summary
    made before it was told does not hold passes.
    """
    values: dict[str, list[str | float]] = {}
    for entry in entries:
        told: dict[str, str | float | None] = {"file_size_mib": entry.file_size_mib}
        for knob, value in {**told, **entry.unnamed_knobs}.items():
            if value is not None and value not in values.setdefault(knob, []):
                values[knob].append(value)
    return tuple(
        f"{knob} {', '.join(_shown(value) for value in found)}"
        for knob, found in values.items()
        if len(found) > 1
    )


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
