"""Where runs are stored. Everything that lists runs uses this module."""

from __future__ import annotations

from pathlib import Path

JOURNAL = "journal.jsonl"


def run_folders(runs: Path, study: str | None = None) -> list[Path]:
    """Folders of the runs below `runs`, of one study or of all, in the order of their ids.

    A folder with a journal is a run. A link to a run's folder, or to its report, is not. A study's folder
    may be a link: runs are written there, too.
    """
    journals = (runs / study).glob(f"*/{JOURNAL}") if study else runs.glob(f"*/*/{JOURNAL}")
    found = (path.parent for path in journals if not path.parent.is_symlink())
    return sorted(found, key=lambda folder: (folder.name, folder))
