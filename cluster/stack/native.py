"""Hadoop's native libraries, which no registry has: from the user's tarball of Apache's, or a folder.

`study stack add native` makes a stack of them, named by a hash of what is in it. A study names that hash, and
hosts and images get the stack as they get jars: <home>/lib/*.so*, <home>/manifest.json.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import InputError, StudyError
from density_study.cluster.model.versions import NATIVE, NATIVE_DIGITS, Versions
from density_study.cluster.stack.stack import locked, stack_home
from density_study.cluster.stack.tree import MANIFEST, assembling, read_tree
from density_study.cluster.state.plain_file import read_named

HADOOP = "libhadoop.so"
_ELF = b"\x7fELF"
_LIBRARY = re.compile(r"lib[A-Za-z0-9_.+-]{1,80}\.so[0-9.]{0,20}")
_MOST_BYTES = 2**28
"""Of all libraries together; those of Hadoop 3.4 have 12 MB."""
_MOST_UNPACKED = 2**34
"""Bytes of the tarball; that of Hadoop 3.4 has 2 GB."""
_MOST_LINKS = 8
_DAMAGED = (OSError, EOFError, ValueError, tarfile.TarError, zlib.error)


def add_native(path: Path) -> Versions:
    """The libraries of a tarball or folder, in the cache, by the hash that a study names. InputError if there
    are none that can be used."""
    try:
        libraries = dict(_of_tarball(path) if path.is_file() else _of_folder(path))
    except StudyError:
        raise
    except _DAMAGED as error:
        raise _unusable(path, f"it cannot be read: {error}") from error
    if HADOOP not in libraries:
        raise _unusable(path, f"it has no {HADOOP} in lib/native")
    if wrong := [name for name, content in libraries.items() if not content.startswith(_ELF)]:
        raise _unusable(path, f"{wrong[0]} is no library for Linux")
    sha256 = _sha256(libraries)
    versions = Versions(native=sha256[:NATIVE_DIGITS])
    home = stack_home(NATIVE, versions)
    with locked(home):
        if read_tree(home) != sha256:
            _write(home, libraries, sha256)
    return versions


def _of_tarball(path: Path) -> Iterator[tuple[str, bytes]]:
    """Name -> content of the libraries in the folder lib/native, and of links to them."""
    files, links = dict[str, bytes](), dict[str, str]()
    with (
        gzip.open(path) as unpacked,
        tarfile.open(fileobj=_Parts(unpacked), mode="r:") as archive,  # type: ignore[call-overload]
    ):
        for one in archive:
            if one.offset_data + one.size > _MOST_UNPACKED:
                raise _unusable(path, f"it has more than {_MOST_UNPACKED >> 30} GiB")
            name = PurePosixPath(one.name).name
            if _is_native(one.name) and one.issym():
                links[name] = one.linkname
            elif _is_native(one.name) and one.isfile() and (stream := archive.extractfile(one)):
                files[name] = stream.read()
                _check_size(path, map(len, files.values()))
        while unpacked.read(2**20) and unpacked.tell() <= _MOST_UNPACKED:
            pass  # its checksum is at its end
    found = {**files, **{name: files.get(_end(name, links), b"") for name in links}}
    if lost := [name for name in links if not found[name]]:
        raise _unusable(path, f"{lost[0]} is a link to no file of its folder")
    _check_size(path, map(len, found.values()))
    yield from found.items()


def _end(name: str, links: Mapping[str, str]) -> str:
    """Where a link leads, within its folder."""
    for _ in range(_MOST_LINKS):
        name = links.get(name, name)
    return name


def _check_size(path: Path, sizes: Iterable[int]) -> None:
    if sum(sizes) > _MOST_BYTES:
        raise _unusable(path, f"its libraries have more than {_MOST_BYTES >> 20} MiB")


class _Parts:
    """An unpacked tarball, read in parts: a header may claim any size."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MOST_BYTES:
            raise OSError(f"a part of it claims {size} bytes")
        return self._stream.read(size)


def _is_native(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[-3:-1] == ("lib", "native") and _LIBRARY.fullmatch(path.name) is not None


def _of_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    """Of a folder of Hadoop, or of the libraries themselves."""
    found = path / "lib" / "native" if (path / "lib" / "native").is_dir() else path
    left = _MOST_BYTES
    for one in sorted(found.iterdir()):
        if _LIBRARY.fullmatch(one.name) and one.is_file():
            content = read_named(one, left)
            left -= len(content)
            yield one.name, content


def _sha256(libraries: Mapping[str, bytes]) -> str:
    lines = (
        f"{hashlib.sha256(libraries[name]).hexdigest()}  {name}\n" for name in sorted(libraries)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _write(home: Path, libraries: Mapping[str, bytes], sha256: str) -> None:
    facts = []
    with assembling(home) as aside:
        (aside / "lib").mkdir()
        for name, content in sorted(libraries.items()):
            (aside / "lib" / name).write_bytes(content)
            own = hashlib.sha256(content).hexdigest()
            facts.append({"name": name, "bytes": len(content), "sha256": own})
        version = sha256[:NATIVE_DIGITS]
        manifest = {"name": NATIVE, "version": version, "jars_sha256": sha256, "jars": facts}
        (aside / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")


def _unusable(path: Path, why: str) -> InputError:
    return InputError(
        f"Hadoop's native libraries cannot be taken from here: {why}.",
        str(path),
        "name Apache's tarball of the same version, like hadoop-3.4.2.tar.gz, or a folder with libhadoop.so.",
    )
