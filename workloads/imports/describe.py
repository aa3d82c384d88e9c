"""What was recognised, in words, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from density_study.cluster.model.plain import counted
from density_study.workloads.imports.agreement import printed
from density_study.workloads.imports.piece import (
    DfsioFacts,
    Piece,
    Recognised,
    SpanFacts,
    YcsbFacts,
)
from density_study.workloads.imports.trials import ImportedTrial
from density_study.workloads.imports.ycsb.shares import in_words, shares

MOST_DIFFERENCE = 0.01
"""For the operations counted, and those that the client's own run time and rate stand for."""
FILE_HEADER = ("file", "format", "content", "time (UTC)")
TRIAL_HEADER = ("trial", "files", "window from", "unknown", "only in the map")
_NAMES = {
    "ycsb-run": "YCSB output",
    "ycsb-status": "YCSB standard error",
    "ycsb-hdr": "HdrHistogram log",
    "dfsio-results": "TestDFSIO result",
    "dfsio-io": "TestDFSIO reduce output",
    "dfsio-history": "job history",
    "nodecpu": "nodecpu",
}


def file_rows(recognised: Mapping[str, Recognised]) -> Iterator[tuple[str, ...]]:
    """A row per piece, refused part and unknown file, with the columns of `FILE_HEADER`."""
    seen: dict[object, Piece] = {}
    for file, found in recognised.items():
        for piece in found.pieces:
            first = seen.setdefault(printed(piece) or (file, piece.kind, piece.number), piece)
            copy = "" if first is piece else f"; a copy of {first}"
            yield file, _format(piece), content(piece) + copy, _times(piece)
        for refused in found.refused:
            where = f"line {refused.line}: " if refused.line else ""
            yield file, "refused", f"{where}{refused.reason}", ""
        if not found.pieces and not found.refused:
            yield file, "unknown", "not imported", ""


def _format(piece: Piece) -> str:
    if isinstance(piece.facts, SpanFacts) and piece.kind in ("dool", "sar"):
        return piece.facts.tool
    return _NAMES[piece.kind]


def content(piece: Piece) -> str:
    """'run 2, lines 31 to 62: 2,000 operations in 0.6 s (READ 47 %, INSERT 53 %)'."""
    facts = piece.facts
    if isinstance(facts, YcsbFacts):
        words = _ycsb(piece, facts)
    elif isinstance(facts, DfsioFacts):
        words = f"{facts.mode}, {facts.files} files, {facts.total_mib:g} MiB in {facts.exec_s:g} s"
        asked_mib = (facts.asked_files or 0) * (facts.asked_file_mib or 0.0)
        if asked_mib and abs(asked_mib - facts.total_mib) > MOST_DIFFERENCE * asked_mib:
            words += f"; the request above it is of {asked_mib:,.0f} MiB"
    else:
        words = _span(piece, facts)
    number = f"run {piece.number}" if piece.kind in ("ycsb-run", "dfsio-results") else ""
    lines = "" if piece.lines.whole else f"lines {piece.lines.first} to {piece.lines.last}"
    place = ", ".join(part for part in (number if lines else "", lines) if part)
    return f"{place}: {words}" if place else words


def _ycsb(piece: Piece, facts: YcsbFacts) -> str:
    if facts.problem:
        return f"failed: {facts.problem}"
    if piece.kind == "ycsb-status":
        return "status lines" if facts.at else "no status lines, and no summary is printed here"
    done = in_words(shares(facts.counts))
    run = f" in {facts.run_s:g} s" if facts.run_s is not None else ""
    words = f"{sum(facts.counts.values()):,} operations{run}" + (f" ({done})" if done else "")
    return "; ".join((words, *_doubts(facts)))


def _doubts(facts: YcsbFacts) -> Iterator[str]:
    """What makes the trial invalid, or a reader careful."""
    total = sum(facts.counts.values())
    if facts.failed:
        yield f"{facts.failed:,} of them failed"
    if facts.unexpected:
        yield f"{facts.unexpected:,} reads had unexpected content"
    if facts.implied is not None and abs(facts.implied - total) > MOST_DIFFERENCE * total:
        yield f"run time and rate stand for {facts.implied:,} operations: the file contradicts itself"


def _span(piece: Piece, facts: SpanFacts) -> str:
    about = f" of {facts.subject}" if facts.subject else ""
    unit = {"ycsb-hdr": "interval", "dfsio-history": "attempt"}.get(piece.kind, "row")
    words = f"{counted(facts.rows, unit)}{about}"
    if facts.period_s:
        words += f", every {facts.period_s:g} s"
    if piece.kind == "dfsio-history":
        words += f", {facts.tool}"
    if facts.lacks:
        words += f"; no {' and no '.join(facts.lacks)}"
    if facts.bad_lines:
        words += f"; {counted(facts.bad_lines, 'line')} cannot be read"
    return words


def _times(piece: Piece) -> str:
    facts = piece.facts
    if not isinstance(facts, SpanFacts):
        return ""
    if facts.local:
        return "local times: time_zone is needed"
    if facts.since_s is None or facts.until_s is None:
        return ""
    return f"{utc(facts.since_s)} to {utc(facts.until_s)[11:]}"


def utc(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


def trial_rows(trials: tuple[ImportedTrial, ...]) -> Iterator[tuple[str, ...]]:
    """A row per trial, with the columns of `TRIAL_HEADER`."""
    for trial in trials:
        manifest = trial.manifest
        name = manifest.trial if manifest.state == "complete" else f"{manifest.trial} (failed)"
        yield (
            name,
            str(len(trial.files)),
            trial.window_source,
            ", ".join(trial.imported.unknown) or "nothing",
            ", ".join(trial.imported.given) or "nothing",
        )
