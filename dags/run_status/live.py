"""What a trial shows while it runs, and a first look at it when it ends: from its files, by the pure parsers.

Only files of this machine are read. With provider `physical` or `libvirt` they arrive when the trial ends.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from density_study.cluster.model.host import MIB
from density_study.cluster.state.plain_file import open_plain
from density_study.dags.run_status.newest import Sample
from density_study.dags.run_status.progress import Progress
from density_study.jobs.first_look.look import FirstLook, first_look
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.rows import if_all
from density_study.workloads.base.values import FIRST_TURN_AFTER_S
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.monitors.dool_cells import HostSample
from density_study.workloads.monitors.nodecpu import NodeCpuSample, parse_nodecpu
from density_study.workloads.planning.duet import turns_of
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.record.record import OPEN, is_closed
from density_study.workloads.study.study import Study
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS
from density_study.workloads.ycsb.output.status import IntervalLatency, StatusRow, parse_status

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 30
"""Samples in the sparkline."""
_TAIL_BYTES = 4096
_FRESH_PERIODS = 5.0
_HEAD_BYTES = 2048
"""Holds the banner and the headers of a dool file."""


class LiveTrial:
    """Adds to a run's progress what its files show: the trial under way, and first looks at ended trials."""

    def __init__(self, study: Study, plan: Plan, records: Path) -> None:
        self.study = study
        self.plan = plan
        self.records = records
        self.period_s = study.monitor.period
        self._of: tuple[object, ...] = ()
        self._rates: deque[float] = deque(maxlen=WIDTH)
        self._read_t = 0.0
        self._line = ""
        self._sample: Sample | None = None
        self._nodes = ""
        self._looks: dict[str, FirstLook] = {}

    def added_to(self, seen: Progress, now: float) -> Progress:
        """`now` in epoch seconds. The open files are read once a second, as often as their tools write."""
        # for the table before the analysis also the trials of an earlier session, if this one resumes the run
        steps = self.plan.trials if seen.stage else [ended.step for ended in seen.ended]
        for trial in {str(step.trial) for step in steps if step.trial} - self._looks.keys():
            if is_closed(self.records / trial):
                self._looks[trial] = first_look(self.records / trial)
        if now - self._read_t >= 1.0 or seen.current is None:
            self._read_t, self._line = now, self._newest(seen, now)
            step = seen.current
            is_open = step is not None and step.trial is not None
            self._nodes = (
                nodes_cpu(self.records / f"{step.trial}{OPEN}", now, self.period_s)
                if step and is_open
                else ""
            )
        return replace(
            seen, live=self._line, nodes=self._nodes, looks=self._looks, newest=self._sample
        )

    def _newest(self, seen: Progress, now: float) -> str:
        step = seen.current
        self._sample = None
        if step is None or step.trial is None:
            return ""
        is_running = seen.activity == "running"
        folder = "raw" if is_running else "logs"
        record = self.records / f"{step.trial}{OPEN}"
        latest = self._sample = sample(record, now, folder, self.period_s)
        rate = latest.ops_s if latest.ops_s is not None else latest.disk_mib_s
        if self._of != (step.trial, is_running, latest.ops_s is None):  # another quantity
            self._of = (step.trial, is_running, latest.ops_s is None)
            self._rates.clear()
        if rate is not None:
            self._rates.append(rate)
        elapsed_s = self._own_s(step, latest.elapsed_s)
        phase = [_phase(seen.activity, step, elapsed_s)]
        parts = [*_parts(latest), *([sparkline(self._rates)] if rate is not None else [])]
        return " · ".join(phase + parts) if parts else ""

    def _own_s(self, step: Step, elapsed_s: float | None) -> float | None:
        """Seconds of the trial's own time, in which the turns of another one do not pass."""
        partner = self.plan.partner(step)
        if elapsed_s is None or partner is None or self.study.duet is None:
            return elapsed_s
        both = sorted((step, partner), key=attrgetter("index"))
        turns = turns_of(self.plan, self.study, both[0], both[1])[both.index(step)]
        now_s = elapsed_s - FIRST_TURN_AFTER_S
        return sum(max(0.0, min(end_s, now_s) - begin_s) for begin_s, end_s in turns.own)


def _phase(activity: str, step: Step, elapsed_s: float | None) -> str:
    """What the newest second counts for: a load or warm-up before the window, the window, or neither."""
    if activity == "settling":
        return activity
    is_measured = activity == "running" and not _is_warming_up(step, elapsed_s)
    return "measured" if is_measured else "warm-up"


def _is_warming_up(step: Step, elapsed_s: float | None) -> bool:
    """Whether the seconds under way are cut from the results: those of a client's warm-up and of the
    ramp-up."""
    if not getattr(step.test_case, "cut_s", 0.0):
        return False
    return elapsed_s is None or elapsed_s < getattr(step.test_case, "warm_up_s", 0.0)


