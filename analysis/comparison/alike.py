"""Whether entries with the same setting id, from several runs, are comparable: no knob differs."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.summary.summary import SettingSummary


def differing(entries: Iterable[SettingSummary]) -> tuple[str, ...]:
    """In words, the knobs that the id omits and that differ between the entries.

    An id omits the size of TestDFSIO's files, and YCSB's duration and key distribution. One study file
    cannot have two values for one id, but its runs can. A null in an entry is ignored.
    """
    values: dict[str, list[str | float]] = {}
    for entry in entries:
        size: dict[str, str | float | None] = {"file_size_mib": entry.file_size_mib}
        for knob, value in {**size, **entry.unnamed_knobs}.items():
            if value is not None and value not in values.setdefault(knob, []):
                values[knob].append(value)
    return tuple(
        f"{knob} {', '.join(_shown(value) for value in found)}"
        for knob, found in values.items()
        if len(found) > 1
    )


def _shown(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
