"""The files that are wanted of a tarball, a folder or a file of the user: by name, within limits."""

from __future__ import annotations

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.state.plain_file import read_named

_MOST_BYTES = 2**30
"""For all files together; the jars of Hadoop 3.4 have 0.3 GB."""
_MOST_UNPACKED = 2**34
"""Bytes of the tarball; that of Hadoop 3.4 has 2 GB."""
_MOST_LINKS = 8
_DAMAGED = (OSError, EOFError, ValueError, tarfile.TarError, zlib.error)


class ForeignLinkError(InputError):
    """A file is a link, but not to a file of its folder."""


@dataclass(frozen=True)
class Wanted:
    """Files whose name matches, in folders whose path ends so; without `folders`, the files themselves.
    `begins`: their first bytes. `kind`, `title` and `remedy`: for errors."""

    title: str
    remedy: str
    folders: tuple[str, ...]
    name: re.Pattern[str]
    begins: bytes
    kind: str

    def has(self, name: str) -> bool:
        path = PurePosixPath(name)
        if self.name.fullmatch(path.name) is None:
            return False
        ends = (PurePosixPath(folder).parts for folder in self.folders)
        return any(path.parent.parts[-len(end) :] == end for end in ends)


def taken(path: Path, wanted: Wanted) -> dict[str, bytes]:
    """Name -> content of what is wanted, from a tarball, a folder or a file. InputError if it cannot be read,
    has nothing of it, or has other files under such names."""
    try:
        found = dict(_files(path, wanted))
    except StudyError:
        raise
    except _DAMAGED as error:
        raise unusable(path, wanted, f"it cannot be read: {_reason(error)}") from error
    if wrong := [name for name, content in found.items() if not content.startswith(wanted.begins)]:
        raise unusable(path, wanted, f"{wrong[0]} is not a {wanted.kind}, whatever its name says")
    if not found and not wanted.folders:
        raise unusable(path, wanted, f"there is no {wanted.kind}")
    return found


def _reason(error: Exception) -> str:
    """Without the path, which the error that is shown names."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def unusable(
    path: Path, wanted: Wanted, why: str, kind: type[InputError] = InputError
) -> InputError:
    return kind(f"{wanted.title} cannot be taken from here: {why}.", str(path), wanted.remedy)


def _files(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        yield from _of_folder(path, wanted)
    elif wanted.folders:
        yield from _of_tarball(path, wanted)
    elif wanted.name.fullmatch(path.name):
        yield path.name, read_named(path, _MOST_BYTES)
    else:
        raise unusable(
            path,
            wanted,
            "its name must end in .jar, like counter.jar; jars of sources are not taken",
        )


def _of_tarball(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    """Files, and links to files of the same folder."""
    files, links = dict[str, bytes](), dict[str, str]()
    with (
        gzip.open(path) as unpacked,
        tarfile.open(fileobj=_Parts(unpacked), mode="r:") as archive,  # type: ignore[call-overload]
    ):
        for one in archive:
            if one.offset_data + one.size > _MOST_UNPACKED:
                raise unusable(path, wanted, f"it has more than {_MOST_UNPACKED >> 30} GiB")
            name = PurePosixPath(one.name).name
            if wanted.has(one.name) and one.issym():
                links[name] = one.linkname
            elif wanted.has(one.name) and one.isfile() and (stream := archive.extractfile(one)):
                files[name] = stream.read()
                _check_size(path, wanted, map(len, files.values()))
        while unpacked.read(2**20) and unpacked.tell() <= _MOST_UNPACKED:
            pass  # its checksum is at its end
    found = {**files, **{name: files.get(_end(name, links), b"") for name in links}}
    if lost := [name for name in links if not found[name]]:
        why = f"{lost[0]} is a link, but not to a file of its folder"
        raise unusable(path, wanted, why, ForeignLinkError)
    _check_size(path, wanted, map(len, found.values()))
    yield from found.items()


def _end(name: str, links: Mapping[str, str]) -> str:
    """Where a link leads, within its folder."""
    for _ in range(_MOST_LINKS):
        name = links.get(name, name)
    return name


def _check_size(path: Path, wanted: Wanted, sizes: Iterable[int]) -> None:
    if sum(sizes) > _MOST_BYTES:
        raise unusable(path, wanted, f"its files have more than {_MOST_BYTES >> 20} MiB together")


class _Parts:
    """An unpacked tarball, read in parts: a header may claim any size."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MOST_BYTES:
            raise OSError(f"a part of it claims {size} bytes")
        return self._stream.read(size)


def _of_folder(path: Path, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    """For the folders that are wanted, or of the folder itself, where it has none of them."""
    folders = [path / folder for folder in wanted.folders if (path / folder).is_dir()]
    sizes: list[int] = []
    for folder in folders or [path]:
        for one in sorted(folder.iterdir()):
            if wanted.name.fullmatch(one.name) and one.is_file() and not _is_alias(one, wanted):
                sizes.append(one.stat().st_size)
                _check_size(path, wanted, sizes)  # before it is in memory
                yield one.name, read_named(one, sizes[-1])


def _is_alias(path: Path, wanted: Wanted) -> bool:
    """Whether it is a second name of a jar in its folder, as vendors have them: hadoop-common.jar."""
    return wanted.kind == "jar" and path.is_symlink() and "/" not in str(path.readlink())
