"""`HOST_COMMANDS`: functions that run on a node's machine, by name. They return JSON values.

Standard library only: for `local` they run in this process, for other hosts in the agent over SSH.
"""

from __future__ import annotations

import getpass
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cluster.machine import directories, page_cache
from cluster.machine.describe import available_memory_mib, describe_disk, describe_machine
from cluster.machine.disk_benchmark import read_rate
from cluster.machine.medium import check_disk, probe
from cluster.machine.processes import stop_all
from cluster.machine.sockets import check_free, is_taken, listener
from cluster.stack.java import find_java
from cluster.state.tags import tagged

_SWEEPS = 5


def _describe() -> dict[str, Any]:
    """Facts about the machine, and the user, Python and service manager on it."""
    return {
        **describe_machine(),
        "user": getpass.getuser(),
        "python": ".".join(map(str, sys.version_info[:3])),
        "systemd": Path("/run/systemd/system").is_dir(),
    }


def _java() -> dict[str, str]:
    java = find_java()
    return {"home": str(java.home), "version": java.version}


def _free_mib(folder: str) -> int:
    """Free space of the disk that holds, or will hold, `folder`."""
    path = Path(folder)
    existing = next(place for place in (path, *path.parents) if place.exists())
    return shutil.disk_usage(existing).free // 2**20


def _probe(folder: str) -> dict[str, Any]:
    """Probe the medium of the disk that holds `folder`; removes the folders it had to create."""
    made = [p for p in (Path(folder), *Path(folder).parents) if not p.exists()]
    try:
        return asdict(probe(Path(folder)))
    finally:
        for path in made:
            directories.remove_if_empty(path)


def _check_disk(folder: str) -> None:
    check_disk(Path(folder))


def _read_rate(folder: str, block_bytes: int, seconds: float) -> dict[str, Any]:
    return asdict(read_rate(Path(folder), block_bytes, seconds))


def _tagged(tag: str) -> list[dict[str, Any]]:
    return [asdict(process) for process in tagged(tag)]


def _stop_tagged(tag: str, grace_s: float) -> list[dict[str, Any]]:
    """Stop every process of the tag, in several sweeps: a dying NodeManager may still start processes,
    which the next sweep finds."""
    stopped = []
    for _ in range(_SWEEPS):
        processes = tagged(tag)
        if not processes:
            break
        stop_all(processes, grace_s)
        stopped += [asdict(process) for process in processes]
    return stopped


def _check_free(addresses: Sequence[Sequence[Any]]) -> None:
    check_free([(str(host), int(port)) for host, port in addresses])


def _listening(addresses: Sequence[Sequence[Any]], tag: str) -> list[list[Any]]:
    """The `addresses` on which a process of the tag listens."""
    ours = {process.pid for process in tagged(tag)}
    return [[h, p] for h, p in addresses if is_taken((h, p)) and listener(p) in ours]


def _make_dir(path: str, tag: str) -> None:
    directories.make_at(Path(path), tag)


def _make_folder(path: str) -> None:
    """Create a folder inside one of the build's own."""
    Path(path).mkdir(parents=True, exist_ok=True)


def _dirs_there(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if Path(path).exists()]


def _remove_dir(path: str, tag: str) -> bool:
    return directories.remove_at(Path(path), tag, len(Path(tag).parts) + 1)


HOST_COMMANDS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "available-memory-mib": available_memory_mib,
        "check-disk": _check_disk,
        "check-free": _check_free,
        "clock": time.time,
        "describe": _describe,
        "describe-disk": describe_disk,
        "dirs-there": _dirs_there,
        "evict": page_cache.evict,
        "free-mib": _free_mib,
        "io-bytes": page_cache.io_bytes,
        "java": _java,
        "listening": _listening,
        "make-dir": _make_dir,
        "make-folder": _make_folder,
        "tagged": _tagged,
        "probe": _probe,
        "read-rate": _read_rate,
        "remove-dir": _remove_dir,
        "flush-dirty-pages": page_cache.flush_dirty_pages,
        "stop-tagged": _stop_tagged,
    }
)
