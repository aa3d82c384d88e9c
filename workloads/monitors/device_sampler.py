"""The sampler of `workloads.monitors.devices`: writes a row per source and period.

    python -m density_study.workloads.monitors.device_sampler --device D --host H --period 1 --output FILE

Standard library only. Ends on TERM or INT.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from density_study.workloads.monitors.devices import devices, header, title
from density_study.workloads.monitors.nodecpu_sampler import until_next
from density_study.workloads.monitors.proc_counters import disks, pressure, sockets

Counters = Mapping[str, Mapping[str, float]]
"""By source, then by column."""
READERS: Mapping[str, Callable[[], Counters]] = {
    "pressure": pressure,
    "disks": disks,
    "sockets": sockets,
}
_STOP = frozenset({signal.SIGTERM, signal.SIGINT})


def run(device: str, host: str, period_s: float, output: Path) -> None:
    """Sample until TERM or INT at multiples of the period of the wall clock. A late round leaves a gap."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    columns, read = devices()[device].columns, READERS[device]
    with output.open("w", encoding="utf-8") as file:
        file.write(f"{title(host, device)}\n{header(columns)}\n")
        stopped = None
        while stopped is None:
            epoch_s = time.time()
            file.write(rows(epoch_s, columns, read()))
            file.flush()
            stopped = signal.sigtimedwait(_STOP, until_next(period_s))


def rows(epoch_s: float, columns: tuple[str, ...], counters: Counters) -> str:
    """All rows of a round, so that a reader never sees half of it."""
    return "".join(
        ",".join((f"{epoch_s:.3f}", source, *(_cell(found.get(name)) for name in columns))) + "\n"
        for source, found in sorted(counters.items())
    )


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}" if value != int(value) else str(int(value))


def main() -> None:
    parser = argparse.ArgumentParser(description="Counters of a telemetry device.")
    parser.add_argument("--device", required=True, choices=sorted(READERS))
    parser.add_argument("--host", required=True)
    parser.add_argument("--period", required=True, type=float, metavar="SECONDS")
    parser.add_argument("--output", required=True, type=Path)
    arguments = parser.parse_args()
    run(arguments.device, arguments.host, arguments.period, arguments.output)


if __name__ == "__main__":
    main()
