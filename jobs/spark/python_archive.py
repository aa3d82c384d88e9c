"""Archive of Python for executors on other machines: interpreter, required libraries, and this project.

YARN unpacks the relocatable .tar.gz next to each executor; `bin/python3.N` finds its `lib/python3.N` in any
folder. The nodes need the same kind of Linux and processor as this machine, but no Python.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.stack.cache import cache_root
from density_study.cluster.state.atomic import replacing

# Distributions that executors import, with dependencies. Spark ships its own Python packages.
LOADED = (
    "certifi", "charset-normalizer", "fsspec", "hdrhistogram", "idna", "numpy", "pyarrow",
    "requests", "urllib3",
)  # fmt: skip
PROJECT = ("analysis", "jobs", "workloads", "cluster")
_NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
PYTHON = f"bin/{_NAME}"
_LIBRARY = f"lib/{_NAME}"
_NOT_NEEDED = frozenset(
    {"__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "tkinter",
     "turtledemo", "ensurepip", "include"}
)  # fmt: skip
# Part of the names of Arrow's RPC library, which is not used and has an eighth of all bytes.
_FLIGHT = "flight"
_LEVEL = 1  # each node reads the archive once: stronger compression takes longer than sending it


def ensure_python_archive() -> Path:
    """Path of the archive, built if it is not in the cache (about 15 s). StudyError if the disk is full."""
    files = dict(_files())
    path = cache_root() / "python" / f"{_digest(files)}.tar.gz"
    if path.exists():
        return path
    try:
        with replacing(path) as aside:
            _pack(files, aside)
    except OSError as error:
        raise StudyError(
            f"cannot pack Python for the executors: {error.strerror}.",
            str(path.parent),
            "check the free disk space.",
        ) from error
    return path


def _pack(files: dict[str, Path], into: Path) -> None:
    with tarfile.open(into, "w:gz", compresslevel=_LEVEL, dereference=True) as archive:
        for name, file in sorted(files.items()):
            archive.add(file, name, recursive=False)


def _files() -> Iterator[tuple[str, Path]]:
    """(name in the archive, file)."""
    yield PYTHON, Path(sys.executable).resolve()
    shared = sysconfig.get_config_var("INSTSONAME") or ""
    library = Path(sysconfig.get_config_var("LIBDIR") or "/") / shared
    if ".so" in shared and library.is_file():
        yield f"lib/{shared}", library
    standard = Path(sysconfig.get_path("stdlib"))
    yield from ((f"{_LIBRARY}/{name}", path) for name, path in _below(standard))
    for loaded in LOADED:
        yield from ((f"{_LIBRARY}/{name}", path) for name, path in _of(loaded))
    root = Path(__file__).parents[2]  # the folder density_study
    for package in PROJECT:
        yield from (
            (f"{_LIBRARY}/density_study/{package}/{n}", path) for n, path in _below(root / package)
        )


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if (
            path.is_file()
            and not _NOT_NEEDED & set(name.parts)
            and not name.parts[0].startswith("config-")
        ):
            yield name.as_posix(), path


def _of(loaded: str) -> Iterator[tuple[str, Path]]:
    """Files of a distribution in site-packages, without its commands."""
    for file in distribution(loaded).files or ():
        path = Path(str(file.locate()))
        left_out = ".." in file.parts or _NOT_NEEDED & set(file.parts) or _FLIGHT in file.name
        if not left_out and path.is_file():
            yield file.as_posix(), path


def _digest(files: dict[str, Path]) -> str:
    """Changes with every file's name, size and time."""
    lines = (f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in _stats(files))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _stats(files: dict[str, Path]) -> Iterator[tuple[str, os.stat_result]]:
    return ((name, files[name].stat()) for name in sorted(files))
