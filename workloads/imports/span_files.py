"""Whole files: monitors, interval logs, job histories, reduce outputs; and the time that each one covers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from statistics import median

from density_study.workloads.base.local_time import OWN_ZONE, zone_of
from density_study.workloads.base.parsing import Parsed, ParseError
from density_study.workloads.imports.piece import Kind, Piece, Refused, SpanFacts, Text
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.monitors.dool_cells import HostSample
from density_study.workloads.monitors.dool_header import has_year, read_banner, read_start
from density_study.workloads.monitors.nodecpu import TITLE, parse_nodecpu
from density_study.workloads.monitors.sar import HEADER as SAR
from density_study.workloads.monitors.sar import RESTART, parse_sar
from density_study.workloads.testdfsio.output.history import parse_history
from density_study.workloads.testdfsio.output.io_parts import parse_io_part
from density_study.workloads.ycsb.output.interval_log import name_of, parse_hdr

HEAD_LINES = 20
NO_TIMES = "no column has the time: record with -t or -T"
NO_DATE = (
    "no date as in 20 Nov 2026 17:15:28 UTC, but {!r}: correct the Date in the Cmdline line, or record with "
    "LC_ALL=C"
)
MIXED = "samples every {:g} s among those every {:g} s: give each period a file"
MIXED_SHARE = 0.1
"""Steps shorter than half the period are so few, unless a start of the tool had another period."""
NO_SECTION = "no section of CPU, disks or memory: write it with sadf -d FILE -- -u -b -r"
NO_ALL = "single CPUs, and no row of all of them: write it with sadf -d FILE -- -u -b -r"
OTHER_HDR = (
    "this is a HdrHistogram log of another tool than YCSB: neither a line '#[Logging for: ...]' nor the "
    "file's name says what it measured"
)
_WANTED = {"cpu_idle": "CPU of all cores", "disk_read_bytes_s": "sum of all disks"}
_HOST = re.compile(r'"Host:","([^"]*)".*')
_IO = re.compile(r"[fl]:(?:rate|sqrate|size|tasks|time)\t.*")
_HDR = ("#[Logging for:", "#[Histogram log format", "#[StartTime:", '"StartTimestamp"')


def kind_of_span(text: Text) -> Kind | None:
    """The kind of a file that is read whole; None for any other file."""
    head = [line for line in text.lines[:HEAD_LINES] if line.strip()]
    first = next(iter(head), "")
    if first.startswith("Avro-"):
        return "dfsio-history"
    if TITLE.fullmatch(first):
        return "nodecpu"
    # a day's file of sar may begin with a restart of the machine
    if first.startswith(SAR) or (
        RESTART.fullmatch(first) and any(line.startswith(SAR) for line in head)
    ):
        return "sar"
    if first.startswith(_HDR):
        return "ycsb-hdr"
    if _IO.fullmatch(first):
        return "dfsio-io"
    return "dool" if any(read_banner(line) for line in head) else None


def has_sums(text: Text) -> bool:
    """Whether a file without another piece is a reduce output, below a warning."""
    return any(_IO.fullmatch(line) for line in text.lines[:HEAD_LINES])


def span_piece(text: Text, kind: Kind, time_zone: str = "") -> Piece | Refused:
    """time_zone: that of a monitor's local times."""
    try:
        facts = _READ[kind](text, time_zone)
    except ParseError as error:
        return Refused(text.file, error.line, error.reason)
    if facts.problem:
        return Refused(text.file, 0, facts.problem)
    return Piece(text.file, kind, 1, text.cut(1, len(text.lines)), facts)


def _monitor(text: Text, time_zone: str) -> SpanFacts:
    parsed = parse_dool(text.data, text.file, time_zone)
    hosts = [match.group(1) for line in text.lines if (match := _HOST.fullmatch(line))]
    banner = next(banner for line in text.lines if (banner := read_banner(line)))
    version = ".".join(map(str, banner.version[:3]))
    facts = _samples(parsed, hosts, f"{banner.tool} {version}")
    zone = zone_of(time_zone) if time_zone else None
    starts = [start for line in text.lines if (start := read_start(line, zone)) is not None]
    is_timed = any(row.time_text for row in parsed.rows)
    if is_timed and (odd_zone := next(filter(None, (s.contradiction for s in starts)), "")):
        return SpanFacts(problem=f"{odd_zone}: {OWN_ZONE}")
    yearless = any(row.time_text and not has_year(row.time_text) for row in parsed.rows)
    if yearless and facts.local and (odd := next((s for s in starts if not s.is_dated), None)):
        return SpanFacts(problem=NO_DATE.format(odd.date_text[:40]))
    return facts


def _sar(text: Text, time_zone: str) -> SpanFacts:
    parsed = parse_sar(text.data, text.file, time_zone)
    hosts = [line.partition(";")[0] for line in text.lines if line and not line.startswith("#")]
    if not parsed.rows and not parsed.quarantined:
        single = any(line.startswith(SAR) and ";CPU;" in line for line in text.lines)
        return SpanFacts(problem=NO_ALL if single else NO_SECTION)
    return _samples(parsed, hosts, "sar")


