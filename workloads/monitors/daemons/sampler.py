"""Runs a watcher of the daemons on this machine: once a period it writes what it saw.

    python -m density_study.workloads.monitors.daemons.sampler --device D --host H --period 1 --output FILE
    --tag TAG

Standard library only. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from density_study.workloads.monitors.daemons.gc_logs import GcLogs
from density_study.workloads.monitors.daemons.recordings import FlightRecordings, Profiles
from density_study.workloads.monitors.daemons.slow_log_tails import SlowLogTails
from density_study.workloads.monitors.daemons.stall_watch import StallWatch
from density_study.workloads.monitors.daemons.watcher import Order, Watcher
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next

WATCHERS: Mapping[str, Callable[[Order], Watcher]] = {
    "gc": GcLogs,
    "profile": Profiles,
    "jfr": FlightRecordings,
    "stalls": StallWatch,
    "slowlog": SlowLogTails,
}


def run(watcher: Watcher, period_s: float, output: Path) -> None:
    """Watch until TERM or INT. OSError if a daemon cannot be watched."""
    hold_stop()
    with output.open("w", encoding="utf-8") as file:
        file.write(watcher.head)
        try:
            watcher.begin()
            stopped = False
            while not stopped:
                file.write(watcher.rows(time.time()))
                file.flush()
                stopped = stopped_within(until_next(period_s))
            file.write(watcher.last_rows(time.time()))
        finally:
            watcher.end()


def main() -> None:
    parser = argparse.ArgumentParser(description="A device that watches daemons.")
    parser.add_argument("--device", required=True, choices=sorted(WATCHERS))
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--tag", required=True)
    parser.add_argument("--daemon", action="append", default=[], metavar="NAME=ADDRESS")
    parser.add_argument("--ca-file", default="", metavar="PEM")
    parser.add_argument("--library", default=Path(), type=Path, metavar="JAR.base64")
    found = parser.parse_args()
    daemons = dict(daemon.split("=", 1) for daemon in found.daemon)
    order = Order(found.host, found.tag, found.output, daemons, found.ca_file, found.library)
    try:
        run(WATCHERS[found.device](order), found.period, found.output)
    except OSError as error:
        sys.exit(f"{found.device}: {error}")


if __name__ == "__main__":
    main()
