"""`Reader`: how the files of one kind become rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

from density_study.workloads.base.parsing import Parsed
from density_study.workloads.tables import Table


class ReadFile(Protocol):
    """A raw file of a record. subject: the host or client it tells of. file: its path in the record."""

    @property
    def trial(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def file(self) -> str: ...


class Reader(NamedTuple):
    """parse: (bytes, path) -> rows, and an account of every line. rows: (a parsed row, a `ReadFile`) -> rows
    of tables, by column, without `trial`."""

    parse: Callable[[bytes, str], Parsed[Any]]
    rows: Callable[[Any, Any], Iterator[tuple[Table, dict[str, Any]]]]
