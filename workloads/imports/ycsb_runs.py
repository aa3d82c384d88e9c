"""The YCSB runs in a text file: one, several, between lines of scripts and logs, complete or not.

A run begins with a line that only a starting client prints, or with the first line of its status or summary.
It ends with its last line of status or summary. The lines of its summary are kept apart from those above, so
that text in between is in neither.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from density_study.workloads.base.parsing import Parsed, ParseError
from density_study.workloads.imports.piece import Lines, Piece, Refused, Text, YcsbFacts
from density_study.workloads.ycsb.output.entries import STATUS_HEAD, SUMMARY
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE
from density_study.workloads.ycsb.output.summary import (
    SummaryRow,
    operation_counts,
    overall,
    parse_summary,
)

_COMMAND = re.compile(r"Command line: (.*)")
_LAUNCHED = re.compile(r"(?:\S*/)?java\b.* (?:site\.ycsb|com\.yahoo\.ycsb)\.Client (.*)")
_BANNER = re.compile(r"YCSB Client (\S.*)")
# Lines of a starting client: each occurs once per run.
_STARTS = {
    "command": _COMMAND,
    "launched": _LAUNCHED,
    "banner": _BANNER,
    "loading": re.compile(r"Loading workload\.\.\."),
    "starting": re.compile(r"Starting test\."),
}
_JSON = re.compile(r'\s*(\[\s*)?\{\s*|\s*"metric" : .*')
_STATUS_TIME = "%Y-%m-%d %H:%M:%S:%f"
NO_SUMMARY = "YCSB started here and printed no summary: the run failed, or its output is cut off"


@dataclass
class _Run:
    """Numbers of lines, from 1."""

    first: int
    last: int
    starts: dict[str, str] = field(default_factory=dict)
    status: list[int] = field(default_factory=list)
    summary: list[int] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    elapsed_s: float = -1.0


def ycsb_pieces(text: Text) -> Iterator[Piece | Refused]:
    """The runs of the file, in its order. A run without a readable summary is refused by its line; in a file
    without any summary, such as a client's standard error, it is a piece of kind `ycsb-status`."""
    first = next((line for line in text.lines if line.strip()), "")
    if _JSON.fullmatch(first) and '"metric"' in "".join(text.lines[:6]):
        yield _whole_json(text)
        return
    runs = list(_runs(text))
    some = any(run.summary for run in runs)
    for number, run in enumerate(runs, start=1):
        yield _piece(text, run, number) if some else _without_summary(text, run, number)


def _runs(text: Text) -> Iterator[_Run]:
    run: _Run | None = None
    for number, line in enumerate(text.lines, start=1):
        kind = _kind(line)
        if kind is None:
            continue
        if run is None or _begins_another(run, kind, line):
            if run is not None:
                yield run
            run = _Run(number, number)
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


def _kind(line: str) -> str | None:
    if line.startswith("[") and SUMMARY.fullmatch(line):
        return "summary"
    if STATUS_HEAD.fullmatch(line):
        return "status"
    return next((name for name, form in _STARTS.items() if form.fullmatch(line)), None)


def _begins_another(run: _Run, kind: str, line: str) -> bool:
    """Whether the line belongs to a run after `run`."""
    if kind == "summary":
        return _measure(line) in run.seen
    if run.summary:
        return True
    if kind == "status":
        return _elapsed_s(line) < run.elapsed_s
    return kind in run.starts or bool(run.status)


def _measure(line: str) -> tuple[str, str]:
    match = SUMMARY.fullmatch(line)
    assert match is not None
    return match.group(1), match.group(2)


def _elapsed_s(line: str) -> float:
    match = STATUS_HEAD.fullmatch(line)
    return float(match["elapsed"]) if match and match["elapsed"].isdecimal() else -1.0


