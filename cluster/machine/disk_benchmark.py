"""How fast a disk serves random reads that bypass the page cache (O_DIRECT).

Standard library only: it runs on hosts and guests too.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster.machine.medium import fill

MIB = 2**20


@dataclass(frozen=True)
class ReadRate:
    """Reads per second and MiB/s, measured over `seconds`."""

    iops: float
    mib_s: float
    seconds: float


def read_rate(folder: Path, block_bytes: int, seconds: float) -> ReadRate:
    """Random reads of `block_bytes` in a file of its own in `folder`."""
    with _file(folder) as file:
        return _read_rate_of(file, block_bytes, seconds)


def _read_rate_of(file: Path, block_bytes: int, seconds: float) -> ReadRate:
    blocks = file.stat().st_size // block_bytes
    choose = random.Random(0)
    descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
    reads, began = 0, time.monotonic()
    try:
        with mmap.mmap(-1, block_bytes) as page:  # O_DIRECT wants aligned memory
            while (spent := time.monotonic() - began) < seconds or not reads:
                os.preadv(descriptor, [page], choose.randrange(blocks) * block_bytes)
                reads += 1
    finally:
        os.close(descriptor)
    return ReadRate(reads / spent, reads * block_bytes / MIB / spent, spent)


@contextmanager
def _file(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f".figures-{os.getpid()}"
    try:
        fill(file)
        yield file
    finally:
        file.unlink(missing_ok=True)


if __name__ == "__main__":  # FOLDER BLOCK_BYTES SECONDS: for a process in a limited cgroup
    seen = read_rate(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    print(json.dumps(asdict(seen)))
