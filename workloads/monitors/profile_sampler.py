"""The sampler of `workloads.monitors.profile`: has async-profiler record each RegionServer while it runs.

    python -m density_study.workloads.monitors.profile_sampler --host H --period 1 --output FILE --tag TAG
        --library JAR.base64

Writes a row per RegionServer and period, and at the end a recording beside FILE. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import platform
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path

from density_study.workloads.monitors.attach import load_agent
from density_study.workloads.monitors.device_sampler import rows
from density_study.workloads.monitors.devices import HOST, header, title
from density_study.workloads.monitors.gc_sampler import jvms
from density_study.workloads.monitors.profile import EVENTS, recording_name
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

_ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}
COLUMNS = ("profiled",)


def unpacked(library: Path) -> Path:
    """The native library beside its jar. OSError if the jar has none for this machine.

    Always the same file: a JVM that loads it again must find what it has loaded already.
    """
    machine = _ARCHITECTURES.get(platform.machine(), platform.machine())
    path = library.with_name(f"libasyncProfiler-{machine}.so")
    if not path.exists():
        jar = zipfile.ZipFile(io.BytesIO(base64.b64decode(library.read_bytes())))
        wanted = f"-linux-{machine}.so"
        names = [name for name in jar.namelist() if name.endswith(wanted)]
        if not names:
            raise OSError(f"async-profiler has no library for {platform.machine()}")
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_bytes(jar.read(names[0]))
        aside.rename(path)
    return path


def run(host: str, period_s: float, output: Path, tag: str, library: Path) -> None:
    """Record until TERM or INT. OSError if a JVM does not take the profiler."""
    hold_stop()
    native = unpacked(library)
    begun: dict[str, int] = {}
    with output.open("w", encoding="utf-8") as file:
        file.write(f"{title(host, 'profile')}\n{header(COLUMNS)}\n")
        try:
            for jvm in jvms(tag):
                if jvm.daemon.rpartition("/")[2].startswith("regionserver"):
                    recording = output.with_name(recording_name(host, jvm.daemon))
                    load_agent(jvm.pid, native, f"start,{EVENTS},jfr,file={recording}")
                    begun[jvm.daemon] = jvm.pid
            stopped = False
            while not stopped:
                counters = {daemon: {"profiled": 1.0} for daemon in begun} or {HOST: {}}
                file.write(rows(time.time(), COLUMNS, counters))
                file.flush()
                stopped = stopped_within(until_next(period_s))
        finally:
            for pid in begun.values():
                with suppress(OSError):  # it may have been killed
                    load_agent(pid, native, "stop")


def main() -> None:
    parser = argparse.ArgumentParser(description="Profiles of RegionServers.")
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--library", required=True, type=Path)
    arguments = parser.parse_args()
    try:
        run(arguments.host, arguments.period, arguments.output, arguments.tag, arguments.library)
    except OSError as error:
        sys.exit(f"profile: {error}")


if __name__ == "__main__":
    main()
