"""How `study` writes tables: one way for all commands."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table

from density_study.cluster.model.plain import one_line


def rows_table(header: Iterable[str], rows: Iterable[Iterable[RenderableType]]) -> Table:
    """A table without lines, so that a terminal's search and grep find whole rows."""
    return titled(None, header, rows)


def titled(
    title: str | None, header: Iterable[str], rows: Iterable[Iterable[RenderableType]]
) -> Table:
    """A table below a title. Several on a page stand apart."""
    table = Table(
        *header, title=f"\n{title}" if title else None, title_justify="left", title_style="italic",
        box=None, pad_edge=False, header_style="bold",
    )  # fmt: skip
    for row in rows:
        table.add_row(*(one_line(cell) if isinstance(cell, str) else cell for cell in row))
    return table
