"""The study files that become DAGs, and their outlines.

Airflow reads them every minute, and again for each task, on hosts that are measuring. So outlines are cached,
by all that they depend on: the file's content, this program's code, and the workloads of other packages.
Imports only the standard library until an outline has to be made.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shlex import quote

from density_study.cluster.plugins import installed
from density_study.cluster.state.plain_file import read_named
from density_study.cluster.state.settings import setting
from density_study.dags.airflow_home.home import home, project_root
from density_study.dags.stages.outline import Outline

_CODE = ("cluster", "workloads", "dags/graph", "dags/stages")
_FAULT = "fault\n"
_MAX_BYTES = 2**20
"""No study file is that large: see workloads/base/yaml_text.py."""
_NO_NAME = re.compile("[{\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""In a path: what Airflow would read as a template, and what its database cannot keep."""


@dataclass(frozen=True)
class StudyFile:
    """`outline` is None for a file that is not valid; `fault` then names file, line and key."""

    path: Path
    outline: Outline | None
    fault: str = ""


def study_files() -> list[StudyFile]:
    """Every study file of the shipped studies and of the setting `studies`, in order of folder and name.

    If two files have the same study name, the later one is not valid.
    """
    found: list[StudyFile] = []
    named: dict[str, Path] = {}
    for path in _paths():
        study = read_outline(path)
        if study.outline is not None:
            first = named.setdefault(study.outline.study, path)
            if first != path:
                name = study.outline.study
                fault = f"{path}, key study: the name {name!r} is taken by {first}."
                study = StudyFile(path, None, f"{fault}\n  remedy: give one of them another name.")
        found.append(study)
    return found


def read_outline(path: Path) -> StudyFile:
    """The outline of the study in `path`, from the cache if it has not changed."""
    if fault := _name_fault(path):
        return StudyFile(path, None, fault)
    try:
        content = read_named(path, _MAX_BYTES)
    except OSError as error:
        return StudyFile(path, None, f"{path}: it cannot be read: {error.strerror}.")
    folder = home().root / "outlines"
    mine = hashlib.sha256(str(path).encode()).hexdigest()[:16]
    key = hashlib.sha256(content + _code().encode()).hexdigest()[:32]
    kept = folder / f"{mine}-{key}"
    try:
        return _read(path, kept.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, LookupError):  # not there yet, or damaged
        text = _made(path)
        _keep(kept, mine, text)
        return _read(path, text)


def _read(path: Path, text: str) -> StudyFile:
    if text.startswith(_FAULT):
        return StudyFile(path, None, text.removeprefix(_FAULT))
    return StudyFile(path, Outline.from_json(text))


def _paths() -> Iterator[Path]:
    folders = [project_root() / "workloads" / "studies"]
    folders += [Path(name) for name in (setting("studies") or "").split(os.pathsep) if name]
    for folder in folders:
        yield from (path.absolute() for path in sorted(folder.glob("*.yaml")))


def _name_fault(path: Path) -> str:
    found = _NO_NAME.search(str(path))
    shown = ascii(str(path))
    remedy = "rename it: use letters, digits and the characters . _ - only."
    return f"{shown}: the path has the character {found[0]!a}.\n  remedy: {remedy}" if found else ""


def _made(path: Path) -> str:
    from density_study.cluster.model.errors import StudyError
    from density_study.dags.stages.outline import outline_of
    from density_study.workloads.planning.planned_study import outlined_study
    from density_study.workloads.study.study_file import read_study

    try:
        planned = outlined_study(path)
        return outline_of(planned.study, planned.plan).to_json()
    except StudyError as error:
        with suppress(StudyError):
            read_study(path, recorded=True)
            resume = f"study run {quote(str(path))}"
            return f"{_FAULT}{error} It was valid earlier: `{resume}` resumes a run of it."
        return f"{_FAULT}{error}"
    except Exception as error:  # a workload of another package; the other studies keep their DAGs
        return f"{_FAULT}{path}: {type(error).__name__}: {error}"


def _keep(to: Path, mine: str, text: str) -> None:
    """Replace the file's earlier entry. Without the folder, the outline is made anew each time."""
    from density_study.cluster.state.atomic import write_text

    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        write_text(to, text)
        for other in to.parent.glob(f"{mine}-*"):
            if other != to:
                other.unlink(missing_ok=True)
    except OSError:
        return


@cache
def _code() -> str:
    """Digest of names, sizes and times of the source files, and of packages that add something."""
    root = project_root()
    files = [
        f"{path} {stat.st_size} {stat.st_mtime_ns}"
        for folder in _CODE
        for path in sorted((root / folder).rglob("*.py"))
        if (stat := path.stat())
    ]
    others = [f"{point.value} {point.dist.version if point.dist else ''}" for point in installed()]
    return hashlib.sha256("\n".join([*files, *others]).encode()).hexdigest()
