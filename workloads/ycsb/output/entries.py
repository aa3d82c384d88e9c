"""Entries of a YCSB summary: (name, measure, value) as text, with their lines.

The text exporter writes one entry per line. The JSON exporters write one key per line (through Jackson), as
concatenated objects (`JSONMeasurementsExporter`) or as an array (`JSONArrayMeasurementsExporter`). Known
output of a client without results is skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from density_study.workloads.base.parsing import Ledger, Line, RejectedError

STATUS_HEAD = re.compile(
    r"(?P<label>.*?)(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{3}) "
    r"(?P<elapsed>[^ ]+) sec: (?P<operations>[^ ]+) operations; (?P<rest>.*)"
)
SUMMARY = re.compile(r"\[([^\[\]]+)\], (.+), (\S*)")
RAW = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*),(?P<time>[0-9]+),(?P<latency>[0-9]+)")

_CLIENT = re.compile(
    r"Command line:.*|YCSB Client .*|Loading workload\.\.\.|Starting test\.|DBWrapper: .*"
    r"|Warning: the threadcount is bigger than recordcount.*| \(might take a few minutes.*"
    r"|Raw data measurement: will output to .*"
    r"|Maximum execution time specified as: [0-9]+ secs"
    r"|Maximum time elapsed\. Requesting stop for the workload\."
    r"|(hbase|store)-client: .*"  # the project's binding reports each kind of failure once
    r"|Stop requested for workload\. Now Joining!|Still waiting for thread .* to complete.*"
    r"|[A-Za-z_-]+ latency raw data: op, timestamp\(ms\), latency\(us\)"
)
_LOGGING = re.compile(
    r"(SLF4J|log4j|WARNING|OpenJDK .* warning): .*"
    r"|([0-9]{2,4}[-/][0-9]{2}[-/][0-9]{2}[ T][0-9:.,]+)? *(\[[^\]]*\] *)?"
    r"(TRACE|DEBUG|INFO|WARN|ERROR|FATAL) .*"
    r"|\s+at [\w.$/<>@]+\(.*\).*|\s+\.\.\. [0-9]+ (more|common frames omitted)|Caused by: .*"
)
_NOTE = "Below is a summary of latency in microseconds:"
_KEYS = ("metric", "measurement", "value")
_PAIR = re.compile(r'\s*"(metric|measurement|value)" ?: ?(.*?),?')
_START = re.compile(r"\s*(\[\s*)?\{\s*|\s*\[\s*")
_ONE_LINE = re.compile(r"\s*[\[,]?\s*(\{.*\})\s*[\],]?\s*")
_BRACES = re.compile(r"\s*[\[\]{}, ]+\s*")


@dataclass(frozen=True)
class Entry:
    lines: tuple[Line, ...]
    name: str
    measure: str
    value: str


def entries(ledger: Ledger) -> Iterator[Entry]:
    """All entries in the file's order; other lines are skipped or quarantined."""
    first = next((line for line in ledger.lines if line.text.strip()), None)
    if first is None:
        return iter(())
    if _START.fullmatch(first.text):
        return _json(ledger)
    return _compact(ledger) if _ONE_LINE.fullmatch(first.text) else _text(ledger)


def _text(ledger: Ledger) -> Iterator[Entry]:
    for line in ledger.lines:
        match = SUMMARY.fullmatch(line.text)
        if match is None or match.group(2) == _NOTE:
            _pass(ledger, line)
        elif not line.ended:
            ledger.quarantine("last line is cut off: no newline ends it", line)
        else:
            yield Entry((line,), *match.groups())


def _pass(ledger: Ledger, line: Line) -> None:
    known = (SUMMARY, RAW, STATUS_HEAD)
    if is_chatter(line.text) or any(pattern.fullmatch(line.text) for pattern in known):
        ledger.skip(line)
    else:
        ledger.quarantine("not a line of a YCSB summary", line)


def _json(ledger: Ledger) -> Iterator[Entry]:
    """Three successive pairs in Jackson's order are an entry; braces may occur only between entries."""
    pairs: list[tuple[Line, str]] = []
    for line in ledger.lines:
        match = _PAIR.fullmatch(line.text)
        if match is None or match.group(1) != _KEYS[len(pairs)]:
            ledger.quarantine("incomplete JSON object", *(at for at, _ in pairs))
            pairs = []
        if match is None:
            _pass_brace(ledger, line)
        elif match.group(1) != _KEYS[len(pairs)]:
            ledger.quarantine(f"{match.group(1)!r} out of place in a JSON object", line)
        else:
            pairs.append((line, match.group(2)))
        if len(pairs) == len(_KEYS):
            yield from _complete(ledger, pairs)
            pairs = []
    ledger.quarantine("incomplete JSON object", *(at for at, _ in pairs))


def _compact(ledger: Ledger) -> Iterator[Entry]:
    """JSON without line breaks in its objects, as `jq -c` writes it."""
    for line in ledger.lines:
        match = _ONE_LINE.fullmatch(line.text)
        if match is None:
            _pass_brace(ledger, line)
            continue
        try:
            found = json.loads(f"[{match.group(1)}]", parse_float=str, parse_int=str)
            triples = [tuple(str(one[key]) for key in _KEYS) for one in found]
        except (ValueError, RecursionError, KeyError, TypeError):
            ledger.quarantine("not an object of a YCSB summary", line)
            continue
        yield from (Entry((line,), *triple) for triple in triples)


def _pass_brace(ledger: Ledger, line: Line) -> None:
    if _BRACES.fullmatch(line.text) or not line.text.strip():
        ledger.skip(line)
    else:
        _pass(ledger, line)


def _complete(ledger: Ledger, pairs: list[tuple[Line, str]]) -> Iterator[Entry]:
    lines = tuple(line for line, _ in pairs)
    try:
        name, measure = (_unquoted(text) for _, text in pairs[:2])
    except RejectedError as error:
        ledger.quarantine(str(error), *lines)
        return
    if lines[-1].ended:
        yield Entry(lines, name, measure, pairs[2][1])
    else:
        ledger.quarantine("last line is cut off: no newline ends it", *lines)


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, str) or not value:
        raise RejectedError("not a JSON string")
    return value


def is_chatter(text: str) -> bool:
    """Whether the line is blank, a banner, a log line or part of a stack trace."""
    return not text.strip() or bool(_CLIENT.fullmatch(text) or _LOGGING.fullmatch(text))
