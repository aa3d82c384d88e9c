"""The medium of a disk: determined by probing random reads, not from the kernel's rotational flag.

Virtual disks often report `rotational 1` on flash. A rotating disk needs a seek and half a rotation per
random read, 4 ms or more; flash needs less than 1 ms. In between, the medium is undecided.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

from cluster.model.errors import InputError
from cluster.model.host import Medium

PROBE_MIB = 64
BLOCK_BYTES = 4096
FLASH_BELOW_MS = 1.0
HDD_ABOVE_MS = 2.0


@dataclass(frozen=True)
class Probe:
    """Result of a probe: median latency of random 4 KiB O_DIRECT reads in milliseconds."""

    path: str
    random_4k_read_ms: float
    reads: int

    @property
    def medium(self) -> Medium | None:
        """The medium that the latency indicates; None between the two bounds."""
        if self.random_4k_read_ms < FLASH_BELOW_MS:
            return "flash"
        return "hdd" if self.random_4k_read_ms > HDD_ABOVE_MS else None


def check_disk(folder: Path) -> None:
    """InputError unless `folder` exists, or its parent is a mount point. Writes nothing.

    Any other missing folder is misspelt, or its disk is not mounted: created, it would lie on another disk.
    The same holds for a folder in the root.
    """
    parent = folder.parent
    is_missing = not os.path.lexists(folder)
    if is_missing and parent != Path("/") and os.path.ismount(parent):
        return
    if os.path.isdir(folder):  # noqa: PTH112  Path's raises where it may not look
        return
    raise InputError(
        "the folder does not exist, and no disk is mounted on its parent."
        if is_missing
        else "it is not a folder.",
        f"disk {folder}",
        "correct the path, mount the disk, or create the folder.",
    )


def probe(folder: Path, seconds: float = 0.5) -> Probe:
    """Read random blocks of a temporary file in `folder` for `seconds`, bypassing the page cache.

    InputError if the folder is not writable or its filesystem does not support O_DIRECT.
    """
    file = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fill(file)
        latencies_ms = _random_reads(file, seconds)
    except OSError as error:
        raise InputError(
            f"cannot be probed for its medium: {error.strerror}.",
            f"disk {folder}",
            "use a writable folder on a local disk whose filesystem supports O_DIRECT, "
            "or set its medium: flash or hdd.",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
    return Probe(str(folder), statistics.median(latencies_ms), len(latencies_ms))


def fill(file: Path) -> None:
    chunk = os.urandom(1024 * 1024)
    with file.open("wb") as stream:
        for _ in range(PROBE_MIB):
            stream.write(chunk)
        stream.flush()
        os.fsync(stream.fileno())


def _random_reads(file: Path, seconds: float) -> list[float]:
    blocks = PROBE_MIB * 1024 * 1024 // BLOCK_BYTES
    choose = random.Random(0)
    latencies_ms: list[float] = []
    descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, BLOCK_BYTES) as page:  # O_DIRECT wants aligned memory
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline or not latencies_ms:
                start = time.perf_counter()
                os.preadv(descriptor, [page], choose.randrange(blocks) * BLOCK_BYTES)
                latencies_ms.append((time.perf_counter() - start) * 1000)
    finally:
        os.close(descriptor)
    return latencies_ms
