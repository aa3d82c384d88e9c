"""The type of a disk and its speed, both measured by random reads that bypass the page cache (O_DIRECT).

Virtual disks often report `rotational 1` on flash, so the kernel's flag is ignored. A rotating disk needs a
seek and half a rotation per random read, 4 ms or more; flash needs less than 1 ms. In between, the disk type
is undecided. Standard library only: runs on hosts and guests too.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import random
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from density_study.cluster.machine.directories import check_own
from density_study.cluster.model.errors import InputError
from density_study.cluster.model.host import MIB, DiskType

FILE_MIB = 64
PROBE_BYTES = 4096
FLASH_BELOW_MS = 1.0
HDD_ABOVE_MS = 2.0


@dataclass(frozen=True)
class Probe:
    """Result of a probe: median latency of random 4 KiB O_DIRECT reads in milliseconds."""

    path: str
    random_4k_read_ms: float
    reads: int

    @property
    def disk_type(self) -> DiskType | None:
        """The disk type that the latency indicates; None between the two bounds."""
        if self.random_4k_read_ms < FLASH_BELOW_MS:
            return "flash"
        return "hdd" if self.random_4k_read_ms > HDD_ABOVE_MS else None


def check_disk(folder: Path) -> None:
    """InputError unless `folder` exists, or its parent is a mount point, or if another user's studies lie in
    it. Writes nothing.

    Any other missing folder is misspelt, or its disk is not mounted: created, it would lie on another disk.
    The same holds for a folder in the root.
    """
    parent = folder.parent
    is_missing = not os.path.lexists(folder)
    if is_missing and parent != Path("/") and os.path.ismount(parent):
        return
    if os.path.isdir(folder):  # noqa: PTH112  Path's raises where it may not look
        check_own(folder)
        return
    raise InputError(
        "the folder does not exist, and no disk is mounted on its parent."
        if is_missing
        else "it is not a folder.",
        f"disk {folder}",
        "correct the path, mount the disk, or create the folder.",
    )


def probe(folder: Path, seconds: float = 0.5) -> Probe:
    """Read random blocks of a temporary file in `folder` for `seconds`.

    InputError if the folder is not writable or its filesystem does not support O_DIRECT.
    """
    try:
        latencies_ms = [1000 * s for s in _random_reads(folder, PROBE_BYTES, seconds)]
    except OSError as error:
        raise InputError(
            f"cannot be probed for its disk type: {error.strerror}.",
            f"disk {folder}",
            "use a writable folder on a local disk whose filesystem supports O_DIRECT, "
            "or set its disk_type: flash or hdd.",
        ) from error
    return Probe(str(folder), statistics.median(latencies_ms), len(latencies_ms))


def read_rate(folder: Path, block_bytes: int, seconds: float) -> dict[str, float]:
    """`iops` and `mib_s` of random reads of `block_bytes` in a temporary file in `folder`."""
    latencies_s = _random_reads(folder, block_bytes, seconds)
    iops = len(latencies_s) / sum(latencies_s)
    return {"iops": iops, "mib_s": iops * block_bytes / MIB, "seconds": sum(latencies_s)}


def _random_reads(folder: Path, block_bytes: int, seconds: float) -> list[float]:
    """Seconds of each read, from the end of the one before it; together they fill the time."""
    choose = random.Random(0)
    latencies_s: list[float] = []
    with (
        _open_file(folder) as descriptor,
        mmap.mmap(-1, block_bytes) as page,
    ):  # aligned, for O_DIRECT
        before = began = time.perf_counter()
        while before < began + seconds or not latencies_s:
            block = choose.randrange(FILE_MIB * MIB // block_bytes)
            os.preadv(descriptor, [page], block * block_bytes)
            now = time.perf_counter()
            latencies_s.append(now - before)
            before = now
    return latencies_s


@contextmanager
def _open_file(folder: Path) -> Iterator[int]:
    """A descriptor of a file of random bytes in `folder`, opened for reads past the page cache. The file and
    the folders that it needed are removed."""
    file = folder / f".probe-{os.getpid()}"
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        chunk = os.urandom(MIB)
        with file.open("wb") as stream:
            for _ in range(FILE_MIB):
                stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
            for path in made:
                path.rmdir()  # an error if it is not empty: others use it


if __name__ == "__main__":  # FOLDER BLOCK_BYTES SECONDS: for a process in a limited cgroup
    print(json.dumps(read_rate(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))))
