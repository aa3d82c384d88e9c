"""The pieces that the map assigns to a trial. A file that does not fit is an error with file and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, TypeVar

from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.agreement import disagreement
from density_study.workloads.imports.map_file import MapFile
from density_study.workloads.imports.map_model import FileEntry, TrialEntry
from density_study.workloads.imports.piece import DFSIO, MONITORS, YCSB, Kind, Piece, Recognised

V = TypeVar("V")
# Kinds of which a file may hold several: the map's `run` chooses one.
_NUMBERED: tuple[Kind, ...] = ("ycsb-run", "ycsb-status", "dfsio-results")


@dataclass(frozen=True)
class Chosen:
    """A piece of a trial, and the entry of the map that names it, at `key`."""

    piece: Piece
    entry: FileEntry
    key: tuple[str | int, ...]


@dataclass
class Knowledge:
    """What is known about a trial, fact by fact. given: only from the map. unknown: from nobody."""

    file: MapFile
    trial: int
    given: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def fault(self, what: str, remedy: str, *key: str | int) -> InputError:
        return InputError(what, self.file.place("trials", self.trial, *key), remedy)

    def settled(self, fact: str, in_map: V | None, found: V | None, *key: str | int) -> V | None:
        """The value by the map, the files, or both; None if neither has it. InputError if they differ."""
        if in_map is not None and found is not None and in_map != found:
            raise self.fault(
                f"{fact}: the map says {in_map}, and the files show {found}.",
                "correct the map, or assign other files to the trial.",
                *key,
            )
        if found is None:
            self.note(fact, in_map)
        return in_map if found is None else found

    def require_agreement(self, main: Piece, other: Chosen) -> None:
        """InputError if both cannot be of one run."""
        if why := disagreement(main, other.piece, self.file.map.time_zone):
            raise self.fault(
                f"{why}.",
                "assign files of one run to the trial; leave out what is of another.",
                *other.key,
            )

    def note(self, fact: str, in_map: object) -> None:
        """`fact` is in no file."""
        (self.unknown if in_map is None else self.given).append(fact)


def chosen(
    knowledge: Knowledge, trial: TrialEntry, recognised: Mapping[str, Recognised]
) -> tuple[Chosen, ...]:
    """The trial's pieces, in the order of the map's files."""
    wanted = (*(YCSB if trial.ycsb is not None else DFSIO), *MONITORS)
    found = [
        Chosen(piece, entry, ("files", place))
        for place, entry in enumerate(trial.files)
        for piece in _pieces(knowledge, entry, ("files", place), recognised, wanted)
    ]
    seen: dict[tuple[str, Kind, int], Any] = {}
    for one in found:
        identity = (one.piece.file, one.piece.kind, one.piece.number)
        if identity in seen:
            raise knowledge.fault(
                f"{one.piece.file} occurs twice in this trial.", "remove one.", *one.key
            )
        seen[identity] = one
    return tuple(found)


def _pieces(
    knowledge: Knowledge,
    entry: FileEntry,
    key: tuple[str | int, ...],
    recognised: Mapping[str, Recognised],
    wanted: Sequence[Kind],
) -> Iterator[Piece]:
    is_glob = entry.file not in recognised and any(sign in entry.file for sign in "*?[")
    names = (
        [name for name in recognised if _matches(name, entry.file)]
        if is_glob
        else [entry.file] * (entry.file in recognised)
    )
    if not names:
        similar = get_close_matches(entry.file, recognised, n=1)
        hint = (
            f"did you mean {similar[0]}?" if similar else "study import --dry-run lists the files."
        )
        raise knowledge.fault(f"the folder has no file {entry.file!r}.", hint, *key)
    for name in names:
        found = recognised[name]
        pieces = [piece for piece in found.pieces if piece.kind in wanted]
        if entry.run is not None:
            yield _numbered(knowledge, entry, key, found, pieces)
            continue
        if found.refused:
            raise knowledge.fault(
                f"{found.refused[0]}.",
                "correct the file, or leave it out; `run` takes another part of it.",
                *key,
            )
        if not pieces and not is_glob:
            kinds = ", ".join(dict.fromkeys(piece.kind for piece in found.pieces))
            what = f"{name} holds {kinds}" if kinds else f"{name} is in no known format"
            remedy = "remove it from the trial, or name another file."
            raise knowledge.fault(f"{what}, which this trial cannot use.", remedy, *key)
        several = [piece for piece in pieces if piece.kind in _NUMBERED]
        if len(several) > 1:
            raise knowledge.fault(
                f"{name} holds {len(several)} runs.",
                f"say which one: {{file: {name}, run: 1}}.",
                *key,
            )
        yield from pieces


def _matches(name: str, pattern: str) -> bool:
    """As in a shell: `*` stays within one folder."""
    parts, patterns = PurePosixPath(name).parts, PurePosixPath(pattern).parts
    alike = zip(parts, patterns, strict=False)
    return len(parts) == len(patterns) and all(fnmatchcase(*pair) for pair in alike)


def _numbered(
    knowledge: Knowledge,
    entry: FileEntry,
    key: tuple[str | int, ...],
    found: Recognised,
    pieces: Sequence[Piece],
) -> Piece:
    of_run = [one for one in pieces if one.number == entry.run and one.kind in _NUMBERED]
    if len(of_run) == 1:
        return of_run[0]
    has = ", ".join(str(one.number) for one in pieces if one.kind in _NUMBERED) or "none"
    refused = f"; refused: {found.refused[0]}" if found.refused else ""
    raise knowledge.fault(
        f"{found.file} has no readable run {entry.run}: it has {has}{refused}.",
        "write one of these numbers.",
        *key,
        "run",
    )
