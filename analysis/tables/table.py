"""`Table` and `Column`: how a table is declared. Standard library only: executors load this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["string", "int", "long", "double", "boolean", "strings", "longs", "doubles"]


@dataclass(frozen=True)
class Column:
    """One column. `strings`, `longs` and `doubles` are arrays without null elements."""

    name: str
    type: Type
    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """One Parquet table, `tables/<name>/`. No two rows agree in all columns of `key`."""

    name: str
    meaning: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def column(name: str, kind: Type, meaning: str, unit: str = "") -> Column:
    """A column, its arguments in the order a reader wants them."""
    return Column(name, kind, meaning, unit)


TRIAL = column("trial", "string", "name of the trial; its record is records/<trial>/")
HOST = column("host", "string", "host's name in the study")
CLIENT = column("client", "string", "client process: testdfsio, ycsb-1, ...")
LINE = column("line", "int", "line in the file, from 1")
