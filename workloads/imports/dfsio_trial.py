"""A TestDFSIO trial of others: its test case, its window and its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from density_study.workloads.imports import contradictions
from density_study.workloads.imports.built_trial import RecordFile, Workload, settled_window
from density_study.workloads.imports.choose import Chosen, Knowledge
from density_study.workloads.imports.found_windows import (
    other_zone_of,
    window_of_result,
    window_of_spans,
)
from density_study.workloads.imports.map_model import DfsioEntry, TrialEntry
from density_study.workloads.imports.piece import DfsioFacts, Kind, Piece
from density_study.workloads.record.recorded import ImportedClient
from density_study.workloads.testdfsio.imported import ImportedDfsio

CLIENT = "testdfsio"
_NAMES: dict[Kind, str] = {
    "dfsio-results": "results",
    "dfsio-io": "reduce outputs",
    "dfsio-history": "job histories",
}


def dfsio_trial(
    knowledge: Knowledge, trial: TrialEntry, entry: DfsioEntry, pieces: Sequence[Chosen]
) -> Workload:
    """InputError if the trial has two jobs, or if map and files contradict each other."""
    result, part, history = (_only(knowledge, pieces, kind) for kind in _NAMES)
    facts = result.dfsio if result else None
    for one in pieces:
        if result is not None and one.piece is not result:
            knowledge.require_agreement(result, one)
    if result is None and part is None and history is None:
        raise knowledge.fault(
            "the trial has no output of TestDFSIO.", "add the job's result.", "files"
        )
    test_case = _test_case(knowledge, entry, facts)
    zone = knowledge.file.map.time_zone
    found = (
        window_of_spans([history], "job history") if history else None,
        window_of_result(facts, zone) if facts else None,
    )
    if facts and not history and not trial.window and (why := other_zone_of(facts, zone)):
        raise knowledge.fault(f"{why}.", "correct time_zone, or give window.", "files")
    window, source = settled_window(knowledge, trial, found)
    given = window if trial.window else None
    doubts = [*contradictions.of_window(given, found, facts.exec_s if facts else None)]
    if facts is not None:
        doubts += contradictions.of_dfsio(entry, facts)
    knowledge.note("exit code", trial.exit_code)
    for piece, fact in ((part, "reduce output"), (history, "job history")):
        if piece is None:
            knowledge.note(fact, None)
    named = (
        (result, f"raw/{CLIENT}.log"),
        (part, "raw/io/part-00000"),
        (history, f"raw/history/{_stem(history)}.jhist"),
    )
    ended = history.span.tool if history else "SUCCEEDED"
    return Workload(
        test_case=test_case,
        clients=(ImportedClient(name=CLIENT, exit_code=trial.exit_code),),
        files=tuple(RecordFile(path, piece.file, piece.lines) for piece, path in named if piece),
        window=window,
        window_source=source,
        problems=() if ended == "SUCCEEDED" else (f"the job's history says {ended}",),
        doubts=tuple(doubts),
    )


def _stem(history: Piece | None) -> str:
    return PurePosixPath(history.file).name.removesuffix(".jhist") if history else ""


def _only(knowledge: Knowledge, pieces: Sequence[Chosen], kind: Kind) -> Piece | None:
    found = [one for one in pieces if one.piece.kind == kind]
    if len(found) > 1:
        raise knowledge.fault(
            f"the trial has {len(found)} {_NAMES[kind]}.",
            "make a trial of each job.",
            *found[1].key,
        )
    return found[0].piece if found else None


def _test_case(knowledge: Knowledge, entry: DfsioEntry, facts: DfsioFacts | None) -> ImportedDfsio:
    mode = entry.mode if facts is None else facts.mode
    if mode is None:
        raise knowledge.fault(
            "the mode is unknown: the trial has no result of TestDFSIO.",
            "write mode: write, read, random, ...",
            "testdfsio",
        )
    if entry.mode not in (None, mode):
        knowledge.settled("mode", entry.mode, mode, "testdfsio", "mode")
    asked_mib = facts.asked_file_mib if facts else None
    whole_mib = int(asked_mib) if asked_mib is not None and asked_mib == int(asked_mib) else None
    files = knowledge.settled(
        "requested files", entry.files, facts.asked_files if facts else None, "testdfsio", "files"
    )
    size_mib = knowledge.settled(
        "requested file size", entry.file_size, whole_mib, "testdfsio", "file_size"
    )
    read_size = knowledge.settled(
        "read size",
        entry.read_size,
        facts.buffer_bytes if facts else None,
        *("testdfsio", "read_size"),
    )
    is_request = files is not None and size_mib is not None
    if facts is not None and not is_request:
        files = files or facts.files
        size_mib = size_mib or _shown_size(facts)
    return ImportedDfsio.model_validate(
        {
            "mode": mode,
            "files": files,
            "file_size_mib": size_mib,
            "read_size_bytes": read_size,
            "skip_size_bytes": entry.skip_size,
            "is_request": is_request,
        }
    )


def _shown_size(facts: DfsioFacts) -> int | None:
    size_mib = facts.file_mib or 0.0
    return int(size_mib) if size_mib >= 1 and size_mib == int(size_mib) else None
