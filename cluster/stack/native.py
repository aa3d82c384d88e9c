"""Hadoop's native libraries, which no registry has: from the user's tarball of Apache's, or a folder.

`study stack add native` makes a stack of them, named by a hash of what is in it. A study names that hash, and
hosts and images get the stack as they get jars: <home>/lib/*.so*, <home>/manifest.json.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import InputError
from density_study.cluster.model.versions import NATIVE, NATIVE_DIGITS, Versions
from density_study.cluster.stack.stack import locked, stack_home
from density_study.cluster.stack.tree import MANIFEST, assembling, read_tree

HADOOP = "libhadoop.so"
_ELF = b"\x7fELF"
_MOST_BYTES = 2**28
"""Of all libraries together; those of Hadoop 3.4 have 12 MB."""


def add_native(path: Path) -> Versions:
    """The libraries of a tarball or folder, in the cache, by the hash that a study names. InputError if there
    are none that can be used."""
    try:
        libraries = dict(_of_tarball(path) if path.is_file() else _of_folder(path))
    except (OSError, tarfile.TarError) as error:
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
    """Name -> content of the libraries in the folder lib/native; links are followed within the archive."""
    with tarfile.open(path) as archive:
        members = [one for one in archive if _is_native(one.name) and (one.isfile() or one.issym())]
        if sum(one.size for one in members) > _MOST_BYTES:
            raise _unusable(path, f"its libraries have more than {_MOST_BYTES >> 20} MiB")
        for member in members:
            try:
                content = archive.extractfile(member)
            except KeyError as error:
                raise _unusable(path, f"{member.name} is a link to nothing") from error
            if content is not None:
                yield PurePosixPath(member.name).name, content.read()


def _is_native(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[-3:-1] == ("lib", "native") and ".so" in path.suffixes


def _of_folder(path: Path) -> Iterator[tuple[str, bytes]]:
    """Of a folder of Hadoop, or of the libraries themselves."""
    found = path / "lib" / "native" if (path / "lib" / "native").is_dir() else path
    files = [one for one in sorted(found.iterdir()) if ".so" in one.suffixes and one.is_file()]
    if sum(one.stat().st_size for one in files) > _MOST_BYTES:
        raise _unusable(path, f"its libraries have more than {_MOST_BYTES >> 20} MiB")
    yield from ((one.name, one.read_bytes()) for one in files)


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
