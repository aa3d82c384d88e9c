"""What is in a folder: each file by its content, never by its name."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath

from density_study.cluster.model.errors import InputError
from density_study.cluster.state.plain_file import read_plain
from density_study.workloads.imports.dfsio_blocks import dfsio_pieces
from density_study.workloads.imports.foreign import foreign
from density_study.workloads.imports.piece import Piece, Recognised, Refused, Text
from density_study.workloads.imports.span_files import has_sums, kind_of_span, span_piece
from density_study.workloads.imports.wrapped import unwrapped
from density_study.workloads.imports.ycsb.runs import ycsb_pieces

# As workloads.rows.raw.raw_files.MAX_BYTES: a larger file would not be analysed.
MAX_BYTES = 2**28
MAX_FILES = 10_000
MAX_LINES = 2_000_000
"""A line takes a hundred bytes of memory and some microseconds, however short it is."""
MAX_PARTS = 1_000
MAP_FILE = "map.yaml"
_COMPRESSED = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"PK\3\4": "zip", b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7-Zip", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4",
}  # fmt: skip
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
# Each known format has at least one of these somewhere.
_SIGNS = (
    *(
        b"], ",
        b" operations; ",
        b"Client ",
        b"Command line: ",
        b"Loading workload",
        b"Starting test",
    ),
    *(
        b'"metric"',
        b"TestDFSIO",
        b"nrFiles = ",
        b"Avro-",
        b"# hostname;",
        b" CSV output",
        b" CSV Output",
        b":rate\t",
    ),
    *(b"Histogram log", b"StartTimestamp", b"#[", b"nodecpu", b":size\t", b":tasks\t", b":time\t"),
)


def files_of(folder: Path) -> tuple[str, ...]:
    """Files and links below the folder, sorted, as paths with slashes. InputError if it is not a folder or
    has too many, PermissionError if a folder in it cannot be read."""
    if not folder.is_dir():
        raise InputError("this is not a folder.", str(folder), "name the folder with the records.")
    found = list(islice(_files(folder), MAX_FILES + 1))
    if len(found) > MAX_FILES:
        raise InputError(
            f"the folder has more than {MAX_FILES:,} files.",
            str(folder),
            "import a folder that has only the records.",
        )
    return tuple(sorted(path.relative_to(folder).as_posix() for path in found))


def _files(folder: Path) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        raise error

    for at, folders, files in os.walk(folder, onerror=unreadable):
        for path in (Path(at, name) for name in (*folders, *files)):
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield path


def recognise(folder: Path, file: str, time_zone: str = "") -> Recognised:
    """What the file holds. time_zone: that of a monitor's local times.

    A file is looked at as text only if it has a sign of a known format: a folder may also hold large files
    of other kinds.
    """

    def refused(reason: str, digest: str = "") -> Recognised:
        return Recognised(file, digest, refused=(Refused(file, 0, reason),))

    if (folder / file).is_symlink():
        return refused("a link, which may lead anywhere: put a copy of its target in its place")
    try:
        data = read_plain(folder / file, MAX_BYTES)
    except OSError as error:
        return refused(error.strerror or str(error))
    digest = hashlib.sha256(data).hexdigest()
    for magic, name in _COMPRESSED.items():
        if data.startswith(magic):
            return refused(f"compressed with {name}: decompress it first", digest)
    if data[257:262] == b"ustar":
        return refused("an archive of tar: unpack it first", digest)
    if data.startswith(_UTF16) or _is_utf16(data[:64]):
        return refused("encoded in UTF-16: convert it to UTF-8 first", digest)
    if b"\r" in data and b"\n" not in data:
        return refused(
            "lines end in bare carriage returns: convert them, by tr '\\r' '\\n'", digest
        )
    if look_alike := foreign(data, only_look_alikes=True):
        return refused(str(look_alike), digest)
    if not any(sign in data for sign in _SIGNS):
        other = foreign(data)
        return refused(str(other), digest) if other else Recognised(file, digest)
    if data.count(b"\n") > MAX_LINES:
        return refused(f"more than {MAX_LINES:,} lines: cut out the part with the run", digest)
    found = tuple(_without_bytes(part) for part in _parts(Text(file, data), time_zone))
    if not found and (other := foreign(data)):
        return refused(str(other), digest)
    return Recognised(
        file,
        digest,
        tuple(part for part in found if isinstance(part, Piece)),
        tuple(part for part in found if isinstance(part, Refused)),
    )


def _is_utf16(head: bytes) -> bool:
    """Whether these are ASCII characters of two bytes each, without the mark that such files begin with."""
    halves = sorted((head[::2], head[1::2]), key=any)
    return len(head) > 2 and not any(halves[0]) and all(halves[1])


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
    plain = unwrapped(text)
    if isinstance(plain, Refused):
        yield plain
        return
    kind = kind_of_span(plain)
    if kind is not None:
        yield span_piece(plain, kind, time_zone)
        return
    parts = chain(dfsio_pieces(plain), ycsb_pieces(plain))
    found = list(islice(parts, MAX_PARTS))
    yield from found
    if not found and has_sums(plain):
        yield span_piece(plain, "dfsio-io", time_zone)
    if next(parts, None) is not None:
        yield Refused(text.file, 0, f"more than {MAX_PARTS:,} runs: import them in several files")
