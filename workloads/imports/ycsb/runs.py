"""The YCSB runs in a text file: one, several, between lines of scripts and logs, complete or not.

The lines of a run's summary are kept apart from those above, so that text in between is in neither.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise, takewhile

from density_study.workloads.base.parsing import Parsed, ParseError, whole
from density_study.workloads.imports.piece import Lines, Piece, Refused, Text, YcsbFacts
from density_study.workloads.imports.ycsb.sections import (
    BANNER,
    COMMAND,
    LAUNCHED,
    Section,
    are_mixed,
    kind_of,
    sections,
)
from density_study.workloads.ycsb.output.entries import STATUS_HEAD
from density_study.workloads.ycsb.output.measurement import VERIFY
from density_study.workloads.ycsb.output.summary import (
    COUNTS,
    RETURN,
    SummaryRow,
    operation_counts,
    overall,
    parse_summary,
    user_operations,
)

_JSON_KEY = re.compile(r'"metric" ?: ?"(?=[^"]*"(?: ?, ?"measurement"|,? *$))')
_JSON = re.compile(r"\s*[\[{].*")
_BRACES = re.compile(r"[\[{\s]*")
_EXCEPTION = re.compile(r"(?:Caused by: |Exception in thread .*)?[\w.$]+(?:Exception|Error)\b.*")
_WITH_STATUS = frozenset({"READ", "UPDATE", "INSERT", "SCAN", "DELETE"})
_OPTIONS = {"-threads": "threadcount", "-target": "target"}  # that set a property
_STATUS_TIME = "%Y-%m-%d %H:%M:%S:%f"
NO_SUMMARY = "YCSB started here and printed no summary: the run failed, or its output is cut off"
CUT = "the summary is cut off"
MIXED = "lines of two clients are mixed here: write the output of each client to a file of its own"
EXCERPT = "an excerpt of a summary, with only run time and rate: operations unknown"
NO_BEGINNING = (
    "a part of a summary: its beginning, [OVERALL] with run time and throughput, is missing"
)


def ycsb_pieces(text: Text) -> Iterator[Piece | Refused]:
    """The runs of the file, in its order. A run without a readable summary is refused by its line; in a file
    without any summary, such as a client's standard error, it is a piece of kind `ycsb-status`."""
    if (lines := _json_lines(text)) is not None:
        yield _json(text, lines)
        return
    runs = [run for run in sections(text) if not run.is_echo]
    summaries = [run for run in runs if run.summary]
    if mixed := next(
        (later for first, later in pairwise(summaries) if are_mixed(first, later)), None
    ):
        yield Refused(text.file, mixed.first, MIXED)
        return
    for number, run in enumerate(runs, start=1):
        yield (
            _piece(text, run, number, len(runs) == 1)
            if summaries
            else _without_summary(text, run, number)
        )


def _piece(text: Text, run: Section, number: int, alone: bool) -> Piece | Refused:
    """alone: no other run is in the file."""
    if not run.summary:
        return Refused(text.file, run.first, NO_SUMMARY)
    lines = text.cut(1, len(text.lines))
    parsed = _read(text.file, lines) if alone else None
    if parsed is None or isinstance(parsed, Refused):  # more than this run is in the file
        lines = text.cut(run.summary[0], run.summary[-1])
        parsed = _read(text.file, lines)
    if isinstance(parsed, Refused):
        return parsed
    if why := _incomplete(parsed.rows):
        return Refused(text.file, run.summary[0], why)
    status = _status_lines(text, run, lines)
    facts = _facts(parsed.rows, _started(run), text, run)
    return Piece(text.file, "ycsb-run", number, lines, facts, status)


def _status_lines(text: Text, run: Section, summary: Lines) -> Lines | None:
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


def _json_lines(text: Text) -> Lines | None:
    """A summary in JSON, from its first brace: a client's start and status may be above it, and what a shell
    prints below."""
    keys = [number for number, line in enumerate(text.lines, start=1) if _JSON_KEY.search(line)]
    if not keys or any(kind_of(line) == "summary" for line in text.lines):
        return None
    top = keys[0]
    while top > 1 and _BRACES.fullmatch(text.lines[top - 2]):
        top -= 1
    above = range(top, keys[0] + 1)
    first = next((number for number in above if _JSON.fullmatch(text.lines[number - 1])), None)
    if first is None:
        return None
    below = enumerate(text.lines[keys[-1] - 1 :], start=keys[-1])
    closed = takewhile(lambda one: kind_of(one[1]) is None, below)  # another client may be there
    last = max((n for n, line in closed if line.rstrip().endswith(("}", "]"))), default=None)
    return text.cut(first, last or len(text.lines))


