"""`run`: runs programs that feed each other, and says what they used together.

CPU time and peak memory are the kernel's own count of each ended process, its threads and children included
(wait4). The kernel begins the peak of a program with that of the Python that started it, about 15 MiB.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

Chain = Sequence[Sequence[str]]
"""Command lines of programs that run at once; each reads the output of the one before."""


@dataclass(frozen=True)
class Use:
    """core_s: user and system time. peak_kib: sum of the peaks of programs that ran at once, so an upper
    bound. Bytes: read from and written to files, the page cache included; None: the kernel does not count
    them.
    exit_code: the first that is not 0."""

    start_epoch_s: float
    end_epoch_s: float
    core_s: float
    peak_kib: int
    read_bytes: int | None
    written_bytes: int | None
    exit_code: int


def run(chains: Sequence[Chain], folder: Path) -> Use:
    """Run the chains in sequence in `folder`; a program that fails is the last one."""
    begun_s = time.time()
    uses: list[Use] = []
    for chain in chains:
        uses.append(_run(chain, folder))
        if uses[-1].exit_code:
            break
    return Use(
        start_epoch_s=begun_s,
        end_epoch_s=time.time(),
        core_s=sum(use.core_s for use in uses),
        peak_kib=max(use.peak_kib for use in uses),
        read_bytes=_sum([use.read_bytes for use in uses]),
        written_bytes=_sum([use.written_bytes for use in uses]),
        exit_code=uses[-1].exit_code,
    )


def _run(chain: Chain, folder: Path) -> Use:
    begun_s = time.time()
    children: list[subprocess.Popen[bytes]] = []
    for place, argv in enumerate(chain):
        feed = children[-1].stdout if children else subprocess.DEVNULL
        out = subprocess.PIPE if place < len(chain) - 1 else subprocess.DEVNULL
        children.append(subprocess.Popen(argv, cwd=folder, stdin=feed, stdout=out))
        if isinstance(feed, int) or feed is None:
            continue
        feed.close()  # else a program that writes would not see that its reader has ended
    ended = [_reaped(child, begun_s) for child in children]
    # all but the last write nothing but what the next one reads
    piped = _sum([one.written_bytes for one in ended[:-1]])
    read = _sum([one.read_bytes for one in ended])
    return Use(
        start_epoch_s=begun_s,
        end_epoch_s=time.time(),
        core_s=sum(one.core_s for one in ended),
        peak_kib=sum(one.peak_kib for one in ended),
        read_bytes=None if read is None or piped is None else max(0, read - piped),
        written_bytes=ended[-1].written_bytes,
        exit_code=next((one.exit_code for one in ended if one.exit_code), 0),
    )


def _reaped(child: subprocess.Popen[bytes], begun_s: float) -> Use:
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    counted = _io(child.pid)  # a zombie keeps its counters until it is reaped
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = code = os.waitstatus_to_exitcode(status)
    return Use(
        start_epoch_s=begun_s,
        end_epoch_s=time.time(),
        core_s=usage.ru_utime + usage.ru_stime,
        peak_kib=usage.ru_maxrss,
        read_bytes=counted.get("rchar"),
        written_bytes=counted.get("wchar"),
        exit_code=code if code >= 0 else 128 - code,  # a signal, as a shell reports it
    )


def _io(pid: int) -> dict[str, int]:
    """proc(5): bytes passed to read and write calls. Empty if the kernel does not count them."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/io").read_text()
        return {name: int(value) for name, value in (line.split(":") for line in text.splitlines())}
    return {}


def _sum(values: Sequence[int | None]) -> int | None:
    """None if one of them is: a partial sum would look like a whole one."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