def _piece(text: Text, run: _Run, number: int) -> Piece | Refused:
    if not run.summary:
        return Refused(text.file, run.first, NO_SUMMARY)
    lines = text.cut(1, len(text.lines))
    parsed = _read(text.file, lines)
    if isinstance(parsed, Refused):  # more than this run is in the file
        lines = text.cut(run.summary[0], run.summary[-1])
        parsed = _read(text.file, lines)
    if isinstance(parsed, Refused):
        return parsed
    status = _status_lines(text, run, lines)
    facts = _facts(parsed.rows, _started(run), text, run)
    return Piece(text.file, "ycsb-run", number, lines, facts, status)


def _status_lines(text: Text, run: _Run, summary: Lines) -> Lines | None:
    if not run.status:
        return None
    if summary.whole:
        return summary
    return text.cut(run.first, max(run.status[-1], run.summary[0] - 1))


def _read(file: str, lines: Lines) -> Parsed[SummaryRow] | Refused:
    try:
        parsed = parse_summary(lines.data, file)
    except ParseError as error:
        return Refused(file, lines.first, error.reason)
    for bad in parsed.quarantined:
        return Refused(file, lines.first + bad.line - 1, bad.reason)
    return parsed


def _whole_json(text: Text) -> Piece | Refused:
    lines = text.cut(1, len(text.lines))
    parsed = _read(text.file, lines)
    if isinstance(parsed, Refused):
        return parsed
    return Piece(text.file, "ycsb-run", 1, lines, _facts(parsed.rows, YcsbFacts(), text, None))


def _without_summary(text: Text, run: _Run, number: int) -> Piece:
    lines = text.cut(run.first, run.last)
    return Piece(text.file, "ycsb-status", number, lines, _timed(_started(run), text, run))


def _started(run: _Run) -> YcsbFacts:
    """What the lines of a starting client say."""
    printed = _COMMAND.fullmatch(run.starts.get("command", ""))
    printed = printed or _LAUNCHED.fullmatch(run.starts.get("launched", ""))
    banner = _BANNER.fullmatch(run.starts.get("banner", ""))
    try:
        argv = tuple(shlex.split(printed.group(1))) if printed else ()
    except ValueError:  # an unbalanced quote
        argv = tuple(printed.group(1).split()) if printed else ()
    properties = dict(
        pair.split("=", 1) for flag, pair in pairwise(argv) if flag == "-p" and "=" in pair
    )
    return YcsbFacts(argv, properties, banner.group(1) if banner else "")


def _facts(
    rows: tuple[SummaryRow, ...], started: YcsbFacts, text: Text, run: _Run | None
) -> YcsbFacts:
    whole, by_operation = overall(rows), operation_counts(rows)
    counts = {
        name: count.ok + count.failed
        for name, count in by_operation.items()
        if name not in NOT_OF_USERS
    }
    worked = any(
        row.measure == "Operations"
        and row.value > 0
        and row.measurement.operation not in NOT_OF_USERS
        for row in rows
    )
    problem = ""
    if whole is None:
        problem = "its summary has no overall run time and throughput"
    elif not worked and not any(counts.values()):
        problem = "its summary counts no operation"
    facts = replace(
        started,
        run_s=whole.runtime_ms / 1000 if whole else None,
        counts=counts,
        problem=problem,
    )
    return facts if run is None else _timed(facts, text, run)


def _timed(facts: YcsbFacts, text: Text, run: _Run) -> YcsbFacts:
    """With the time of the last status line."""
    for number in reversed(run.status):
        head = STATUS_HEAD.fullmatch(text.lines[number - 1])
        if head is None or not head["elapsed"].isdecimal():
            continue
        try:
            at = datetime.strptime(head["time"], _STATUS_TIME)
        except ValueError:
            continue
        return replace(facts, at=at, at_elapsed_s=int(head["elapsed"]))
    return facts


def shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Share of each operation of users; the read and the update of a read-modify-write are not counted."""
    found = dict(counts)
    both = found.get(READ_MODIFY_WRITE, 0)
    for name in ("READ", "UPDATE"):
        if name in found:
            found[name] -= both
    total = sum(found.values())
    return {name: count / total for name, count in found.items() if count > 0} if total > 0 else {}
