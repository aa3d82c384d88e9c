"""Where the `study` command prints, and how it prints errors and a report's summary."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from cluster.model.errors import BringUpError, StudyError

LOG_WIDTH = 132
"""Columns of what goes to a file or a pipe, where a terminal has its own: no row shall be broken."""

out = Console(highlight=False, width=None if sys.stdout.isatty() else LOG_WIDTH)
err = Console(stderr=True, highlight=False)


def print_report(root: Path) -> None:
    """The summary table, and where the report is; nothing where the run came to none."""
    summary = root / "report" / "summary.json"
    if not summary.exists():
        return
    from analysis.report.table import summary_header, summary_rows
    from analysis.summary.summary import Summary
    from dags.cli.display import rows_table

    value = Summary.model_validate_json(summary.read_text(encoding="utf-8"))
    out.print(rows_table(summary_header(value), summary_rows(value)))
    out.print(Text(f"\n{value.headline}", style="bold"))
    out.print(f"report   {root / 'report' / 'index.html'}", markup=False, soft_wrap=True)
    out.print(f"numbers  {summary}", markup=False, soft_wrap=True)


def print_error(error: StudyError) -> None:
    """What, where, remedy; and the last lines of a daemon, where the error has them."""
    place = Text.assemble(("error: ", "bold red"), f"{error.where}: {error.what}")
    err.print(place, Text(f"remedy: {error.remedy}"), sep="\n", soft_wrap=True)
    if isinstance(error, BringUpError) and error.log_tail:
        err.print(Text(f"--- last lines of {error.daemon} ---\n{error.log_tail}"), soft_wrap=True)
