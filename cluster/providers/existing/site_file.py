"""One XML file of a client configuration, as Hadoop's Configuration reads it, within limits.

Included files (xi:include) are read only from the same folder: its owner was checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import check_owner

_MAX_BYTES = 8 * 2**20
"""For a file with those that it includes. Files of large clusters have some hundred KiB."""
_XINCLUDE = "{http://www.w3.org/2001/XInclude}"
_INCLUDE, _FALLBACK = f"{_XINCLUDE}include", f"{_XINCLUDE}fallback"
_MAX_DEPTH = 10
"""How deeply files may include each other, and elements be nested."""
_MAX_FILES = 200
"""Read for one file: two that each include the next one twice are soon millions."""


@dataclass(frozen=True)
class Property:
    """`final`: what later files say of it does not count."""

    name: str
    value: str
    final: bool = False


def properties_of(path: Path) -> Iterable[tuple[str, str]]:
    """(name, value) of each property, in order. InputError if a file is damaged or too large."""
    return ((one.name, one.value) for one in entries_of(path))


def entries_of(path: Path) -> Iterator[Property]:
    """Each property of the file and of those that it includes, in order."""
    reader = _Reader()
    return reader.entries(reader.root(path), path, 0)


class _Reader:
    """Reads one file with those that it includes."""

    def __init__(self) -> None:
        self._files, self._left = 1, _MAX_BYTES

    def entries(self, root: ET.Element, path: Path, depth: int) -> Iterator[Property]:
        if depth > _MAX_DEPTH:
            raise _unreadable(path, f"more than {_MAX_DEPTH} elements or files are in one another")
        for entry in root:
            if entry.tag == "property":
                name, value = _part(entry, "name"), _part(entry, "value")
                if name and value is not None:
                    yield Property(name.strip(), value.strip(), _part(entry, "final") == "true")
            elif entry.tag == "configuration":
                yield from self.entries(entry, path, depth + 1)
            elif entry.tag == _INCLUDE:
                yield from self._included(entry, path, depth + 1)

    def _included(self, entry: ET.Element, path: Path, depth: int) -> Iterator[Property]:
        named = Path(entry.get("href", ""))
        other = path.parent / named.name
        if named.name == "" or path.parent / named != other:
            raise InputError(
                f"the file includes {str(named)!r} (xi:include), and only files of its own folder are "
                "followed.",
                str(path),
                "write the properties of that file into this one.",
            )
        fallback = entry.find(_FALLBACK)
        if other.is_symlink() or not other.is_file():
            if fallback is None:
                raise InputError(
                    f"the file includes {named.name} (xi:include), which is not there.",
                    str(path),
                    "add that file, or remove the line.",
                )
            yield from self.entries(fallback, path, depth)
            return
        self._files += 1
        if self._files > _MAX_FILES:
            raise _unreadable(path, f"it includes more than {_MAX_FILES} files, with repetitions")
        check_owner(other)
        yield from self.entries(self.root(other), other, depth)

    def root(self, path: Path) -> ET.Element:
        try:
            with path.open("rb") as stream:
                data = stream.read(self._left + 1)
            self._left -= len(data)
            if self._left < 0:
                raise _unreadable(
                    path, f"with what it includes it is larger than {_MAX_BYTES // 2**20} MiB"
                )
            return _without_namespace(ET.fromstring(data))
        except (ET.ParseError, OSError, ValueError) as error:  # ValueError: an unknown encoding
            raise _unreadable(path, str(error)) from error


def _without_namespace(root: ET.Element) -> ET.Element:
    """Hadoop reads elements by their local names, but those of XInclude."""
    for entry in root.iter():
        if not entry.tag.startswith(_XINCLUDE):
            entry.tag = entry.tag.rpartition("}")[2]
    return root


def _part(entry: ET.Element, name: str) -> str | None:
    """An element's text, or an attribute: Hadoop takes both."""
    return entry.get(name, entry.findtext(name))


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(
        f"the file cannot be read: {why}.", str(path), "correct it, or ask for it again."
    )
