"""Checks of what reaches a path, a command line or XML."""

from __future__ import annotations

import re
from pathlib import PurePath

from density_study.cluster.model.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_ADDRESS = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")
_FOLDER = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}"  # no file system has longer names
_MARK = re.compile(f"{_FOLDER}(/{_FOLDER})+")
_CONTROLS = r"\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff"
_NO_PATH = re.compile(rf"""[{_CONTROLS}"'`\\$%&|<>(){{}}\[\]!?*#,:;^]""")


def check_name(name: str, where: str) -> str:
    """`name` if it can be a file's name and a host's: letters, digits, dot, dash, underscore."""
    return _checked(_NAME, name, where, "a name of letters, digits, '.', '-' and '_'")


def check_address(address: str, where: str) -> str:
    """`address` if it looks like an IPv4 address or a host's name."""
    return _checked(_ADDRESS, address, where, "an IPv4 address or a host name")


def check_tag(tag: str, where: str) -> str:
    """`tag` if it is names joined by slashes, as <study>/<run>/<build>; no part may be '..'."""
    return _checked(_MARK, tag, where, "<study>/<run>/<build>")


def check_path(path: PurePath, where: str) -> PurePath:
    """`path` if Hadoop, the JVM and the shells that start containers take it literally: absolute, and nothing
    that one of them reads as more than a character.

    Hadoop splits directory lists at commas and class paths at colons, has no escape for either, and decodes
    `%` in some places. Letters of every language are allowed.
    """
    if is_plain(path) and ".." not in path.parts:
        return path
    raise InputError(
        f"{str(path)!r} cannot be used in Hadoop's configuration.",
        where,
        "use an absolute path of letters, digits and the characters / . _ - + = @ ~ only.",
    )


def is_plain(path: PurePath) -> bool:
    """Whether it is absolute, and every program takes each of its characters literally."""
    return path.is_absolute() and not _NO_PATH.search(str(path))


def _checked(pattern: re.Pattern[str], value: str, where: str, wanted: str) -> str:
    if pattern.fullmatch(value):
        return value
    raise InputError(f"{value[:200]!r} is not {wanted}.", where, f"use {wanted}.")
