"""`Section`: the lines that one YCSB client printed, in a text that may hold several and lines of others.

It begins with a line that only a starting client prints, or with the first line of its status or summary, and
ends with the last of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from density_study.workloads.imports.piece import Text
from density_study.workloads.ycsb.output.entries import STATUS_HEAD, SUMMARY
from density_study.workloads.ycsb.output.summary import COUNTS, SERIES

COMMAND = re.compile(r"Command line: (.*)")
LAUNCHED = re.compile(r"(?:\S*/)?java\b.* (?:site\.ycsb|com\.yahoo\.ycsb)\.Client (.*)")
BANNER = re.compile(r"YCSB Client (\S.*)")
# Lines of a starting client: each occurs once per run.
_STARTS = {
    "command": COMMAND,
    "launched": LAUNCHED,
    "banner": BANNER,
    "loading": re.compile(r"Loading workload\.\.\."),
    "starting": re.compile(r"Starting test\."),
}
_SIGNS = ("Client ", "Command line: ", "Loading workload", "Starting test")


@dataclass
class Section:
    """Numbers of its lines, from 1. starts: those of a starting client. seen: (name, measure) of its
    summary."""

    first: int
    last: int
    starts: dict[str, str] = field(default_factory=dict)
    status: list[int] = field(default_factory=list)
    summary: list[int] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    elapsed_s: float = -1.0
    is_echo: bool = False

    @property
    def operations(self) -> bool:
        return any(measure in COUNTS and name != "CLEANUP" for name, measure in self.seen)


def are_mixed(first: Section, later: Section) -> bool:
    """Whether a summary begins again before the one above it has an operation, or repeats some of that one's
    measures only: a client prints its own without a break, and [OVERALL] first."""
    is_own = first.operations and any(name == "OVERALL" for name, _ in later.seen)
    return not is_own and later.first == first.last + 1 and not later.starts


def sections(text: Text) -> Iterator[Section]:
    run: Section | None = None
    for number, line in enumerate(text.lines, start=1):
        kind = kind_of(line)
        if kind is None:
            continue
        if run is None or _begins_another(run, kind, line):
            if run is not None:
                yield run
            run = Section(number, number, is_echo=run is not None and _is_echo(run, kind, line))
        else:
            run.is_echo = False
        run.last = number
        if kind == "status":
            run.status.append(number)
            run.elapsed_s = _elapsed_s(line)
        elif kind == "summary":
            run.summary.append(number)
            run.seen.add(_measure(line))
        else:
            run.starts[kind] = line
    if run is not None:
        yield run


def kind_of(line: str) -> str | None:
    if line.startswith("[") and SUMMARY.fullmatch(line):
        return "summary"
    if " operations; " in line and STATUS_HEAD.fullmatch(line):
        return "status"
    if not any(sign in line for sign in _SIGNS):  # most lines of a long log
        return None
    return next((name for name, form in _STARTS.items() if form.fullmatch(line)), None)


def _begins_another(run: Section, kind: str, line: str) -> bool:
    """Whether the line belongs to a run after `run`."""
    if kind == "summary":
        name, measure = _measure(line)
        # a point of a time series may be printed again
        return (name, measure) in run.seen and not SERIES.fullmatch(measure)
    if run.summary:
        return True
    if kind == "status":
        return _elapsed_s(line) < run.elapsed_s
    return kind in run.starts or bool(run.status)


def _is_echo(run: Section, kind: str, line: str) -> bool:
    """Whether the line repeats the command of the run above, as a harness prints it after the output."""
    if kind != "launched" or not run.summary or "launched" in run.starts:
        return False
    told, again = COMMAND.fullmatch(run.starts.get("command", "")), LAUNCHED.fullmatch(line)
    return told is None or (again is not None and told.group(1).split() == again.group(1).split())


def _measure(line: str) -> tuple[str, str]:
    match = SUMMARY.fullmatch(line)
    assert match is not None
    return match.group(1), match.group(2)


def _elapsed_s(line: str) -> float:
    match = STATUS_HEAD.fullmatch(line)
    return float(match["elapsed"]) if match and match["elapsed"].isdecimal() else -1.0
