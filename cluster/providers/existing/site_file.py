"""One XML file of a client configuration, within limits. No other file is read for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET

from density_study.cluster.model.errors import InputError

_MAX_BYTES = 8 * 2**20
"""Of a file. Those of large clusters have some hundred KiB."""
_INCLUDE = "{http://www.w3.org/2001/XInclude}include"


def properties_of(path: Path) -> Iterable[tuple[str, str]]:
    """(name, value) of each property of an XML file. InputError if it is damaged or too large."""
    for entry in _root(path).iter("property"):
        name, value = entry.findtext("name"), entry.findtext("value")
        if name and value is not None:
            yield name.strip(), value.strip()


def _root(path: Path) -> ET.Element:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
        if len(data) > _MAX_BYTES:
            raise _unreadable(path, f"it is larger than {_MAX_BYTES // 2**20} MiB")
        return ET.fromstring(data)
    except (ET.ParseError, OSError, ValueError) as error:  # ValueError: an unknown encoding
        raise _unreadable(path, str(error)) from error


def check_whole(path: Path) -> None:
    """InputError if the file includes others: what they say would be missing."""
    if _root(path).find(f".//{_INCLUDE}") is not None:
        raise InputError(
            "the file includes another one (xi:include), which is not followed.",
            str(path),
            "write the properties of that file into this one.",
        )


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(
        f"the file cannot be read: {why}.", str(path), "correct it, or ask for it again."
    )
