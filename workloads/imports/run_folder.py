"""Writes imported trials as the folder of a run: all of it, or nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.atomic import sync_folder, write_text
from density_study.cluster.state.events import RunImported
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.plain_file import read_plain
from density_study.workloads.imports.built_trial import RecordFile
from density_study.workloads.imports.map_file import MapFile
from density_study.workloads.imports.piece import Recognised
from density_study.workloads.imports.recognise import MAP_FILE, MAX_BYTES
from density_study.workloads.imports.trials import ImportedTrial
from density_study.workloads.record.record import Record


def new_run_id() -> str:
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())


def write_run(
    folder: Path,
    file: MapFile,
    recognised: Mapping[str, Recognised],
    trials: Sequence[ImportedTrial],
    runs: Path,
) -> Path:
    """The run's folder. StudyError if a source file has changed since it was recognised.

    The folder appears under its name when every record in it is closed; until then it is below
    `.importing-<process>`.
    """
    run = trials[0].manifest.run
    root = runs / file.map.study / run
    if root.exists():
        raise StudyError("this run exists.", str(root), "import again in a second.")
    aside = runs / file.map.study / f".importing-{os.getpid()}" / run
    aside.mkdir(parents=True)
    try:
        for trial in trials:
            record = Record.open(aside / "records", trial.manifest)
            for one in trial.files:
                path = record.root / one.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(_content(folder, one, recognised[one.file]))
            record.close(trial.manifest)
        study = {"study": file.map.study, "question": file.map.question}
        write_text(aside / "study.yaml", yaml.safe_dump(study, sort_keys=False))
        write_text(aside / MAP_FILE, file.text)
        journal = Journal(aside / JOURNAL)
        journal.record(
            RunImported(
                study=file.map.study, run=run, trials=tuple(t.manifest.trial for t in trials)
            )
        )
        aside.rename(root)
        sync_folder(root.parent)
    finally:
        shutil.rmtree(aside.parent, ignore_errors=True)
    return root


def _content(folder: Path, one: RecordFile, source: Recognised) -> bytes:
    if not one.lines.whole:
        return one.lines.data
    data = read_plain(folder / one.file, MAX_BYTES)
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise StudyError(
            "the file changed during the import.",
            str(folder / one.file),
            "import again when nothing writes to the folder.",
        )
    return data