def _samples(parsed: Parsed[HostSample], named: Sequence[str], tool: str) -> SpanFacts:
    """named: the hosts that the file names, with repetitions."""
    hosts = list(dict.fromkeys(named)) or [""]
    if len(hosts) > 1:
        words = f"{', '.join(hosts[:3])}{f' and {len(hosts) - 3} more' if len(hosts) > 3 else ''}"
        return SpanFacts(problem=f"samples of {words} in one file: give each host a file")
    rows = [row for row in parsed.rows if not row.since_boot]
    at_s = [row.epoch_s for row in rows if row.epoch_s is not None]
    if parsed.rows and all(row.epoch_s is None and row.time_text is None for row in parsed.rows):
        return SpanFacts(problem=NO_TIMES)
    local = bool(rows) and not at_s
    bad = f": {parsed.quarantined[0].reason}" if parsed.quarantined else ""
    if not local and len(at_s) < 2:
        return SpanFacts(problem=f"fewer than two samples can be read{bad}")
    steps, period_s = _steps_s(at_s), _period_s(at_s)
    short = [step for step in steps if step < period_s / 2 and period_s > 1]
    if len(short) > MIXED_SHARE * len(steps):
        return SpanFacts(problem=MIXED.format(median(short), period_s))
    return SpanFacts(
        subject=hosts[0].partition(".")[0],
        tool=tool,
        since_s=min(at_s, default=None),
        until_s=max(at_s, default=None),
        period_s=period_s,
        rows=len(rows),
        local=local,
        bad_lines=len(parsed.quarantined),
        lacks=tuple(
            words for name, words in _WANTED.items() if all(getattr(r, name) is None for r in rows)
        ),
    )


def _period_s(at_s: Sequence[float]) -> float:
    """These tools sample at whole seconds."""
    steps = _steps_s(at_s)
    return float(max(1, round(median(steps)))) if steps else 0.0


def _steps_s(at_s: Sequence[float]) -> list[float]:
    return [later - first for first, later in pairwise(sorted(set(at_s)))]


def _nodecpu(text: Text, _: str) -> SpanFacts:
    parsed = parse_nodecpu(text.data, text.file)
    at_s = [row.epoch_s for row in parsed.rows]
    if len(set(at_s)) < 2:
        return SpanFacts(problem="fewer than two rounds can be read")
    return SpanFacts(
        subject=parsed.rows[0].host,
        tool="nodecpu",
        since_s=min(at_s),
        until_s=max(at_s),
        period_s=_period_s(at_s),
        rows=len(parsed.rows),
        bad_lines=len(parsed.quarantined),
    )


def _hdr(text: Text, _: str) -> SpanFacts:
    logs = sum(line.startswith(_HDR[0]) for line in text.lines)
    if name_of(text.file) is None and not logs:
        return SpanFacts(problem=OTHER_HDR)
    if logs > 1:
        return SpanFacts(problem=f"{logs} logs, one behind the other: give each a file")
    parsed = parse_hdr(text.data, text.file)
    for bad in parsed.quarantined:
        return SpanFacts(problem=f"line {bad.line}: {bad.reason}")
    if not parsed.rows:
        return SpanFacts(problem="the interval log has no interval")
    names = {row.name for row in parsed.rows}
    if len(names) > 1:
        return SpanFacts(problem=f"intervals of {', '.join(sorted(names))} in one log")
    return SpanFacts(
        subject=parsed.rows[0].name,
        tool="HdrHistogram",
        since_s=min(row.start_epoch_s for row in parsed.rows),
        until_s=max(row.start_epoch_s + row.length_s for row in parsed.rows),
        rows=len(parsed.rows),
    )


def _history(text: Text, _: str) -> SpanFacts:
    parsed = parse_history(text.data, text.file)
    if not parsed.rows:
        return SpanFacts(problem="the job history records no submission of a job")
    (job,) = parsed.rows
    end = None if job.finish_epoch_ms is None else job.finish_epoch_ms / 1000
    return SpanFacts(
        subject=job.name,
        tool=job.status or "job without an end",
        since_s=job.submit_epoch_ms / 1000,
        until_s=end,
        rows=len(job.attempts),
        bad_lines=len(parsed.quarantined),
        tasks=job.total_maps if job.total_maps is not None else len(job.maps) or None,
    )


def _io(text: Text, _: str) -> SpanFacts:
    parsed = parse_io_part(text.data, text.file)
    for bad in parsed.quarantined:
        return SpanFacts(problem=f"line {bad.line}: {bad.reason}")
    (sums,) = parsed.rows
    return SpanFacts(
        tool="TestDFSIO's reduce output",
        rows=len(parsed.rows),
        tasks=sums.tasks,
        mib=sums.size_bytes / 2**20,
        per_stream_mib_s=sums.throughput_per_stream_mib_s,
    )


_READ = {
    "dool": _monitor,
    "sar": _sar,
    "nodecpu": _nodecpu,
    "ycsb-hdr": _hdr,
    "dfsio-history": _history,
    "dfsio-io": _io,
}


def log_prefix(file: str) -> str:
    """What names the client in a log's file name: `ycsb-1` of `raw/ycsb-1-READ.hdr`."""
    name = PurePosixPath(file).name
    measured = name_of(name)
    return name.removesuffix(f"{measured}.hdr").rstrip("-_") if measured else ""
