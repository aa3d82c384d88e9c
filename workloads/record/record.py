"""`Record`: the directory a trial leaves. Open while the trial runs; closed once, then immutable.

    records/<trial>.open/   being written: opening.json says what it was to become
    records/<trial>/        closed: manifest.json is whole, with the SHA-256 of every other file

A trial that never ended is closed as `incomplete`; when it is run again, the incomplete record is
moved to records.superseded/, so that nothing of it is mixed in.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import StudyError
from cluster.state.atomic import sync_folder, write_text
from workloads.record.manifest import FORMAT, Manifest

OPEN = ".open"
MANIFEST = "manifest.json"
OPENING = "opening.json"


@dataclass(frozen=True)
class Record:
    """An open record. `root` is its directory until `close` renames it."""

    root: Path
    draft: Manifest

    @classmethod
    def open(cls, records: Path, draft: Manifest) -> Record:
        """Make the directory and note what it is to be. An incomplete record gives way; a closed
        one (complete or failed) is never run again: StudyError."""
        _supersede(records, draft.trial)
        root = records / (draft.trial + OPEN)
        for folder in ("raw", "monitor", "logs"):
            (root / folder).mkdir(parents=True)
        write_text(root / OPENING, draft.model_dump_json(indent=2))
        return cls(root, draft)

    @property
    def raw(self) -> Path:
        return self.root / "raw"

    @property
    def monitor(self) -> Path:
        return self.root / "monitor"

    def close(self, manifest: Manifest) -> Path:
        """Write manifest.json with the hash of every file, then give the record its name."""
        (self.root / OPENING).unlink(missing_ok=True)
        files = {
            str(file.relative_to(self.root)): _sha256(file)
            for file in sorted(self.root.rglob("*"))
            if file.is_file() and file.name != MANIFEST
        }
        whole = manifest.model_copy(update={"files": files})
        write_text(self.root / MANIFEST, whole.model_dump_json(indent=2) + "\n")
        return _give_name(self.root)


def close_unfinished(records: Path, reason: str) -> list[str]:
    """Close what a crash or an interrupt left open, as `incomplete`. Returns the trials' names."""
    closed = []
    for root in sorted(records.glob("*" + OPEN)):
        if (root / MANIFEST).exists():  # the crash came between manifest and rename
            _give_name(root)
            continue
        draft = _draft(root)
        if draft is None:  # not even opened: nothing was measured, nothing to keep
            _move_aside(root, records)
            continue
        reasons = (*draft.reasons, reason)
        Record(root, draft).close(
            draft.model_copy(update={"state": "incomplete", "reasons": reasons})
        )
        closed.append(draft.trial)
    return closed


def read_manifest(record: Path) -> Manifest:
    """The manifest of a closed record. StudyError if its format is not this version's."""
    path = record / MANIFEST
    value = json.loads(path.read_text(encoding="utf-8"))
    if value.get("format") != FORMAT:
        raise StudyError(
            f"record has format {value.get('format')!r}; this version reads {FORMAT}.",
            str(path),
            "analyse this run with the version of the program that wrote it.",
        )
    return Manifest.model_validate(value)


def closed_records(records: Path) -> dict[str, Manifest]:
    """Manifest of every closed record, by trial."""
    return {
        path.parent.name: read_manifest(path.parent)
        for path in sorted(records.glob(f"*/{MANIFEST}"))
        if not path.parent.name.endswith(OPEN)
    }


def _supersede(records: Path, trial: str) -> None:
    record = records / trial
    if not record.exists():
        return
    state = read_manifest(record).state
    if state != "incomplete":
        raise StudyError(
            f"its record is closed as {state!r}; a trial is never run into the same record twice.",
            str(record),
            "start a new run (--fresh) for a repetition.",
        )
    _move_aside(record, records)


def _move_aside(record: Path, records: Path) -> None:
    aside = records.with_name(records.name + ".superseded")
    aside.mkdir(exist_ok=True)
    number = len(list(aside.glob(f"{record.name}.*"))) + 1
    record.rename(aside / f"{record.name}.{number}")


def _give_name(root: Path) -> Path:
    named = root.with_name(root.name.removesuffix(OPEN))
    root.rename(named)
    sync_folder(named.parent)
    return named


def _draft(root: Path) -> Manifest | None:
    path = root / OPENING
    return Manifest.model_validate_json(path.read_text()) if path.exists() else None


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
