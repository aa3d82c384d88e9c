"""`Workload`: what an imported trial ran: its test case, clients, window and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from density_study.workloads.base.test_case import TestCase
from density_study.workloads.base.values import Window
from density_study.workloads.imports.choose import Knowledge
from density_study.workloads.imports.found_windows import Found, moment_s
from density_study.workloads.imports.map_model import TrialEntry
from density_study.workloads.imports.piece import Lines
from density_study.workloads.record.recorded import ImportedClient


@dataclass(frozen=True)
class RecordFile:
    """`path` in the record, from `lines` of the source `file`."""

    path: str
    file: str
    lines: Lines


@dataclass(frozen=True)
class Workload:
    """What a trial ran. problems: why it failed, as its own output shows. doubts: what its files contradict
    in the map."""

    test_case: TestCase
    clients: tuple[ImportedClient, ...]
    files: tuple[RecordFile, ...]
    window: Window | None
    window_source: str
    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def settled_window(
    knowledge: Knowledge, trial: TrialEntry, found: Sequence[Found | None]
) -> tuple[Window | None, str]:
    """The map's window, else the first that was found, and where it comes from."""
    if trial.window is None:
        best = next((one for one in found if one is not None), None)
        if best is None:
            knowledge.note("window", None)
            return None, "unknown"
        return best
    zone = knowledge.file.map.time_zone
    try:
        start_s, end_s = (moment_s(one, zone) for one in (trial.window.start, trial.window.end))
    except ValueError as error:
        raise knowledge.fault(f"{error}.", "correct the time.", "window") from error
    if end_s <= start_s:
        raise knowledge.fault(
            "the window ends before it starts.", "correct start or end.", "window"
        )
    knowledge.note("window", trial.window)
    return Window(start_epoch_s=start_s, end_epoch_s=end_s), "map"