def sample(record: Path, now: float, folder: str, period_s: float) -> Sample:
    """The newest second in the files of an open record. `folder` holds the clients' output: raw of the
    measured ones, logs of those that load or warm up. `period_s`: that of the monitors. Files that nobody
    writes any more are of the past. A sum over hosts is unknown where one of them is."""
    clients = [
        row for file in sorted(record.glob(f"{folder}/*.err")) if (row := _status(file, now))
    ]
    every = [_host(file, now, period_s) for file in sorted(record.glob("monitor/*.dool.csv"))]
    hosts = [host for host in every if host]
    rates = [row.current_ops_s for row in clients if row.current_ops_s is not None]
    used = [host.cpu_used for host in hosts if host.cpu_used is not None]
    waiting = [host.cpu_iowait for host in hosts if host.cpu_iowait is not None]
    read = [host.disk_read_bytes_s if host else None for host in every]
    disks = if_all([*read, *(host.disk_write_bytes_s if host else None for host in every)])
    return Sample(
        ops_s=sum(rates) if rates else None,
        p99=_slowest(clients),
        elapsed_s=max((row.elapsed_s for row in clients), default=None),
        cpu_used_percent=sum(used) / len(used) if used else None,
        cpu_iowait_percent=sum(waiting) / len(waiting) if waiting else None,
        disk_mib_s=sum(disks) / MIB if disks else None,
    )


def nodes_cpu(record: Path, now: float, period_s: float) -> str:
    """'w1 41 %, w2 38 %': CPU of each node's processes in the last round of an open record, in percent of its
    host's cores."""
    shares = {}
    for file in sorted(record.glob("monitor/*.nodecpu.csv")):
        rounds: dict[str, list[NodeCpuSample]] = {}
        try:
            if not _is_fresh(file, now, period_s):
                continue
            with _opened(file) as stream:
                first = stream.readline(_HEAD_BYTES)
            rows = parse_nodecpu(first + _whole_lines(file), file.name).rows
        except (ParseError, OSError):
            continue
        for row in rows:
            rounds.setdefault(row.node, []).append(row)
        for node, (before, last) in ((n, r[-2:]) for n, r in rounds.items() if len(r) > 1):
            ticks = last.user_ticks + last.system_ticks - before.user_ticks - before.system_ticks
            capacity = (last.epoch_s - before.epoch_s) * last.ticks_per_s * last.cores
            if capacity > 0:  # not where the clock was set back
                shares[node] = 100.0 * ticks / capacity
    return ", ".join(f"{node} {share:.0f} %" for node, share in sorted(shares.items()))


def sparkline(values: Sequence[float]) -> str:
    """A bar per value, from zero to the highest of them."""
    highest = max(values, default=0.0)
    if highest <= 0:
        return BARS[0] * len(values)
    return "".join(BARS[min(7, int(value / highest * 8))] for value in values)


def _parts(seen: Sample) -> Iterator[str]:
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


def _is_fresh(file: Path, now: float, period_s: float = 1.0) -> bool:
    return now - file.stat().st_mtime < _FRESH_PERIODS * period_s


def _status(file: Path, now: float) -> StatusRow | None:
    """The last row, if it was written just now. None too where the trial ended and its folder was closed."""
    try:
        if not _is_fresh(file, now):
            return None
        rows = parse_status(_whole_lines(file), file.name).rows
    except (ParseError, OSError):
        return None
    return rows[-1] if rows else None


def _host(file: Path, now: float, period_s: float) -> HostSample | None:
    """The last row, read under the file's own headers, if it was written just now."""
    try:
        if not _is_fresh(file, now, period_s):
            return None
        with _opened(file) as stream:
            head = stream.read(_HEAD_BYTES)
        lines = head.splitlines(keepends=True)
        headers = [line for line in lines if not line[:1].isdigit() and line.endswith(b"\n")]
        first = [line for line in lines if line[:1].isdigit()][:1]  # a mean since boot
        last = _whole_lines(file).splitlines(keepends=True)[-1:]
        if first == last:
            return None
        rows = parse_dool(b"".join([*headers, *first, *last]), file.name).rows
    except (ParseError, OSError):
        return None
    return rows[-1] if len(rows) > 1 else None


def _whole_lines(file: Path) -> bytes:
    """The last _TAIL_BYTES of a file that is being written, without the lines cut off at either end."""
    with _opened(file) as stream:
        end = stream.seek(0, 2)
        stream.seek(max(0, end - _TAIL_BYTES))
        data = stream.read()
    begin = data.find(b"\n") + 1 if end > _TAIL_BYTES else 0
    return data[begin : data.rfind(b"\n") + 1]


def _opened(file: Path) -> BinaryIO:
    """A plain file: the run may be a stranger's. OSError for anything else."""
    return os.fdopen(open_plain(file), "rb")
