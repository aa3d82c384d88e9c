"""`Sample`: the newest second of a trial under way."""

from __future__ import annotations

from dataclasses import dataclass

from density_study.workloads.ycsb.output.status import IntervalLatency


@dataclass(frozen=True)
class Sample:
    """One second of a trial. None: not known from the files that are here."""

    ops_s: float | None = None
    p99: IntervalLatency | None = None
    elapsed_s: int | None = None
    cpu_used_percent: float | None = None
    cpu_iowait_percent: float | None = None
    disk_mib_s: float | None = None
