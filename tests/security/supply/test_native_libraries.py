"""`study stack add native` with a tarball or folder of a stranger: libraries within limits, or a message."""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from density_study.cluster.model.errors import StudyError
from density_study.cluster.stack import stack_home
from density_study.cluster.stack.brought import taken
from density_study.cluster.stack.brought.bring import bring_native
from tests.support.toy_stack import LINK, REAL, native_tarball

pytestmark = pytest.mark.usefixtures("watchdog")
FOLDER = "hadoop-3.4.2/lib/native/"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENSITY_STUDY_CACHE", str(tmp_path / "cache"))


def packed(folder: Path, *entries: tuple[str, bytes | str]) -> Path:
    """A tarball of files (bytes) and links (text)."""
    path = folder / "hadoop.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in entries:
            entry = tarfile.TarInfo(name)
            if isinstance(content, str):
                entry.type, entry.linkname = tarfile.SYMTYPE, content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return path


def cut(folder: Path) -> Path:
    path = native_tarball(folder, b"\x7fELF" + random.Random(1).randbytes(100_000))
    path.write_bytes(path.read_bytes()[:50_000])
    return path


def wrong_bytes(folder: Path) -> Path:
    path = native_tarball(folder, b"\x7fELF" + random.Random(1).randbytes(100_000))
    content = bytearray(path.read_bytes())
    content[2000:2100] = bytes(100)
    path.write_bytes(content)
    return path


def claims(size: int, kind: bytes) -> Callable[[Path], Path]:
    """A header that claims so many bytes."""

    def made(folder: Path) -> Path:
        entry = tarfile.TarInfo(f"{FOLDER}{REAL}")
        entry.type, entry.size = kind, size
        path = folder / "hadoop.tar.gz"
        path.write_bytes(gzip.compress(entry.tobuf(tarfile.GNU_FORMAT) + bytes(2048)))
        return path

    return made


def sparse_map(folder: Path) -> Path:
    path = folder / "hadoop.tar.gz"
    headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,x",
               "GNU.sparse.size": "4"}  # fmt: skip
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(f"{FOLDER}{REAL}")
        entry.pax_headers, entry.size = headers, 4
        archive.addfile(entry, io.BytesIO(b"\x7fELF"))
    return path


HOSTILE: dict[str, Callable[[Path], Path]] = {
    "half a download": cut,
    "wrong bytes": wrong_bytes,
    "links in a circle": lambda at: packed(
        at, (f"{FOLDER}{LINK}", "libb.so"), (f"{FOLDER}libb.so", LINK)
    ),
    "a link to itself": lambda at: packed(at, (f"{FOLDER}{LINK}", LINK)),
    "a link out of the archive": lambda at: packed(at, (f"{FOLDER}{LINK}", "/etc/passwd")),
    "a link to another folder": lambda at: packed(
        at, ("hadoop-3.4.2/huge", bytes(2**21)), (f"{FOLDER}{LINK}", "../../huge")
    ),
    "links to a large file": lambda at: packed(
        at, (f"{FOLDER}{LINK}", b"\x7fELF" + bytes(2**19)),
        *((f"{FOLDER}lib{n}.so", LINK) for n in range(50)),
    ),
    "a file of an exabyte": claims(2**60, tarfile.REGTYPE),
    "a header of a gigabyte": claims(2**30, tarfile.XHDTYPE),
    "a name of a gigabyte": claims(2**30, tarfile.GNUTYPE_LONGNAME),
    "a map of no numbers": sparse_map,
    "names with controls": lambda at: packed(at, (f"{FOLDER}libhadoop.so\x1b]0;x", b"\x7fELF")),
}  # fmt: skip


@pytest.mark.parametrize("how", HOSTILE)
def test_a_tarball_of_a_stranger_is_refused(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken, "_MOST_BYTES", 2**20)
    (tmp_path / "given").mkdir()
    with pytest.raises(StudyError) as refused:
        bring_native(HOSTILE[how](tmp_path / "given"))
    assert refused.value.remedy and "root:" not in str(refused.value)
    assert not (tmp_path / "cache").exists()


def test_other_names_beside_the_libraries_are_left_out(tmp_path: Path) -> None:
    library = b"\x7fELF of Hadoop"
    path = packed(
        tmp_path, (f"{FOLDER}{REAL}", library), (f"{FOLDER}{LINK}", REAL),
        (f"{FOLDER}lib{'x' * 90}.so", library), (f"{FOLDER}lib\n.so", library),
        (f"{FOLDER}libx.so.sh", library), ("../../etc/lib/native/../libevil.so", library),
    )  # fmt: skip
    home = stack_home("native", bring_native(path))
    assert sorted(one.name for one in (home / "lib").iterdir()) == [LINK, REAL]


def test_a_file_without_an_end_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel says that it has 0 bytes."""
    monkeypatch.setattr(taken, "_MOST_BYTES", 2**20)
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / LINK).symlink_to("/proc/kpagecount" if os.geteuid() == 0 else "/dev/zero")
    with pytest.raises(StudyError):
        bring_native(tmp_path / "given")
