"""The records that the tables contain, so that no record is read twice.

tables/ingested.json is removed before a table changes and written after all have changed, so it is correct
if it exists. It lists the tables' files with their sizes; after any difference, everything is read again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.atomic import write_text
from density_study.jobs.ingest.parse_task import FROM_FILES
from density_study.workloads.rows.every_table import every_table, tables_of_workloads
from density_study.workloads.rows.raw.raw_files import RawFile
from density_study.workloads.tables import Table
from density_study.workloads.tables.storage import is_local, read_of_others
from density_study.workloads.tables.store import table_path

FORMAT = 1
# Increase this when a reader returns other rows for the same bytes; all tables are then rebuilt.
READERS_VERSION = 6
MOST_BYTES = 2**28


def digest(files: Iterable[RawFile]) -> str:
    """Digest of a trial's record: names, sizes and times of its files, faults, and the context of their
    rows."""
    lines = (
        f"{f.kind} {f.subject} {f.file} {f.fault} {f.bytes} {f.modified_ns} {f.facts}"
        for f in files
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def read(run_root: Path) -> Mapping[str, str]:
    """Digests of the records in the tables; empty if the tables must be rebuilt. StudyError if a later
    version wrote them."""
    path = _path(run_root)
    try:
        value = json.loads(read_of_others(path, MOST_BYTES))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise StudyError(
            f"the tables have format {value.get('format') if isinstance(value, dict) else None!r};"
            f" this version reads {FORMAT}.",
            str(path),
            f"remove the folder of tables; study report {quote(str(run_root))} builds them again from the "
            "records.",
        )
    digests = value.get("digests")
    if not isinstance(digests, dict) or value != _state(run_root, digests):
        return {}
    return digests


def forget(run_root: Path) -> None:
    """Call this before a table changes."""
    _path(run_root).unlink(missing_ok=True)


def from_files() -> tuple[Table, ...]:
    """Every table that is made from raw files."""
    return (*FROM_FILES, *tables_of_workloads())


def remember(run_root: Path, digests: Mapping[str, str]) -> None:
    """Call this when all tables contain these records."""
    text = json.dumps(_state(run_root, digests), indent=1, sort_keys=True) + "\n"
    path = _path(run_root)
    if is_local(path):
        write_text(path, text)
    else:
        path.write_text(text, encoding="utf-8")


def _path(run_root: Path) -> Path:
    return run_root / "tables" / "ingested.json"


def _state(run_root: Path, digests: Mapping[str, str]) -> dict[str, Any]:
    """digests: those of each record's files, by trial. declared: digest of the tables' declarations and of
    the version of the readers. tables: size of each file, by table and name."""
    folders = {table.name: table_path(run_root, table) for table in from_files()}
    return {
        "format": FORMAT,
        "digests": dict(digests),
        "declared": hashlib.sha256(f"{READERS_VERSION} {every_table()}".encode()).hexdigest(),
        "tables": {
            name: {file.name: file.stat().st_size for file in sorted(folder.glob("*.parquet"))}
            for name, folder in folders.items()
        },
    }
