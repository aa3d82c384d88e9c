"""What a trial shows while it runs, and its first number when it ends: from raw files, by the pure parsers.

Only files of this machine are read. With provider `physical` or `libvirt` they arrive when the trial ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dags.run_status.progress import Progress
from workloads.base.parsing import ParseError
from workloads.monitors.dool import parse_dool
from workloads.monitors.dool_cells import HostSample
from workloads.planning.plan import Step
from workloads.record.record import OPEN
from workloads.testdfsio.output.io_parts import parse_io_part
from workloads.ycsb.output.measurement import NOT_OF_USERS
from workloads.ycsb.output.status import IntervalLatency, StatusRow, parse_status
from workloads.ycsb.output.summary import overall, parse_summary

MIB = 2**20
BARS = "▁▂▃▄▅▆▇█"
WIDTH = 30
"""Samples in the sparkline."""
_TAIL_BYTES = 4096
_HEAD_BYTES = 2048
"""Holds the banner and the headers of a dool file."""


@dataclass(frozen=True)
class Sample:
    """One second of a trial. None: not known from the files that are here."""

    ops_s: float | None = None
    p99: IntervalLatency | None = None
    elapsed_s: int | None = None
    cpu_used_percent: float | None = None
    cpu_iowait_percent: float | None = None
    disk_mib_s: float | None = None


class LiveTrial:
    """Adds to a run's progress what its files show: the trial under way, and the numbers of ended ones."""

    def __init__(self, records: Path) -> None:
        self.records = records
        self._trial: str | None = None
        self._rates: deque[float] = deque(maxlen=WIDTH)
        self._read_t = 0.0
        self._line = ""
        self._numbers: dict[str, str] = {}

    def added_to(self, seen: Progress, now: float) -> Progress:
        """`now` in epoch seconds. The open files are read once a second, as often as their tools write."""
        for ended in seen.ended:
            trial = ended.step.trial
            if trial is not None and trial not in self._numbers and ended.outcome == "ok":
                self._numbers[trial] = first_number(self.records / trial)
        if now - self._read_t >= 1.0 or seen.current is None:
            self._read_t, self._line = now, self._newest(seen.current)
        return replace(seen, live=self._line, numbers=self._numbers)

    def _newest(self, step: Step | None) -> str:
        if step is None or step.trial is None:
            return ""
        if step.trial != self._trial:
            self._trial = step.trial
            self._rates.clear()
        seen = sample(self.records / f"{step.trial}{OPEN}")
        rate = seen.ops_s if seen.ops_s is not None else seen.disk_mib_s
        if rate is not None:
            self._rates.append(rate)
        ramp_up_s = getattr(step.setting, "warm_up_s", 0.0)
        bars = [sparkline(self._rates)] if rate is not None else []
        return " · ".join([*_parts(seen, ramp_up_s), *bars])


def sample(record: Path) -> Sample:
    """The newest second in the files of an open record."""
    clients = [row for file in sorted(record.glob("*/ycsb-*.err")) if (row := _status(file))]
    hosts = [host for file in sorted(record.glob("monitor/*.dool.csv")) if (host := _host(file))]
    rates = [row.current_ops_s for row in clients if row.current_ops_s is not None]
    used = [host.cpu_used for host in hosts if host.cpu_used is not None]
    waiting = [host.cpu_iowait for host in hosts if host.cpu_iowait is not None]
    disks = [(h.disk_read_bytes_s or 0.0) + (h.disk_write_bytes_s or 0.0) for h in hosts]
    return Sample(
        ops_s=sum(rates) if rates else None,
        p99=_slowest(clients),
        elapsed_s=max((row.elapsed_s for row in clients), default=None),
        cpu_used_percent=sum(used) / len(used) if used else None,
        cpu_iowait_percent=sum(waiting) / len(waiting) if waiting else None,
        disk_mib_s=sum(disks) / MIB if disks else None,
    )


def sparkline(values: Sequence[float]) -> str:
    """A bar per value, from zero to the highest of them."""
    highest = max(values, default=0.0)
    if highest <= 0:
        return BARS[0] * len(values)
    return "".join(BARS[min(7, int(value / highest * 8))] for value in values)


def first_number(record: Path) -> str:
    """The rate of a closed record, as its tool reports it; empty if there is none. Not validated yet."""
    try:
        clients = [
            parse_summary(f.read_bytes(), f.name) for f in sorted(record.glob("raw/ycsb-*.out"))
        ]
        totals = [total for client in clients if (total := overall(client.rows))]
        if totals:
            return f"{sum(total.throughput_ops_s for total in totals):,.0f} ops/s"
        part = record / "raw" / "io" / "part-00000"
        if part.is_file():
            (row,) = parse_io_part(part.read_bytes(), part.name).rows
            return f"{row.throughput_per_stream_mib_s:,.1f} MiB/s per stream"
    except (ParseError, OSError, ValueError):
        return ""  # the analysis names the fault; a progress line does not
    return ""


def _parts(seen: Sample, ramp_up_s: float) -> Iterator[str]:
    if seen.elapsed_s is not None:
        yield "ramp-up" if seen.elapsed_s < ramp_up_s else "measuring"
    if seen.ops_s is not None:
        yield f"{seen.ops_s:,.0f} ops/s"
    if seen.p99 is not None and seen.p99.p99_us is not None:
        yield f"{seen.p99.name} p99 {seen.p99.p99_us / 1000:,.1f} ms"
    if seen.cpu_used_percent is not None:
        waiting = seen.cpu_iowait_percent or 0.0
        yield f"CPU {seen.cpu_used_percent:.0f} % used, {waiting:.0f} % iowait"
    if seen.disk_mib_s is not None:
        yield f"disks {seen.disk_mib_s:,.0f} MiB/s"


def _slowest(clients: Sequence[StatusRow]) -> IntervalLatency | None:
    """The operation with the highest p99 of the last second, over all clients."""
    measured = [
        latency
        for row in clients
        for latency in row.latencies
        if latency.name not in NOT_OF_USERS and latency.count and latency.p99_us is not None
    ]
    return max(measured, key=lambda latency: latency.p99_us or 0, default=None)


def _status(file: Path) -> StatusRow | None:
    """The last row."""
    try:
        rows = parse_status(_whole_lines(file, _TAIL_BYTES), file.name).rows
    except (ParseError, OSError):
        return None
    return rows[-1] if rows else None


def _host(file: Path) -> HostSample | None:
    """The last row, read under the file's own headers."""
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
        lines = head.splitlines(keepends=True)
        headers = [line for line in lines if not line[:1].isdigit() and line.endswith(b"\n")]
        last = _whole_lines(file, _TAIL_BYTES).splitlines(keepends=True)[-1:]
        rows = parse_dool(b"".join([*headers, *last]), file.name).rows
    except (ParseError, OSError):
        return None
    return rows[-1] if rows else None


def _whole_lines(file: Path, size: int) -> bytes:
    """The last `size` bytes of a file that is being written, without the lines cut off at either end."""
    with file.open("rb") as stream:
        end = stream.seek(0, 2)
        stream.seek(max(0, end - size))
        data = stream.read()
    begin = data.find(b"\n") + 1 if end > size else 0
    return data[begin : data.rfind(b"\n") + 1]
