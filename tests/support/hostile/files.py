"""Files that are not what their name says: pipes, devices, links, and JSON of other forms."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def link(to: str) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(to)


def text(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def endless(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(2**40)


HOSTILE: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": link("/dev/zero"),
    "link": link("/etc/passwd"),
    "folder": Path.mkdir,
    "endless": endless,
    "deep": text(b"[" * 200_000),
    "deep object": text(b'{"format":' * 50_000),
    "deep enough for JSON": text(b'{"format": 1, "a": ' + b"[" * 600 + b"]" * 600 + b"}"),
    "number": text(b"1"),
    "list": text(b"[1]"),
    "text": text(b'"x"'),
    "null": text(b"null"),
    "empty": text(b""),
    "no UTF-8": text(b"\xff\xfe{"),
    "another form": text(b'{"format": 1, "digests": [1]}'),
}
