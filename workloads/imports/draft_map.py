"""A commented draft of a map: what the files of a folder show, and what only a person can add."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from density_study.cluster.model.plain import plain, plain_json
from density_study.workloads.imports.describe import content, utc
from density_study.workloads.imports.guessed_trials import OUTPUTS, GuessedTrial, guessed_trials
from density_study.workloads.imports.piece import HOST_MONITORS, MONITORS, Piece, Recognised
from density_study.workloads.imports.ycsb.shares import alike_mixes, in_words, shares

UNNAMED_MIX = "mixed"
_WORKLOAD_FILE = re.compile(r".*workload([a-f])")


def draft_map(name: str, recognised: Mapping[str, Recognised]) -> str:
    """YAML text. name: that of the study."""
    pieces = [piece for found in recognised.values() for piece in found.pieces]
    drafts = guessed_trials(pieces)
    used = {id(piece) for draft in drafts for piece in (*draft.main, *draft.more)}
    lines = [
        "# Map of an import, drafted by `study import --init`. Complete it, then:",
        "#   study import FOLDER --dry-run    shows what is still unknown",
        "#   study import FOLDER              imports, analyses and reports",
        "# The documentation's page *Import map* lists every key. Leave out what you do not know.",
        f"study: {name}",
        "# question: What should the report answer?",
        "# about: {hadoop: 3.3.6, hbase: 2.5.8}  # what you know of the system",
    ]
    lines += _time_zone(pieces)
    lines += _hosts(pieces)
    lines += [
        "# variants:  # clusters under comparison; without variants, the report compares nothing",
        "#   bare: {disk_type: hdd, vms_per_host: 0}",
        "#   two-vms: {disk_type: hdd, vms_per_host: 2}",
        "# accept:  # checks that may stay unknown, each with a reason that the report shows",
        "#   little_error: YCSB's own client does not record the time between operations",
    ]
    lines.append(
        "trials:" if drafts else "trials: []  # nothing was recognised that ran a workload"
    )
    for draft in drafts:
        lines += _trial(draft)
    left = [str(piece) for piece in pieces if id(piece) not in used]
    refused = [str(part) for found in recognised.values() for part in found.refused]
    for title, entries in (("Not assigned to a trial", left), ("Refused", refused)):
        lines += (
            [f"# {title}:", *(f"#   {_comment(entry)}" for entry in entries)] if entries else []
        )
    return "\n".join(lines) + "\n"


def _time_zone(pieces: Sequence[Piece]) -> list[str]:
    local = [piece.file for piece in pieces if piece.kind in HOST_MONITORS and piece.span.local]
    local += [piece.file for piece in pieces if piece.kind in OUTPUTS and piece.ycsb.at]
    if not local:
        return []
    return [f"# time_zone: Europe/Berlin  # of local times, as in {_comment(local[0])}"]


def _hosts(pieces: Sequence[Piece]) -> list[str]:
    names = sorted({p.span.subject for p in pieces if p.kind in MONITORS and p.span.subject})
    if not names:
        return ["# hosts:", "#   - {name: node1, cores: 16, memory: 64 GiB, roles: [worker]}"]
    lines = ["hosts:"]
    for name in names:
        lines += [
            f"  - name: {_quoted(name)}",
            "    # roles: [master, worker, client]  # what ran on it",
            "    # cores: 16",
            "    # memory: 64 GiB",
            "    # clock_offset: 0 s  # if its clock was synchronised",
        ]
    return lines


def _trial(draft: GuessedTrial) -> Iterator[str]:
    first = draft.main[0]
    yield f"  # {_comment(content(first))}"
    yield "  - repetition: 1"
    yield from _ycsb(draft) if first.kind == "ycsb-run" else _dfsio(first)
    if draft.span is not None:
        yield f"    # window, from the files: {utc(draft.span[0])} to {utc(draft.span[1])[11:]} UTC"
    else:
        yield "    # window: {start: 2019-03-01T12:00:00Z, end: 2019-03-01T12:05:00Z}  # unknown"
    yield "    # exit_code: 0  # in no file"
    yield "    files:"
    for piece in (*draft.main, *draft.more):
        yield f"      - {_file(piece)}"


def _file(piece: Piece) -> str:
    name = _quoted(piece.file)
    if piece.lines.whole:
        return name
    return f"{{file: {name}, run: {piece.number}}}"


def _ycsb(draft: GuessedTrial) -> Iterator[str]:
    facts = [
        piece.ycsb
        for piece in (*draft.main, *draft.more)
        if piece.kind != "ycsb-hdr" and piece.kind not in MONITORS
    ]
    shown = next((one for one in facts if one.argv), facts[0])
    mix, why = _mix(draft.main[0], shown.argv)
    yield "    ycsb:"
    yield f"      mix: {mix}  # {_comment(why)}"
    for key, found, example in (
        ("records", shown.number("recordcount"), "1_000_000"),
        ("threads", shown.number("threadcount"), "8"),
        ("operations", shown.number("operationcount"), "1_000_000"),
        ("duration", shown.number("maxexecutiontime"), "300 s"),
    ):
        state = "unknown" if found is None else f"the command line shows {found}"
        yield f"      # {key}: {example if found is None else found}  # {state}"
    if any(piece.kind == "ycsb-hdr" for piece in draft.more):
        yield "      # warm_up: 30 s  # left out of every number"


def _mix(run: Piece, argv: Sequence[str]) -> tuple[str, str]:
    """The mix that the output resembles, and why."""
    found = shares(run.ycsb.counts)
    words = in_words(found) or "no operation"
    if "-load" in argv:
        return "load", "the command line has -load"
    for text in argv:
        if match := _WORKLOAD_FILE.fullmatch(text):
            return match.group(1), f"the command line names {text}"
    if set(found) == {"INSERT"}:
        return "load", f"a guess: {words}"
    alike = alike_mixes(found)
    if not alike:
        return UNNAMED_MIX, f"a name of your choice: {words}"
    others = f", or {' or '.join(alike[1:])}" if len(alike) > 1 else ""
    return alike[0], f"a guess{others}: {words}"


def _dfsio(result: Piece) -> Iterator[str]:
    facts = result.dfsio
    yield "    testdfsio:"
    yield f"      mode: {facts.mode}"
    asked = facts.asked_files
    yield f"      # files: {asked or facts.files}  # {'shown' if asked else 'as requested'}"
    size = facts.asked_file_mib or facts.total_mib / max(facts.files, 1)
    yield f"      # file_size: {size:.0f} MiB  # {'shown' if asked else 'as requested'}"


def _quoted(name: str) -> str:
    """A name from others in YAML's double quotes; a shell that reads the map finds nothing to substitute."""
    text = plain_json(json.dumps(name, ensure_ascii=False))
    return text.replace("$", r"\x24").replace("`", r"\x60")


def _comment(text: str) -> str:
    """One line of a comment, whatever a file's name contains."""
    return plain(" ".join(text.split()))
