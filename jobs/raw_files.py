"""Which files of a record hold what: the raw files a trial should have left, found or missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # executors load this module, and need no models
    from workloads.manifest import Manifest


@dataclass(frozen=True)
class RawFile:
    """A file of a record and what to read it as.

    kind: a key of `jobs.readers.READERS`. subject: the host or client it tells of. path: absolute;
    empty when the record should hold such a file and does not, then `file` says where.
    """

    trial: str
    kind: str
    subject: str
    file: str
    path: str


def raw_files(run_root: Path, manifest: Manifest) -> Iterator[RawFile]:
    """The files of a trial's record that tables are made of. Of a trial that is complete, those that
    must be there and are not come with an empty path; one that failed may miss any."""
    record = run_root / "records" / manifest.trial
    for kind, subject, pattern in _expected(manifest):
        found = sorted(record.glob(pattern))
        for path in found:
            file = str(path.relative_to(record))
            yield RawFile(manifest.trial, kind, subject, file, str(path.absolute()))
        if not found and manifest.state == "complete":
            yield RawFile(manifest.trial, kind, subject, pattern, "")


def _expected(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """(kind, subject, pattern of the file's path in the record)."""
    for monitor in manifest.monitors:
        yield monitor.kind, monitor.host, monitor.file
    for client in manifest.clients:
        if manifest.setting.workload == "ycsb":
            yield "ycsb-summary", client.name, client.stdout
            yield "ycsb-status", client.name, client.stderr
            yield "ycsb-hdr", client.name, f"raw/{client.name}-*.hdr"
        else:
            yield "dfsio-results", client.name, f"raw/{client.name}.log"
            yield "dfsio-io", client.name, "raw/io/part-*"
            yield "dfsio-history", client.name, "raw/history/*.jhist"
