"""The studies that come with the program: a command finds them by name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from density_study.cluster.model.errors import InputError

FOLDER = Path(__file__).resolve().parents[1] / "studies"


def shipped_studies() -> dict[str, Path]:
    """Name -> file."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.yaml"))}


def name_of(path: Path) -> str:
    """How a command names the study file `path`: a shipped one by its name, all others by their path."""
    return path.stem if path.parent == FOLDER else str(path)


def study_path(named: Path, base: Path = Path()) -> Path:
    """The study file `named`, relative to `base`; a shipped study if `named` is its name and no such file
    exists. InputError for a bare name that is neither; other files are read, and refused, by the caller."""
    path, shipped = base / named, shipped_studies()
    if path.is_file() or named.name != str(named) or named.suffix:
        return path
    if named.name in shipped:
        return shipped[named.name]
    if path.is_dir():
        inside = [str(file) for file in sorted(path.glob("*.yaml"))[:1]]
        remedy = f"name a YAML file in it{', for example ' if inside else ''}{''.join(inside)}."
        raise InputError("this is a folder, and not the file of a study.", str(named)[:200], remedy)
    similar = get_close_matches(named.name, shipped, n=1)
    raise InputError(
        "there is no such file, and no shipped study has this name.",
        str(named)[:200],
        f"did you mean {similar[0]}?" if similar else f"name a file, or {', '.join(shipped)}.",
    )
