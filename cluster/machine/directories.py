"""A build's directories on the disks of this machine: tagged and journalled, so that they can be removed."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from density_study.cluster.model.errors import InputError, each_of
from density_study.cluster.state import atomic
from density_study.cluster.state.tags import TAG_FILE

if TYPE_CHECKING:  # this module also runs on hosts, which have only the standard library
    from density_study.cluster.model.cluster import Site
    from density_study.cluster.model.host import Disk, MemoryFolder
    from density_study.cluster.model.topology import Node
    from density_study.cluster.state.journal import Journal

FOLDER = "density-study"


def data_dir(site: Site, node: Node) -> Path:
    """<disk>/density-study/<tag>/<node>; below the build's own folder for a node without a disk."""
    if node.disk is None:
        return site.root.absolute() / "data" / node.name
    return data_on(node.disk, site, node)


def data_on(disk: Disk | MemoryFolder, site: Site, node: Node) -> Path:
    return Path(disk.path).absolute() / FOLDER / site.tag / node.name


def cache_dir(site: Site, node: Node) -> Path | None:
    """The directory of the node's caches on a disk of their own; None if they have none."""
    if node.cache_disk is None or node.cache_disk == node.disk:
        return None
    return data_on(node.cache_disk, site, node)


def make(site: Site, node: Node, journal: Journal) -> Path:
    """Create the node's directories, empty; returns the first. InputError if a disk is not writable."""
    more = (data_on(disk, site, node) for disk in node.more_disks)
    for path in filter(None, (data_dir(site, node), *more, cache_dir(site, node))):
        make_folder(path, site, journal)
    return data_dir(site, node)


def make_folder(path: Path, site: Site, journal: Journal) -> None:
    """Create the directory `path`, tagged. InputError as in `make`."""
    journal.intend("make-dir", site.tag, path=str(path))
    make_at(path, site.tag)
    journal.write("dir-made", tag=site.tag, path=str(path))


def make_at(path: Path, tag: str) -> None:
    """Create the tagged directory `path`, which only this user can enter, with a `tmp` in it. InputError as
    in `make`, and if another user could put a directory of his own in its place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _check_parents(path, tag)
        path.mkdir(mode=0o700)
        (path / "tmp").mkdir()
        atomic.write_text(path / TAG_FILE, tag + "\n")
    except FileExistsError as error:
        raise InputError(
            "it exists already; a build needs a new directory.",
            str(path),
            "run `study reap`; if it is still there, it is not the study's: move it away.",
        ) from error
    except PermissionError as error:
        there = next(folder for folder in path.parents if folder.exists())
        raise _of_another_user(there, path) from error
    except OSError as error:
        raise InputError(
            f"cannot be created: {error.strerror}.",
            str(path),
            "give the host a disk path that you can write to.",
        ) from error


def check_programs(folders: Sequence[str]) -> None:
    """InputError for a folder on a disk from which Java could not load what daemons unpack there."""
    for folder in map(Path, folders):
        there = next(place for place in (folder, *folder.parents) if place.exists())
        if os.statvfs(there).f_flag & os.ST_NOEXEC:
            raise InputError(
                "its disk is mounted noexec: HBase's network library is unpacked there, and would not load.",
                f"disk {folder}",
                f"as root: mount -o remount,exec {there}, and the same in /etc/fstab; or name another disk.",
            )


def check_own(disk: Path) -> None:
    """InputError if the folder of studies on this disk belongs to another user, who could replace what is in
    it. Writes nothing."""
    place = disk / FOLDER
    if place.exists() and place.stat().st_uid != os.geteuid():
        raise _of_another_user(place, disk)


def _of_another_user(place: Path, where: Path) -> InputError:
    owner, me = _user(place.stat().st_uid), _user(os.geteuid())
    disk = place.parent if place.name == FOLDER else place
    return InputError(
        f"{place} belongs to user {owner}, and this study runs as {me}.",
        str(where),
        f"make a folder of {me}'s own on that disk, for example {disk}/{me}, and name it as the disk's "
        f"path. If no study of {owner} uses the disk, {owner} can remove the folder with `study reap`.",
    )


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _check_parents(path: Path, tag: str) -> None:
    """The folders that `data_on` adds to the disk's are this user's or root's, also where a link leads to
    them. Nobody else can replace what is in them, or in the disk's own folder."""
    *added, disk = list(path.parents)[: len(Path(tag).parts) + 2]
    for parent in added:
        if {parent.lstat().st_uid, parent.stat().st_uid} - {0, os.getuid()}:
            raise _of_another_user(parent, parent)
    for parent in (*added, disk):
        mode = parent.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise InputError(
                f"every user can replace what is in it (mode {stat.S_IMODE(mode):04o}).",
                str(parent),
                "run chmod o-w, or chmod +t, on it.",
            )


def made(site: Site, journal: Journal) -> list[Path]:
    """Directories that this build intended to make and that may still exist."""
    intents = journal.intents("make-dir", site.tag)
    paths = {Path(intent.path) for intent in intents if not intent.host}  # else on a host over SSH
    return sorted(path for path in paths if may_be_there(path))


def may_be_there(path: Path | str) -> bool:
    """True on a disk that has failed: it is not known to be gone."""
    try:
        return Path(path).exists()
    except OSError:
        return True


def remove(site: Site, journal: Journal, name: str = "") -> None:
    """Remove this build's directories, or those of this name, and parent folders that are then empty."""

    def remove_one(path: Path) -> None:
        inside = path.is_relative_to(site.root.absolute())
        if remove_at(path, site.tag, 1 if inside else None):
            journal.write("dir-removed", tag=site.tag, path=str(path))

    each_of((path for path in made(site, journal) if name in ("", path.name)), remove_one)


def remove_at(path: Path, tag: str, levels: int | None = None) -> bool:
    """Remove `path` if it carries the tag, then up to `levels` parent folders that are empty now; by default
    those that `data_on` adds to the disk's path."""
    if not path.exists() or not _is_ours(path, tag):
        return False
    # The tag goes last, so that an interrupted removal can still be recognised and repeated.
    for child in path.iterdir():
        if child.name != TAG_FILE:
            _remove(child)
    _remove(path)
    with contextlib.suppress(OSError):  # not empty: others use it
        for parent in list(path.parents)[: levels or len(Path(tag).parts) + 1]:
            parent.rmdir()
    return True


def _is_ours(path: Path, tag: str) -> bool:
    """Judged by its tag. Without a tag it must be as empty as an interrupted `make` leaves it."""
    file = path / TAG_FILE
    if file.exists():
        return file.read_text().strip() == tag
    return not any(child.name != "tmp" or any(child.iterdir()) for child in path.iterdir())


def _remove(path: Path) -> None:
    # Errors are not lost: tear-down looks for leftovers, and fails if there are any.
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