def _json(text: Text, lines: Lines) -> Piece | Refused:
    parsed = _read(text.file, lines)
    if isinstance(parsed, Refused):
        return parsed
    if why := _incomplete(parsed.rows):
        return Refused(text.file, 0, why)
    # one above the last may have failed, or printed its summary elsewhere
    above = [run for run in sections(text) if run.first < lines.first and not run.is_echo]
    run = above[-1] if above else Section(1, 1)
    has_status = any(number < lines.first for number in run.status)
    status = text.cut(run.first, lines.first - 1) if has_status else None
    facts = _facts(parsed.rows, _started(run), text, run)
    return Piece(text.file, "ycsb-run", 1, lines, facts, status)


def _incomplete(rows: Sequence[SummaryRow]) -> str:
    """Why these rows are not a whole summary; "" if nothing shows that."""
    if overall(rows) is None:
        return NO_BEGINNING
    if all(row.name == "OVERALL" for row in rows):
        return EXCERPT
    returned = {row.name for row in rows if row.measure.startswith(RETURN)}
    for row in rows:
        counted, name = row.measure in COUNTS, row.measurement
        if counted and row.name in _WITH_STATUS and row.name not in returned:
            return f"{CUT}: [{row.name}] has no {RETURN} line"
        if counted and name.outcome and not name.intended and name.operation not in returned:
            return (
                f"{CUT}: {row.value:,.0f} operations of {row.name}, and no part [{name.operation}]"
            )
    return ""


def _without_summary(text: Text, run: Section, number: int) -> Piece | Refused:
    if not run.status and any(_EXCEPTION.fullmatch(line) for line in text.lines):
        return Refused(text.file, run.first, NO_SUMMARY)
    lines = text.cut(run.first, run.last)
    return Piece(text.file, "ycsb-status", number, lines, _timed(_started(run), text, run))


def _started(run: Section) -> YcsbFacts:
    """What the lines of a starting client say."""
    printed = COMMAND.fullmatch(run.starts.get("command", ""))
    printed = printed or LAUNCHED.fullmatch(run.starts.get("launched", ""))
    banner = BANNER.fullmatch(run.starts.get("banner", ""))
    try:
        argv = tuple(shlex.split(printed.group(1))) if printed else ()
    except ValueError:  # an unbalanced quote
        argv = tuple(printed.group(1).split()) if printed else ()
    return YcsbFacts(argv, _properties(argv), banner.group(1) if banner else "")


def _properties(argv: Sequence[str]) -> dict[str, str]:
    """Those that the command line sets: as in the client, the last one counts."""
    found: dict[str, str] = {}
    for flag, text in pairwise(argv):
        name, sign, value = (
            text.partition("=") if flag == "-p" else (_OPTIONS.get(flag), flag, text)
        )
        if name and sign:
            found[name] = value
    return found


def _facts(rows: tuple[SummaryRow, ...], started: YcsbFacts, text: Text, run: Section) -> YcsbFacts:
    whole, by_operation = overall(rows), operation_counts(rows)
    counts = user_operations(rows)
    worked = any(
        row.measure in COUNTS
        and row.value > 0
        and row.measurement.operation in counts
        and row.measurement.outcome is None
        for row in rows
    )
    problem = ""
    if not counts:
        problem = "its summary counts no operation"
    elif not worked:
        problem = f"none of its {sum(counts.values()):,} operations succeeded"
    facts = replace(
        started,
        run_s=whole.runtime_ms / 1000 if whole else None,
        counts=counts,
        failed=sum(count.failed for name, count in by_operation.items() if name in counts),
        unexpected=by_operation[VERIFY].returns.get("UNEXPECTED_STATE", 0)
        if VERIFY in by_operation
        else 0,
        implied=round(whole.runtime_ms / 1000 * whole.throughput_ops_s) if whole else None,
        problem=problem,
        printed=hash(tuple((row.name, row.measure, row.value) for row in rows)),
    )
    return _timed(facts, text, run)


def _timed(facts: YcsbFacts, text: Text, run: Section) -> YcsbFacts:
    """The facts with the time of the last status line."""
    for number in reversed(run.status):
        head = STATUS_HEAD.fullmatch(text.lines[number - 1])
        if head is None:
            continue
        try:
            at = datetime.strptime(head["time"], _STATUS_TIME)
            elapsed_s, done = whole(head["elapsed"]), whole(head["operations"])
        except ValueError:
            continue
        return replace(facts, at=at, at_elapsed_s=elapsed_s, at_operations=done)
    return facts
