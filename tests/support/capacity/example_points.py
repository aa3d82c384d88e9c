"""Generates analysis/capacity/inputs/examples/points.csv: synthetic measurements of four groups on
two disk types.

The output is the same each time:

python -m tests.support.capacity.example_points > analysis/capacity/inputs/examples/points.csv
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

import numpy as np

HEAD = ("group", "hosts", "vms_per_host", "disk_type", "value", "unit", "repetition",
        "load", "percentile", "operation")  # fmt: skip
NOISE = 0.03
GROUPS = {
    # group: unit, rate of one host on flash, hdd over flash, alpha, beta
    "hdfs-read": ("MiB/s", 900.0, 0.5, 0.45, 0.004),
    "hdfs-write": ("MiB/s", 420.0, 0.55, 0.5, 0.006),
    "hbase-load": ("ops/s", 9000.0, 0.8, 0.4, 0.01),
    "hbase-scan": ("ops/s", 1500.0, 0.25, 0.35, 0.012),
}
Row = tuple[str | int | float, ...]


def rows(
    disk_types: Sequence[str] = ("flash", "hdd"),
    counts: Sequence[int] = (2, 4, 8, 12),
    densities: Sequence[int] = (1, 2, 3, 4, 6),
) -> Iterator[Row]:
    rng = np.random.default_rng(20130226)
    for disk_type in disk_types:
        for group, (unit, _, _, _, _) in GROUPS.items():
            for hosts in counts:
                for v in densities:
                    for repetition in (1, 2, 3):
                        value = rate(group, disk_type, hosts, v) * np.exp(
                            NOISE * rng.standard_normal()
                        )
                        yield (
                            group,
                            hosts,
                            v,
                            disk_type,
                            f"{value:.1f}",
                            unit,
                            repetition,
                            "",
                            "",
                            "",
                        )
        yield from _under_load(disk_type, densities, rng)


def rate(group: str, disk_type: str, hosts: int, v: int) -> float:
    """The truth behind the example: 1/X = a + b/n, times the density law."""
    _, base, hdd, alpha, beta = GROUPS[group]
    scaled = base / (0.006 + 0.994 / hosts) * (hdd if disk_type == "hdd" else 1.0)
    return scaled * v / (1 + alpha * (v - 1) + beta * v * (v - 1))


def _under_load(
    disk_type: str, densities: Sequence[int], rng: np.random.Generator
) -> Iterator[Row]:
    """A sweep of targets of the scan at 4 hosts."""
    idle_ms = 30.0 if disk_type == "hdd" else 9.0
    for v in densities:
        most = rate("hbase-scan", disk_type, 4, v)
        for rho in (0.3, 0.5, 0.7, 0.8, 0.9):
            load = f"{rho * most:.1f}"
            noise = np.exp(NOISE * rng.standard_normal(2))
            p95_ms = idle_ms * (1 + 0.9 * rho ** (np.sqrt(18) - 1) / (8 * (1 - rho))) * noise[0]
            percent = (4 + 78 * rho) * noise[1]
            yield "hbase-scan", 4, v, disk_type, f"{p95_ms:.3f}", "ms", 1, load, 95, "SCAN"
            yield "hbase-scan", 4, v, disk_type, f"{percent:.2f}", "percent", 1, load, "", ""


def write(sink: TextIO, found: Iterable[Row]) -> None:
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(found)


if __name__ == "__main__":
    write(sys.stdout, rows())
