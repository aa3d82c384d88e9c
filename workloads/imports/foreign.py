"""Formats that are known by name and not read, so that a file of one is refused with what to do instead."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from density_study.workloads.base.parsing import BOM
from density_study.workloads.imports.wrapped import COLOURS

HEAD_BYTES = 2**16
_TABLE = Path(__file__).with_name("foreign.toml")


@dataclass(frozen=True)
class Foreign:
    """look_alike: its lines could be taken for lines of a format that is read. trace: the reader in
    analysis/capacity/traces, of a record of a workflow system; empty for other formats."""

    name: str
    signature: re.Pattern[str]
    advice: str
    look_alike: bool = False
    trace: str = ""

    def __str__(self) -> str:
        return f"this is {self.name}: {self.advice}"


def foreign(data: bytes, only_look_alikes: bool = False) -> Foreign | None:
    """The format that the beginning of `data` is of; None if it is of none in foreign.toml."""
    head = (
        COLOURS.sub(b"", data[:HEAD_BYTES].removeprefix(BOM))
        .decode("latin-1")
        .replace("\r\n", "\n")
    )
    wanted = (one for one in _formats() if one.look_alike or not only_look_alikes)
    return next((one for one in wanted if one.signature.search(head)), None)


@cache
def _formats() -> tuple[Foreign, ...]:
    return tuple(
        Foreign(**{**entry, "signature": re.compile(entry["signature"], re.MULTILINE)})
        for entry in tomllib.loads(_TABLE.read_text("utf-8"))["format"]
    )
