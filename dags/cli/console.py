"""Consoles of the `study` command, and the layout of errors and of a report's summary.

Whatever is printed may come from others: tags of a run, messages in its journal, answers of hosts. So
everything goes through `plain`, which leaves a terminal nothing to obey.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

import typer
from rich.text import Text

from density_study.cluster.model.errors import BringUpError, InputError, SeveralError, StudyError
from density_study.cluster.model.plain import one_line, plain, plain_json
from density_study.dags.run_status.plain_console import PlainConsole

LOG_WIDTH = 132
"""Width for a file or a pipe, which have none of their own: wide enough not to break table rows."""


class _PlainLog(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))


class _Verbose(logging.Handler):
    """Log messages for --verbose, with their time and the module that wrote them."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(_PlainLog("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        err.print(self.format(record))


out = PlainConsole(width=None if sys.stdout.isatty() else LOG_WIDTH)
err = PlainConsole(stderr=True)
_silent = PlainConsole()
_silent.quiet = True


@dataclass(frozen=True)
class CommandLine:
    """What the user chose for this command. study, run: what stands for SPEC and RUN, or ""."""

    quiet: bool = False
    verbose: bool = False
    study: str = ""
    run: str = ""

    def exact(self, text: str) -> str:
        """`text` with the names that the user gave in place of SPEC and RUN."""
        names = {"SPEC": self.study, "RUN": self.run}
        return re.sub(r"\b(?:SPEC|RUN)\b", lambda word: names[word[0]] or word[0], text)


_given = [CommandLine()]


def given() -> CommandLine:
    return _given[-1]


def begin(chosen: CommandLine) -> None:
    """Apply the options of the command that begins. With --verbose, log messages go to standard error."""
    _given[:] = [chosen]
    log = logging.getLogger("density_study")
    log.handlers = [one for one in log.handlers if not isinstance(one, _Verbose)]
    log.setLevel(logging.INFO if chosen.verbose else logging.NOTSET)
    if chosen.verbose:
        log.addHandler(_Verbose())


def progress(console: PlainConsole) -> PlainConsole:
    """`console` for what is no result; with --quiet one that prints nothing."""
    return _silent if given().quiet else console


def plain_log() -> None:
    """Warnings of the program, which no handler formats, go to standard error like other text."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(_PlainLog())


def print_json(value: object) -> None:
    """Print dataclasses, models, paths (also those that are no UTF-8) and containers of them as JSON."""
    from pydantic_core import to_jsonable_python

    text = json.dumps(to_jsonable_python(value), indent=1, ensure_ascii=False)
    print_json_text(f"{text}\n")


def print_json_text(text: str) -> None:
    """Write a JSON document to standard output."""
    _write(plain_json(text))


def print_text(text: str) -> None:
    """Write CSV, Markdown or XML to standard output."""
    _write(plain(text))


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        out.on_broken_pipe()


def print_report(root: Path) -> None:
    """Print the summary table, why trials are not valid, and the path of the report; nothing if the run has
    no report."""
    summary = root / "report" / "summary.json"
    if not summary.exists():
        return
    from density_study.analysis.report.table import summary_table
    from density_study.analysis.report.trials import reasons
    from density_study.analysis.summary.summary import Summary
    from density_study.dags.cli.layout import rows_table

    value = Summary.model_validate_json(summary.read_text(encoding="utf-8"))
    table = summary_table(value)
    out.print(rows_table([column.header for column in table.columns], table.rows))
    for reason, verdict, trials, remedy in reasons(value).rows:
        style = "dim" if verdict == "valid" else "yellow"
        name = "warning" if verdict == "valid" else verdict
        out.print(Text(f"{name}: {reason} ({trials} trial{'s' * (trials != '1')})", style=style))
        if remedy:
            out.print(Text(f"  remedy: {remedy}", style="dim"))
    out.print(Text(f"\n{value.headline}", style="bold"))
    if value.undecided:
        out.print(Text(value.undecided))
    out.print(f"report   {root / 'report' / 'index.html'}")
    out.print(f"numbers  {summary}")


def print_usage_error(error: typer.TyperException) -> None:
    """An error of the command line itself, in the form of all errors. Nothing for a command that has printed
    its help because it was called without arguments."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "study"
    similar = getattr(error, "possibilities", None)  # for a mistyped option
    message = error.message if similar else error.format_message()
    if not message:
        return
    hint = f" Did you mean {', '.join(similar)}?" if similar else ""
    message = message.replace("Value error, ", "")  # Typer's word for a choice that does not exist
    sentence = message if message[-1] in ".?" else f"{message}."
    remedy = f"`{command} --help` shows its options and examples."
    print_error(InputError(f"{sentence}{hint}", command, remedy))


def print_error(error: StudyError) -> None:
    """Print what, where and remedy, and the last log lines of a daemon if the error has them. With --verbose
    also the calls that led to it."""
    if given().verbose and error.__traceback__:
        err.print(Text("".join(traceback.format_exception(error))))
    if isinstance(error, SeveralError):
        for fault in error.faults:
            print_error(fault)
        return
    place = Text.assemble(("error: ", "bold red"), f"{one_line(error.where)}: {error.what}")
    err.print(place, Text(f"remedy: {given().exact(error.remedy)}"), sep="\n")
    if isinstance(error, BringUpError) and error.log_tail:
        err.print(Text(f"--- last lines of {error.daemon} ---\n{error.log_tail}"))
