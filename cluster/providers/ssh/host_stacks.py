"""Stacks on a host: unpacked, verified, put in their place, archived for its Java. Runs on the host, with
the standard library only."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.tags import TAG

SENT = "sent.tar"
"""The controller's archive, while it is unpacked."""
SUMS = "SHA256SUMS"
CLASS_LIST = "classes.txt"
_HEAP = "-Xmx512m"
_TIMEOUT_S = 600.0
_BLOCK_BYTES = 2**20


def install(aside: str, home: str) -> None:
    """Unpack the controller's archive in the folder `aside`, verify it, and make it the stack's home."""
    sent = Path(aside) / SENT
    with tarfile.open(sent) as archive:
        archive.extractall(aside)
    sent.unlink()
    verify(aside)
    shutil.rmtree(home, ignore_errors=True)  # it is there only if it is damaged
    Path(aside).rename(home)


def verify(home: str) -> None:
    """StudyError unless every file has the checksum that the controller knows."""
    folder = Path(home)
    wrong = [name for name, sha256 in _sums(folder) if _sha256(folder / name) != sha256]
    if wrong:
        raise StudyError(
            f"{len(wrong)} files are not what was copied, {wrong[0]} for one.",
            home,
            "remove the folder: the next build copies it again.",
        )


def archive_classes(tag: str, home: str, java: str, archive: str, jars: str) -> None:
    """Archive the stack's classes by this host's Java: no other can map them. A second call does nothing."""
    done = Path(home) / archive
    if done.exists():
        return
    part = done.with_name(f"{archive}.part")
    argv = [
        f"{java}/bin/java", _HEAP, "-XX:-UsePerfData", "-Xshare:dump",
        f"-XX:SharedClassListFile={home}/{CLASS_LIST}", f"-XX:SharedArchiveFile={part}", "-cp", jars,
    ]  # fmt: skip
    ended = subprocess.run(
        argv, env={**os.environ, TAG: tag}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip
    if ended.returncode:
        raise StudyError(
            f"its classes cannot be archived; java exited with {ended.returncode}: "
            f"{(ended.stderr or ended.stdout).strip()[-500:]}.",
            home,
            f"on that host, run `{java}/bin/java -Xshare:dump -version`, and mend its Java.",
        )
    part.rename(done)


def _sums(folder: Path) -> list[tuple[str, str]]:
    """(file, SHA-256), as sha256sum writes them."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    return [(name, sha256) for sha256, _, name in (line.partition("  ") for line in lines)]


def _sha256(file: Path) -> str:
    """Empty for a file that is not there."""
    digest = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
    except FileNotFoundError:
        return ""
    return digest.hexdigest()
