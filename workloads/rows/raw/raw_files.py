"""Find the raw files that a trial should have written, and report missing and rejected ones.

A record may come from a stranger: what its manifest names is looked for only within the record, and
read only if it is a plain file of bounded size.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from density_study.workloads.rows.raw.trial_context import TrialFacts, facts_of, host_of_client
from density_study.workloads.tables.storage import FileStat, is_local, listed, place

if TYPE_CHECKING:  # executors load this module, and need no models
    from density_study.workloads.record.manifest import Manifest

# Bounds an executor's memory. A sample of dool has 130 bytes, so three weeks of samples fit.
MAX_BYTES = 2**28


Listing = dict[str, tuple[Path, FileStat]]


class UnreadableError(Exception):
    """The file cannot or must not be read; the message is the reason."""


@dataclass(frozen=True)
class RawFile:
    """A file of a record and what to read it as.

    kind: a key of `workloads.rows.raw.readers.READERS`. subject: the host or client that it is about. path:
    absolute; empty when there is nothing to read, then `fault` says why and `file` where.
    """

    trial: str
    kind: str
    subject: str
    file: str
    path: str
    fault: str = ""
    bytes: int = 0
    modified_ns: int = 0
    facts: TrialFacts = field(default_factory=TrialFacts)


def raw_files_of(run_root: Path, manifests: Sequence[Manifest]) -> dict[str, list[RawFile]]:
    """The raw files of each trial. At a URI, all records are listed with one call."""
    records = run_root / "records"
    everything = listed(records)
    if everything is None:
        return {m.trial: list(raw_files(m, records / m.trial)) for m in manifests}
    by_trial: dict[str, Listing] = {manifest.trial: {} for manifest in manifests}
    for name, entry in everything.items():
        trial, _, file = name.partition("/")
        by_trial.get(trial, {})[file] = entry
    return {m.trial: list(raw_files(m, records / m.trial, by_trial[m.trial])) for m in manifests}


def raw_files(
    manifest: Manifest, record: Path, listing: Listing | None = None
) -> Iterator[RawFile]:
    """The files of a trial's record that tables are read from. A missing file of a complete trial has a
    fault; a failed trial, and one of others, may lack any file.

    listing: the record's files, of a record at a URI.
    """
    for kind, subject, pattern, facts in _expected(manifest):
        if not _stays_inside(pattern):
            yield RawFile(
                manifest.trial, kind, subject, pattern, "", "its name leads out of the record"
            )
            continue
        found = (
            [_looked_at(record, path) for path in sorted(record.glob(pattern))]
            if listing is None
            else [
                _taken(name, *listing[name])
                for name in sorted(listing)
                if PurePosixPath("/" + name).match("/" + pattern)
            ]
        )
        for file in found:
            yield replace(file, trial=manifest.trial, kind=kind, subject=subject, facts=facts)
        if not found and manifest.state == "complete" and manifest.imported is None:
            yield RawFile(manifest.trial, kind, subject, pattern, "", "missing from the record")


def content(file: RawFile) -> bytes:
    """The content of the file. UnreadableError if it has been replaced by something that must not be read."""
    path = place(file.path)
    try:
        if not is_local(path):
            return path.read_bytes()
        # do not follow a link, and do not block on a pipe, that has replaced the file
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            info = os.fstat(descriptor)
            if reason := _refusal(info):
                raise UnreadableError(reason)
            return stream.read(info.st_size)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror or error}") from error


def _stays_inside(pattern: str) -> bool:
    pure = PurePosixPath(pattern)
    return (
        bool(pure.parts)
        and not pure.is_absolute()
        and ".." not in pure.parts
        and "\0" not in pattern
    )


def _taken(file: str, path: Path, info: FileStat) -> RawFile:
    """A file at a URI."""
    fault = f"larger than {MAX_BYTES} bytes" if info.st_size > MAX_BYTES else ""
    where = "" if fault else str(path)
    return RawFile("", "", "", file, where, fault, info.st_size, info.st_mtime_ns)


def _looked_at(record: Path, path: Path) -> RawFile:
    """A file of this machine."""
    file = path.relative_to(record).as_posix()
    info = path.lstat()
    folders = [record / part for part in PurePosixPath(file).parents]
    linked = any(folder.is_symlink() for folder in folders)
    fault = "a symbolic link leads to it" if linked else _refusal(info)
    where = "" if fault else str(path.absolute())
    return RawFile("", "", "", file, where, fault, info.st_size, info.st_mtime_ns)


def _refusal(info: os.stat_result) -> str:
    if stat.S_ISLNK(info.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(info.st_mode):
        return "not a plain file"
    return f"larger than {MAX_BYTES} bytes" if info.st_size > MAX_BYTES else ""


def _expected(manifest: Manifest) -> Iterator[tuple[str, str, str, TrialFacts]]:
    """(kind, subject, pattern of the file's path in the record, context of its rows)."""
    for monitor in manifest.monitors:
        facts = facts_of(manifest, monitor.host, monitor.period_s, monitor.time_zone)
        yield monitor.kind, monitor.host, monitor.file, facts
    for exported in manifest.exported.files if manifest.exported else ():
        of_host = facts_of(manifest, None, exported.period_s)  # its times are this machine's
        yield exported.device, exported.host, exported.file, of_host
    for client in manifest.clients:
        facts = facts_of(manifest, host_of_client(manifest, client))
        for kind, pattern in manifest.test_case.raw_files(client):
            yield kind, client.name, pattern, facts
