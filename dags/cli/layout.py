"""How `study` writes durations and tables: one way for all commands."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table


def clock(seconds: float) -> str:
    """Seconds as 4:05 or 1:02:03."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rows_table(header: Iterable[str], rows: Iterable[Iterable[RenderableType]]) -> Table:
    """A table without lines, so that a terminal's search and grep find whole rows."""
    return titled(None, header, rows)


def titled(
    title: str | None, header: Iterable[str], rows: Iterable[Iterable[RenderableType]]
) -> Table:
    """The same below a title; several on a page stand apart."""
    table = Table(
        *header, title=f"\n{title}" if title else None, title_justify="left", title_style="italic",
        box=None, pad_edge=False, header_style="bold",
    )  # fmt: skip
    for row in rows:
        table.add_row(*row)
    return table
