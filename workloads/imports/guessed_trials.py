"""Which files seem to belong together: a guess for the draft of a map, by names, folders and times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from density_study.workloads.imports.agreement import disagreement, printed
from density_study.workloads.imports.found_windows import window_of_result
from density_study.workloads.imports.piece import DFSIO, MONITORS, Kind, Piece
from density_study.workloads.imports.span_files import log_prefix

OUTPUTS: tuple[Kind, ...] = ("ycsb-run", "ycsb-status")
Span = tuple[float, float]


@dataclass
class GuessedTrial:
    """A trial of the draft: its clients or its job, what belongs to them, and when it ran (epoch seconds)."""

    main: list[Piece]
    more: list[Piece] = field(default_factory=list)
    span: Span | None = None


def guessed_trials(pieces: Sequence[Piece]) -> list[GuessedTrial]:
    """Trials that the pieces of a folder suggest, for the draft of a map. Local times are not used: without a
    map, nobody knows their zone."""
    results = [*_results(pieces)]
    drafts: list[GuessedTrial] = []
    for piece in results:
        own = GuessedTrial([piece], _agreeing(piece, pieces, results))
        own.span = _span(own)
        beside = next((draft for draft in drafts if _one_trial(draft, own)), None)
        if beside is None:
            drafts.append(own)
        else:
            beside.main += own.main
            beside.more += own.more
    for draft in drafts:
        draft.more += [
            piece for piece in pieces if piece.kind in MONITORS and _watches(piece, draft, drafts)
        ]
    return drafts


def _results(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The first of each run: TestDFSIO prints its result on the console and appends it to a log, and files
    are copied."""
    seen = set[object]()
    for piece in pieces:
        keys = {*_keys(piece)}
        if keys and not keys & seen:
            yield piece
        seen |= keys


def _keys(piece: Piece) -> Iterator[object]:
    """Facts of the piece that no piece of another run shares."""
    if (run := printed(piece)) is not None:
        yield run
    if piece.kind == "dfsio-results":
        facts = piece.dfsio  # the dates on the console and in the log may be a second apart
        yield _folder(piece), facts.mode, facts.files, facts.total_mib, facts.exec_s


def _one_trial(draft: GuessedTrial, own: GuessedTrial) -> bool:
    """Whether two YCSB clients of one folder ran for more than half of their time together."""
    first, later = draft.main[0], own.main[0]
    if draft.span is None or own.span is None or first.kind != "ycsb-run" != later.kind:
        return False
    if later.kind != "ycsb-run" or _folder(first) != _folder(later):
        return False
    together = min(draft.span[1], own.span[1]) - max(draft.span[0], own.span[0])
    return together > 0.5 * (own.span[1] - own.span[0])


def _folder(piece: Piece) -> PurePosixPath:
    return PurePosixPath(piece.file).parent


def _agreeing(result: Piece, pieces: Sequence[Piece], results: Sequence[Piece]) -> list[Piece]:
    """For `_belonging`, those that can be of the same run; of several histories or sums that can, none."""
    found = [
        piece
        for piece in _belonging(result, pieces, results)
        if not disagreement(result, piece, None)
    ]
    kinds = Counter(piece.kind for piece in found)
    return [piece for piece in found if piece.kind not in DFSIO or kinds[piece.kind] == 1]


def _belonging(result: Piece, pieces: Sequence[Piece], results: Sequence[Piece]) -> list[Piece]:
    """Logs, standard error, reduce output and history of the same run: by name, or alone in the folder."""
    stem, folder = PurePosixPath(result.file).stem, _folder(result)
    outputs = (one for one in pieces if one.kind == "ycsb-run")  # a copy has logs of its own
    others = (*outputs, *(one for one in results if one.kind == "dfsio-results"))
    alone = sum(_folder(other) == folder for other in others) == 1
    found = []
    for piece in pieces:
        below = _folder(piece) == folder or folder in PurePosixPath(piece.file).parents
        if result.kind == "ycsb-run" and piece.kind in ("ycsb-hdr", "ycsb-status"):
            is_log = piece.kind == "ycsb-hdr"
            if not is_log and piece.ycsb.at is None:  # it says nothing about the run
                continue
            own = log_prefix(piece.file) if is_log else PurePosixPath(piece.file).stem
            if _folder(piece) == folder and (own == stem or alone):
                found.append(piece)
        elif result.kind == "dfsio-results" and piece.kind in ("dfsio-io", "dfsio-history"):
            found += [piece] if below and alone else []
    return found


def _span(draft: GuessedTrial) -> Span | None:
    """When the trial ran, as far as its files show it."""
    logs = [p.span for p in draft.more if p.kind in ("ycsb-hdr", "dfsio-history")]
    known = [
        (s.since_s, s.until_s) for s in logs if s.since_s is not None and s.until_s is not None
    ]
    if known:
        return min(since for since, _ in known), max(until for _, until in known)
    main = draft.main[0]
    found = window_of_result(main.dfsio, None) if main.kind == "dfsio-results" else None
    return None if found is None else (found[0].start_epoch_s, found[0].end_epoch_s)


def _watches(monitor: Piece, draft: GuessedTrial, drafts: Sequence[GuessedTrial]) -> bool:
    """Whether the monitor covers a part of the trial; without times, whether it can be of no other trial."""
    span = monitor.span
    if draft.span is not None and span.since_s is not None and span.until_s is not None:
        return span.since_s < draft.span[1] and span.until_s > draft.span[0]
    if span.local:  # it could not be imported without a time zone
        return False
    return len(drafts) == 1
