"""The sampler of `workloads.monitors.devices`: writes a row per source and period.

    python -m density_study.workloads.monitors.device_sampler --device D --host H --period 1 --output FILE

Standard library only. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from density_study.workloads.monitors import canary
from density_study.workloads.monitors.devices import HOST, devices, header, title
from density_study.workloads.monitors.energy import Energy
from density_study.workloads.monitors.hardware import Hardware
from density_study.workloads.monitors.jmx import JmxPoller
from density_study.workloads.monitors.limits import Limits
from density_study.workloads.monitors.proc_counters import (
    Counters,
    Kernel,
    Sockets,
    disks,
    network,
    pressure,
)
from density_study.workloads.monitors.rounds import hold_stop, stopped_within, until_next


def _tag() -> str:
    """The build's tag, from the environment."""
    return os.environ.get("STUDY_TAG", "")


READERS: Mapping[str, Callable[[], Callable[[], Counters]]] = {
    "pressure": lambda: pressure,
    "disks": lambda: disks,
    "sockets": lambda: Sockets(_tag()).read,
    "network": lambda: network,
    "kernel": lambda: Kernel().read,
    "limits": lambda: Limits(_tag()).read,
    "energy": lambda: Energy().read,
    "hardware": lambda: Hardware().read,
}
JMX = "jmx"
# A daemon keeps its metrics for a second after it has computed them (decision 9): do not ask sooner.
JMX_FRESH_S = 0.02


def run(
    device: str,
    host: str,
    period_s: float,
    output: Path,
    daemons: Mapping[str, str],
    ca_file: str = "",
) -> None:
    """Sample until TERM or INT at multiples of the period of the wall clock; daemons a period after their
    last answers. A late round leaves a gap."""
    hold_stop()
    columns = devices()[device].columns
    asks = device == JMX
    read = JmxPoller(daemons, period_s, ca_file).read if asks else READERS[device]()
    with output.open("w", encoding="utf-8") as file:
        file.write(f"{title(host, device)}\n{header(columns)}\n")
        stopped = False
        while not stopped:
            epoch_s = time.time()
            # a round without a source is also a sample: the machine has no such daemon, or disk
            file.write(rows(epoch_s, columns, read() or {HOST: {}}))
            file.flush()
            wait_s = period_s + JMX_FRESH_S if asks else until_next(period_s)
            stopped = stopped_within(wait_s)


def rows(epoch_s: float, columns: tuple[str, ...], counters: Counters) -> str:
    """All rows of a round, so that a reader never sees half of it."""
    return "".join(
        ",".join((f"{epoch_s:.3f}", source, *(_cell(found.get(name)) for name in columns))) + "\n"
        for source, found in sorted(counters.items())
    )


def _cell(value: float | None) -> str:
    return "" if value is None else str(int(value)) if value == int(value) else f"{value:.6g}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Counters of a telemetry device.")
    parser.add_argument("--device", required=True, choices=sorted(devices()))
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--daemon", action="append", default=[], metavar="NAME=ADDRESS")
    parser.add_argument("--ca-file", default="", metavar="PEM")
    arguments = parser.parse_args()
    if arguments.device == canary.NAME:
        canary.run(arguments.host, arguments.period, arguments.output)
        return
    daemons = dict(daemon.split("=", 1) for daemon in arguments.daemon)
    given = (arguments.device, arguments.host, arguments.period, arguments.output)
    run(*given, daemons, arguments.ca_file)


if __name__ == "__main__":
    main()
