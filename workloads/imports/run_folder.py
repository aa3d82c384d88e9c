"""Writes imported trials as the folder of a run: all of it, or nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import yaml

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state import own_runs
from density_study.cluster.state.atomic import locked, naming, sync_folder, write_text
from density_study.cluster.state.events import RunImported
from density_study.cluster.state.journal import JOURNAL, Journal
from density_study.cluster.state.plain_file import read_plain
from density_study.cluster.state.run_id import next_run_id
from density_study.workloads.imports.built_trial import RecordFile
from density_study.workloads.imports.map_file import MapFile
from density_study.workloads.imports.piece import Recognised
from density_study.workloads.imports.recognise import MAP_FILE, MAX_BYTES
from density_study.workloads.imports.trials import ImportedTrial
from density_study.workloads.record.record import Record

_ASIDE = ".importing-"
_LOOK_EVERY_S = 0.05


@contextmanager
def reserved_run(runs: Path, study: str) -> Iterator[Path]:
    """The folder of a new run, empty, so that imports at the same time get one each. It is removed if the
    block leaves it empty."""
    while True:
        root = runs / study / next_run_id(runs)
        try:
            own_runs.make_folder(root)
            break
        except FileExistsError:  # another import took it, and has no journal yet
            time.sleep(_LOOK_EVERY_S)
    try:
        yield root
    finally:
        with suppress(OSError):  # not empty: it is a run now, or the study has others
            root.rmdir()
            root.parent.rmdir()


def write_run(
    folder: Path,
    file: MapFile,
    recognised: Mapping[str, Recognised],
    trials: Sequence[ImportedTrial],
    root: Path,
) -> None:
    """Write the trials as the run in the reserved folder `root`. StudyError if a source file has changed
    since it was recognised.

    All of it appears when every record is closed; until then it is below `.importing-<run>`.
    """
    own_runs.require_state_dir()
    aside = root.parent / f"{_ASIDE}{root.name}"
    with ExitStack() as held:
        with locked(root.parent / ".importing.lock"):  # no sweep between making and holding
            _sweep(root.parent)
            aside.mkdir()
            held.callback(shutil.rmtree, aside, ignore_errors=True)
            held.enter_context(_held(aside))
        _fill(aside / root.name, folder, file, recognised, trials)
        own_runs.register(aside / root.name)
        (aside / root.name).rename(root)
        sync_folder(root.parent)


def _fill(
    root: Path,
    folder: Path,
    file: MapFile,
    recognised: Mapping[str, Recognised],
    trials: Sequence[ImportedTrial],
) -> None:
    for trial in trials:
        record = Record.open(root / "records", trial.manifest)
        for one in trial.files:
            path = record.root / one.path
            path.parent.mkdir(parents=True, exist_ok=True)
            with naming(path):
                path.write_bytes(_content(folder, one, recognised[one.file]))
        record.close(trial.manifest)
    study = {"study": file.map.study, "question": file.map.question}
    write_text(root / "study.yaml", yaml.safe_dump(study, sort_keys=False))
    write_text(root / MAP_FILE, file.text)
    names = tuple(trial.manifest.trial for trial in trials)
    with naming(root / JOURNAL):
        Journal(root / JOURNAL).record(
            RunImported(study=file.map.study, run=root.name, trials=names)
        )


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the kernel's lock of the folder, which `_sweep` respects."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _sweep(study: Path) -> None:
    """Remove what killed imports left: their folders, and the empty ones that they had reserved."""
    for aside in study.glob(f"{_ASIDE}*"):
        with suppress(OSError), _held(aside):  # OSError: an import is writing it
            shutil.rmtree(aside)
            aside.with_name(aside.name.removeprefix(_ASIDE)).rmdir()


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
