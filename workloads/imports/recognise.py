"""What is in a folder: each file by its content, never by its name."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.dfsio_blocks import dfsio_pieces
from density_study.workloads.imports.piece import Piece, Recognised, Refused, Text
from density_study.workloads.imports.span_files import kind_of_span, span_piece
from density_study.workloads.imports.ycsb_runs import ycsb_pieces

# As jobs.raw.raw_files.MAX_BYTES: a larger file would not be analysed.
MAX_BYTES = 2**28
MAX_FILES = 10_000
MAP_FILE = "map.yaml"
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"PK": "zip", b"\xfd7zXZ": "xz"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def files_of(folder: Path) -> tuple[str, ...]:
    """Plain files below the folder, sorted, as paths with slashes. InputError if it is no folder or has too
    many. Links are left out: they may lead anywhere."""
    if not folder.is_dir():
        raise InputError("this is not a folder.", str(folder), "name the folder with the records.")
    found = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if stat.S_ISREG(path.lstat().st_mode)
    )
    if len(found) > MAX_FILES:
        raise InputError(
            f"the folder has more than {MAX_FILES:,} files.",
            str(folder),
            "import a folder with the records alone.",
        )
    return tuple(found)


def recognise(folder: Path, file: str, time_zone: str = "") -> Recognised:
    """What the file holds. time_zone: of a monitor's local times."""
    path = folder / file
    size = path.stat().st_size
    if size > MAX_BYTES:
        return Recognised(file, refused=(Refused(file, 0, f"larger than {MAX_BYTES} bytes"),))
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            reason = f"compressed with {name}: decompress it first"
            return Recognised(file, digest, refused=(Refused(file, 0, reason),))
    if data.startswith(_UTF16):
        reason = "encoded in UTF-16: convert it to UTF-8 first"
        return Recognised(file, digest, refused=(Refused(file, 0, reason),))
    found = tuple(_without_bytes(part) for part in _parts(Text(file, data), time_zone))
    return Recognised(
        file,
        digest,
        tuple(part for part in found if isinstance(part, Piece)),
        tuple(part for part in found if isinstance(part, Refused)),
    )


def _without_bytes(part: Piece | Refused) -> Piece | Refused:
    """The bytes of a whole file are read again when they are copied: a folder may be larger than memory."""
    if isinstance(part, Refused) or not part.lines.whole:
        return part
    status = replace(part.status, data=b"") if part.status and part.status.whole else part.status
    return replace(part, lines=replace(part.lines, data=b""), status=status)


def recognise_all(
    folder: Path, time_zone: str = "", zones: Mapping[str, str] | None = None
) -> dict[str, Recognised]:
    """Every file of the folder. zones: time zones of single files."""
    return {
        file: recognise(folder, file, (zones or {}).get(file, time_zone))
        for file in files_of(folder)
        if PurePosixPath(file).name != MAP_FILE
    }


def _parts(text: Text, time_zone: str) -> Iterator[Piece | Refused]:
    kind = kind_of_span(text)
    if kind is not None:
        yield span_piece(text, kind, time_zone)
        return
    yield from dfsio_pieces(text)
    yield from ycsb_pieces(text)
