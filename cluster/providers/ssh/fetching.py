"""Files of a host, copied to this machine: as much as is allowed, and nowhere but where they belong.

`answers` has checked the names that a host lists: they stay below the folder. Only plain files are made,
without any of the host's modes, owners and links.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from density_study.cluster.model.errors import StudyError
from density_study.cluster.model.host import MIB, Target
from density_study.cluster.providers.ssh.channel import CHUNK_BYTES, channel
from density_study.cluster.state import atomic

MAX_MIB = 4096
"""For one folder of a host: more than a trial writes, less than what fills a disk unseen."""
MAX_FILE_MIB = 512
"""For one file, which its reader may hold in memory. The analysis reads none above 256 MiB."""
MAX_S = 1800.0


@dataclass
class Allowance:
    """What is left of the bytes and the seconds for one fetch."""

    target: Target
    bytes: int = MAX_MIB * MIB
    until_s: float = field(default_factory=lambda: time.monotonic() + MAX_S)

    def take(self, count: int, size: int, path: PurePath | str) -> None:
        """`count` more bytes of a file, of which there are now `size`. StudyError if that is too much."""
        self.bytes -= count
        if size > MAX_FILE_MIB * MIB:
            self._refuse(f"it sends a file of more than {MAX_FILE_MIB} MiB", path)
        if self.bytes < 0:
            self._refuse(f"it sends more than {MAX_MIB} MiB", path)
        if time.monotonic() > self.until_s:
            self._refuse(f"it has not sent everything within {MAX_S:.0f} s", path)

    def _refuse(self, what: str, path: PurePath | str) -> None:
        raise StudyError(f"{what}.", f"{self.target}, {path}", "look at that folder on the host.")


def fetch(target: Target, path: PurePath | str, to: Path, left: Allowance | None = None) -> None:
    """Copy a file up to its current end: a log may still grow. FileNotFoundError if the host has none."""
    left = left or Allowance(target)
    chunk = channel(target).read(str(path))
    try:
        with atomic.replacing(to) as aside, aside.open("wb") as stream:
            stream.write(chunk)
            left.take(len(chunk), stream.tell(), path)
            while len(chunk) == CHUNK_BYTES:
                chunk = channel(target).read(str(path), stream.tell())
                stream.write(chunk)
                left.take(len(chunk), stream.tell(), path)
    except FileNotFoundError:  # on the host: it has gone meanwhile
        raise
    except OSError as error:
        raise StudyError(
            f"the file of {target} cannot be written: {error.strerror}.",
            str(to),
            "see that there is space on that disk, and that the folder can be written to.",
        ) from error


def fetch_folder(
    target: Target, folder: PurePath, to: Path, wanted: Callable[[str], bool] = bool
) -> None:
    """Copy to the folder `to` the regular files below `folder` whose names are `wanted`, and that are still
    there: logs are rotated meanwhile."""
    left = Allowance(target)
    for name in channel(target).call("files", str(folder)):
        if wanted(name):
            with suppress(FileNotFoundError):
                fetch(target, folder / name, to / name, left)
