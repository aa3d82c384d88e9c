"""What a disk does, for the manifest: random 4 KiB, random 1 MiB and sequential reads past the cache.

By fio where it is installed, else by the program's own O_DIRECT reads. Standard library only: it runs
on hosts and guests too.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cluster.machine.medium import PROBE_MIB, fill
from cluster.model.errors import StudyError

MIB = 2**20
SMALL_BYTES, LARGE_BYTES = 4096, MIB


@dataclass(frozen=True)
class DiskFigures:
    """One reader, one request at a time. `method` says which program read."""

    method: str
    random_4k_read_iops: float
    random_1m_read_mib_s: float
    sequential_read_mib_s: float


@dataclass(frozen=True)
class ReadRate:
    """Reads a second and MiB a second, seen over `seconds`."""

    iops: float
    mib_s: float
    seconds: float


def disk_figures(folder: Path, seconds: float = 0.5) -> DiskFigures:
    """`seconds` for each of the three. StudyError if fio fails; OSError without O_DIRECT."""
    fio = shutil.which("fio")
    with _file(folder) as file:
        if fio is not None:
            return _by_fio(fio, file, seconds)
        small = read_rate_of(file, SMALL_BYTES, seconds)
        large = read_rate_of(file, LARGE_BYTES, seconds)
        row = read_rate_of(file, LARGE_BYTES, seconds, sequential=True)
        return DiskFigures("O_DIRECT reads", small.iops, large.mib_s, row.mib_s)


def read_rate(folder: Path, block_bytes: int, seconds: float) -> ReadRate:
    """Random reads of `block_bytes` in a file of its own in `folder`."""
    with _file(folder) as file:
        return read_rate_of(file, block_bytes, seconds)


def read_rate_of(
    file: Path, block_bytes: int, seconds: float, sequential: bool = False
) -> ReadRate:
    blocks = file.stat().st_size // block_bytes
    choose = random.Random(0)
    descriptor = os.open(file, os.O_RDONLY | os.O_DIRECT)
    reads, began = 0, time.monotonic()
    try:
        with mmap.mmap(-1, block_bytes) as page:  # O_DIRECT wants aligned memory
            while (spent := time.monotonic() - began) < seconds or not reads:
                block = reads % blocks if sequential else choose.randrange(blocks)
                os.preadv(descriptor, [page], block * block_bytes)
                reads += 1
    finally:
        os.close(descriptor)
    return ReadRate(reads / spent, reads * block_bytes / MIB / spent, spent)


def _by_fio(fio: str, file: Path, seconds: float) -> DiskFigures:
    small = _fio(fio, file, "randread", SMALL_BYTES, seconds)
    large = _fio(fio, file, "randread", LARGE_BYTES, seconds)
    row = _fio(fio, file, "read", LARGE_BYTES, seconds)
    method = f"fio {small['fio version']}"
    return DiskFigures(
        method.replace("fio fio-", "fio "),
        fio_read(small)["iops"],
        fio_read(large)["bw_bytes"] / MIB,
        fio_read(row)["bw_bytes"] / MIB,
    )


def _fio(fio: str, file: Path, how: str, block_bytes: int, seconds: float) -> dict[str, Any]:
    argv = (
        fio,
        "--name=probe",
        f"--filename={file}",
        f"--rw={how}",
        f"--bs={block_bytes}",
        f"--size={PROBE_MIB}m",
        f"--runtime={int(seconds * 1000)}ms",
        *("--time_based", "--readonly", "--direct=1", "--ioengine=psync", "--output-format=json"),
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60 + seconds)
    if done.returncode != 0:
        raise StudyError(
            f"fio ended with {done.returncode}: {done.stderr.strip()[-300:]}",
            f"disk {file.parent}",
            "run the same fio by hand, or remove fio: the program then reads by itself.",
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def fio_read(answer: dict[str, Any]) -> dict[str, float]:
    """The reads of the only job. StudyError if it is not what fio 3 writes."""
    try:
        read: dict[str, float] = answer["jobs"][0]["read"]
        return {"iops": float(read["iops"]), "bw_bytes": float(read["bw_bytes"])}
    except (LookupError, TypeError, ValueError) as error:
        raise StudyError(
            f"fio answered in an unknown form: {error!r}.", "fio", "use fio 3."
        ) from error


@contextmanager
def _file(folder: Path) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f".figures-{os.getpid()}"
    try:
        fill(file)
        yield file
    finally:
        file.unlink(missing_ok=True)


if __name__ == "__main__":  # FOLDER BLOCK_BYTES SECONDS: what a process in a limited group reads
    seen = read_rate(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    print(json.dumps(asdict(seen)))
