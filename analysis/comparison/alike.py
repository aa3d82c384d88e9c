"""Whether entries of one setting's id, of several runs, are of one setting."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.summary import SettingSummary


def alike(entries: Iterable[SettingSummary]) -> bool:
    """An id does not tell how large TestDFSIO's files are; within one study two sizes of one id are
    refused, between its runs the size may change. A summary made before it was told passes."""
    return len({entry.file_size_mib for entry in entries} - {None}) <= 1
