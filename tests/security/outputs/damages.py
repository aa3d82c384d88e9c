"""What may be wrong with a file of a run that a page reads."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(to: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.unlink()
        path.symlink_to(to)

    return change


def _text(text: str | bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(text.encode() if isinstance(text, str) else text) and None


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def endless(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def _number(value: Any) -> Callable[[Path], None]:
    """Every number of the summary."""

    def changed(node: Any) -> Any:
        if isinstance(node, dict):
            return {key: 1 if key == "format" else changed(one) for key, one in node.items()}
        if isinstance(node, list):
            return [changed(one) for one in node]
        return value if isinstance(node, float) else node

    def change(path: Path) -> None:
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({**changed(whole), "format": whole["format"]}))

    return change


HOSTILE: dict[str, Callable[[Path], None]] = {
    "fifo": fifo,
    "zero": link("/dev/zero"),
    "link": link("/etc/passwd"),
    "link to itself": link("summary.json"),
    "folder": _folder,
    "endless": endless,
    "deep": _text("[" * 200_000),
    "deep object": _text('{"format":' * 50_000),
    "no object": _text("1"),
    "null": _text("null"),
    "text": _text('"x"'),
    "list": _text("[1, 2]"),
    "empty": _text(""),
    "no UTF-8": _text(b"\xff\xfe{"),
    "huge number": _text('{"format": ' + "9" * 5000 + "}"),
    "infinite": _number(float("inf")),
    "negative": _number(-1.0),
    "zero rates": _number(0.0),
    "tiny": _number(5e-324),
}
NUMBERS = frozenset({"infinite", "negative", "zero rates", "tiny"})
