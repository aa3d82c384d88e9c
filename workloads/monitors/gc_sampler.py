"""The collector of `workloads.monitors.gc`: has each daemon's JVM log its pauses while it runs.

    python -m density_study.workloads.monitors.gc_sampler --host H --period 1 --output FILE --tag TAG

The JVMs of TAG's daemons on this machine get commands by the attach protocol and need no flag: each
writes a log beside its own, which is read once a period, and removed at the end. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from density_study.cluster.state.tags import tagged
from density_study.workloads.monitors.attach import jcmd
from density_study.workloads.monitors.gc import DECORATIONS, title
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

_LOG_FLAG = "-Dstudy.log="
WHAT = "gc=info,safepoint=info"


@dataclass
class JvmLog:
    """A daemon's JVM, and the log that it writes for us."""

    daemon: str
    pid: int
    path: Path
    read_bytes: int = 0

    def begin(self) -> None:
        """OSError if the JVM cannot be reached."""
        jcmd(self.pid, f"VM.log output={self.path} output_options=filecount=0 what={WHAT} "
                       f"decorators={DECORATIONS}")  # fmt: skip

    def end(self) -> None:
        with suppress(OSError):  # it may have been killed
            jcmd(self.pid, f"VM.log output={self.path} what=all=off")
        self.path.unlink(missing_ok=True)

    def lines(self) -> Iterator[str]:
        """Whole lines written since the last call."""
        with suppress(OSError), self.path.open("rb") as file:
            file.seek(self.read_bytes)
            whole = file.read().rpartition(b"\n")[0]
            if whole:
                self.read_bytes += len(whole) + 1
                yield from whole.decode(errors="replace").split("\n")


def jvms(tag: str) -> Iterator[JvmLog]:
    """The daemons of the tag on this machine, by the flag that names their log."""
    for process in tagged(tag):
        with suppress(OSError):
            proc = Path(f"/proc/{process.pid}")
            if (proc / "exe").readlink().name != "java":  # a wrapper has the same arguments
                continue
            arguments = (proc / "cmdline").read_bytes().split(b"\0")
            flags = [os.fsdecode(one) for one in arguments if one.startswith(_LOG_FLAG.encode())]
            for flag in flags[:1]:
                log = Path(flag.removeprefix(_LOG_FLAG))
                file = log.with_name(f"{log.stem}.{os.getpid()}.gc.log")
                yield JvmLog(f"{process.node}/{log.stem}", process.pid, file)


def run(host: str, period_s: float, output: Path, tag: str) -> None:
    """Collect until TERM or INT. OSError if a JVM cannot be reached."""
    hold_stop()
    logs = []
    with output.open("w", encoding="utf-8") as file:
        file.write(title(host) + "\n")
        try:
            for log in jvms(tag):
                logs.append(log)
                log.begin()
            stopped = False
            while not stopped:
                _round(logs, file)
                file.flush()
                stopped = stopped_within(until_next(period_s))
            _round(logs, file)
        finally:
            for log in logs:
                log.end()


def _round(logs: list[JvmLog], file: TextIO) -> None:
    epoch_s = time.time()
    lines = [f"{epoch_s:.3f},{log.daemon},{line}\n" for log in logs for line in log.lines()]
    file.write("".join((f"{epoch_s:.3f},,\n", *lines)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Pauses of daemons' JVMs.")
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--tag", required=True)
    arguments = parser.parse_args()
    try:
        run(arguments.host, arguments.period, arguments.output, arguments.tag)
    except OSError as error:
        sys.exit(f"gc: {error}")


if __name__ == "__main__":
    main()
