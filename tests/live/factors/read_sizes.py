"""How large the reads of a DataNode are that two streams read through.

Its disk is an image, mounted in a mount namespace that ends with the program:
python -m tests.live.factors.read_sizes FOLDER VERSIONS measures, and prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from density_study.cluster.model.host import Disk
from density_study.cluster.model.topology import Topology
from density_study.cluster.model.versions import Versions
from tests.live.factors.one_build import Build, built, variant

# When the test is killed, so is `unshare`; the program then removes its cluster, as after Ctrl-C.
APART = ("setpriv", "--pdeathsig", "KILL", "--",
         "unshare", "--mount", "--propagation", "private", "--kill-child=TERM", "--")  # fmt: skip


@dataclass(frozen=True)
class ReadSizes:
    native_hadoop: bool
    kib_per_read: float


def read_sizes(folder: Path, versions: Versions) -> ReadSizes:
    """Of a build in `folder`. AssertionError with the program's output if it failed. Needs root."""
    program = (sys.executable, "-m", __name__, str(folder), json.dumps(asdict(versions)))
    done = subprocess.run((*APART, *program), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return ReadSizes(**json.loads(done.stdout.splitlines()[-1]))


@contextmanager
def own_disk(folder: Path) -> Iterator[Path]:
    """A file system on a device of its own, whose reads nobody else causes."""
    image, place = folder / "disk.img", folder / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(3 * 2**30)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(place)], check=True)
    try:
        # as Linux has it for disks; a loop device of this kernel reads 2.5 MiB ahead without anybody's help
        _device(place, "queue/read_ahead_kb").write_text("128")
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def on_disk(placed: Topology, place: Path) -> Topology:
    nodes = tuple(
        replace(node, disk=Disk(str(place), "flash")) if "worker" in node.roles else node
        for node in placed.nodes
    )
    return replace(placed, nodes=nodes)


def kib_per_read(build: Build, place: Path) -> float:
    """Of two concurrent streams through the DataNode, from a cold cache."""
    build.dfsio("write", "128MB")
    subprocess.run(["sync", "-f", str(place)], check=True)
    for path in place.rglob("blk_*"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    before = _reads(place)
    build.dfsio("read", "128MB")
    requests, sectors = (now - then for now, then in zip(_reads(place), before, strict=True))
    assert sectors * 512 > 200 * 2**20, "the files were in memory"
    return sectors / 2 / requests


def _reads(place: Path) -> tuple[int, int]:
    """Requests and sectors that the file system's device has read."""
    stat = _device(place, "stat").read_text().split()
    return int(stat[0]), int(stat[2])


def _device(place: Path, name: str) -> Path:
    """What the kernel says of the file system's device."""
    device = place.stat().st_dev
    return Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}") / name


def main(folder: Path, versions: Versions) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with own_disk(folder) as place:
        placed = on_disk(variant(folder, versions), place)
        with built(folder, placed) as build:
            native = build.cluster.disclosure["native_hadoop"]
            print(json.dumps(asdict(ReadSizes(native, kib_per_read(build, place)))))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Versions(**json.loads(sys.argv[2])))
