"""`Record`: the directory of a trial. Open while the trial runs; closed once, then immutable.

    records/<trial>.open/   being written: opening.json holds the draft of the manifest
    records/<trial>/        closed: manifest.json is complete, with the SHA-256 of every other file

A trial that did not end is closed as `incomplete`. When a trial runs again, because it is incomplete or was
cleared in Airflow, its record moves to records.superseded/<trial>.<attempt>/. So records/ holds the newest
attempt of every trial, and nothing else enters a number.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.old_names import present
from density_study.cluster.state.atomic import sync_folder, write_text
from density_study.cluster.state.plain_file import why_unread
from density_study.workloads.base.workload import RecordFolder
from density_study.workloads.record.manifest import FORMAT, Manifest
from density_study.workloads.tables.storage import read_of_others

OPEN = ".open"
MANIFEST = "manifest.json"
OPENING = "opening.json"
MAX_MANIFEST_BYTES = 2**26
# As `cluster.render.names.check_name`, but as long as a folder's name: a trial's name has several parts.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")


@dataclass(frozen=True)
class Record(RecordFolder):
    """An open record. `root` is its directory until `close` renames it."""

    draft: Manifest

    @classmethod
    def open(cls, records: Path, draft: Manifest) -> Record:
        """Create the directory with the draft of its manifest. A closed record of the trial moves aside."""
        if (records / draft.trial).exists():
            _move_aside(records / draft.trial, records)
        root = records / (draft.trial + OPEN)
        for folder in ("raw", "monitor", "logs"):
            (root / folder).mkdir(parents=True)
        write_text(root / OPENING, draft.model_dump_json(indent=2))
        return cls(root, draft)

    def close(self, manifest: Manifest) -> Path:
        """Write manifest.json with the hash of every file, then rename the record to its final name."""
        files = {
            str(file.relative_to(self.root)): _sha256(file)
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and file.name not in (MANIFEST, OPENING)
        }
        complete = manifest.model_copy(update={"files": files})
        write_text(self.root / MANIFEST, complete.model_dump_json(indent=2) + "\n")
        return _rename(self.root)


def close_unfinished(records: Path, reason: str) -> list[str]:
    """Close records that a crash or an interrupt left open, as `incomplete`. Returns the trials' names."""
    closed = []
    for root in sorted(records.glob("*" + OPEN)):
        if (root / MANIFEST).exists():  # the crash happened between manifest and rename
            _rename(root)
            continue
        draft = _draft(root)
        if draft is None:  # the record was never opened: nothing was measured
            _move_aside(root, records)
            continue
        reasons = (*draft.reasons, reason)
        Record(root, draft).close(
            draft.model_copy(update={"state": "incomplete", "reasons": reasons})
        )
        closed.append(draft.trial)
    return closed


def read_manifest(record: Path) -> Manifest:
    """The manifest of a closed record. StudyError if it cannot be read, if its format is not this version's,
    or if a name in it is more than a name."""
    path = record / MANIFEST
    try:
        value = json.loads(read_of_others(path, MAX_MANIFEST_BYTES, folders=2))
        written = value.get("format")
        manifest = Manifest.model_validate(present(value, Manifest)) if written == FORMAT else None
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise StudyError(
            f"cannot read a manifest: {why_unread(error)}.",
            str(path),
            "restore the record, or remove it.",
        ) from error
    if manifest is None:
        raise StudyError(
            f"the record has format {written!r}; this version reads format {FORMAT}.",
            str(path),
            "analyse this run with the version of the program that wrote it.",
        )
    for what, name in _names(manifest):
        if not _NAME.fullmatch(name):
            raise StudyError(
                f"the record names {what} {name[:80]!r}, which is not made of letters, digits, '.', '-' and "
                "'_'.",
                str(path),
                "restore the record, or remove it.",
            )
    return manifest


def _names(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What the manifest calls things; tables, pages and commands show these names."""
    topology = manifest.topology
    yield from (("a study", manifest.study), ("a run", manifest.run), ("a trial", manifest.trial))
    yield from (("a build", manifest.build), ("a topology", topology.name))
    yield "a test case", manifest.test_case_id
    yield from (("a host", host.name) for host in topology.hosts)
    for node in topology.nodes:
        yield from (("a node", node.name), ("a host", node.host))
    yield from (("a client", client.name) for client in manifest.clients)
    for monitor in manifest.monitors:
        yield from (("a monitor", monitor.kind), ("a host", monitor.host))
    for file in manifest.exported.files if manifest.exported else ():
        yield from (("a monitor", file.device), ("a host", file.host))
    yield from (("a host", clock.host) for clock in manifest.clock)
    for guest in manifest.guests:
        yield from (("a node", guest.node), ("a host", guest.host))


def is_closed(record: Path) -> bool:
    """Whether `record` is the directory of a closed record."""
    return not record.name.endswith(OPEN) and (record / MANIFEST).exists()


def closed_trials(records: Path) -> list[str]:
    """Names of the trials with a closed record. Reads no manifest."""
    return sorted(
        path.parent.name for path in records.glob(f"*/{MANIFEST}") if is_closed(path.parent)
    )


def closed_records(records: Path) -> dict[str, Manifest]:
    """Manifest of every closed record, by trial."""
    return {trial: read_manifest(records / trial) for trial in closed_trials(records)}


def earlier_attempts(records: Path) -> dict[str, tuple[Manifest, ...]]:
    """Manifests of the superseded records of each trial that has some, oldest first."""
    found: dict[str, list[tuple[int, Manifest]]] = {}
    for path in _superseded(records).glob(f"*/{MANIFEST}"):
        trial, _, number = path.parent.name.rpartition(".")
        if number.isdecimal():  # other names are not the program's
            found.setdefault(trial, []).append((int(number), read_manifest(path.parent)))
    return {
        trial: tuple(manifest for _, manifest in sorted(attempts, key=lambda each: each[0]))
        for trial, attempts in sorted(found.items())
    }


def _move_aside(record: Path, records: Path) -> None:
    aside = _superseded(records)
    aside.mkdir(exist_ok=True)
    ends = (path.name.rpartition(".")[2] for path in aside.glob(f"{record.name}.*"))
    number = max((int(end) for end in ends if end.isdecimal()), default=0) + 1
    record.rename(aside / f"{record.name}.{number}")
    sync_folder(aside)


def _superseded(records: Path) -> Path:
    return records.with_name(records.name + ".superseded")


def _rename(root: Path) -> Path:
    """Remove the suffix of an open record, and its draft: until its manifest is written, the draft tells what
    was measured."""
    (root / OPENING).unlink(missing_ok=True)
    named = root.with_name(root.name.removesuffix(OPEN))
    root.rename(named)
    sync_folder(named.parent)
    return named


def _draft(root: Path) -> Manifest | None:
    path = root / OPENING
    if not path.exists():
        return None
    return Manifest.model_validate(present(json.loads(path.read_text()), Manifest))


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
