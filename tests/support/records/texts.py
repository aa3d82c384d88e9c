"""Output of a trial's tools, in their own formats, from numbers that the test knows."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from hdrh.histogram import HdrHistogram

_HDR_MAX_US = 3_600_000_000
Cells = tuple[float, float, float, float, float, float, float]
"""usr, sys, idl, wai, stl (percent), read, writ (bytes per second)."""


def dool(samples: Iterable[tuple[float, Cells]]) -> str:
    """dool 1.3.8 with --bytes: rows of (epoch_s, cells), after a first row since boot."""
    rows = list(samples)
    begun_s = rows[0][0] - 1
    lines = [
        '"dool 1.3.8 CSV output"',
        '"Author:","Scott Baker",,,,"URL:","https://github.com/scottchiefbaker/dool/"',
        '"Host:","vm",,,,"User:","root"',
        f'"Cmdline:","dool -T --time --cpu --disk --io --net --mem --bytes",,,,"Date:","{_date(begun_s)}"',
        '"epoch","system","total cpu usage",,,,,"dsk/total",,"io/total",,"net/total",,"memory usage",,,',
        '"epoch","time","usr","sys","idl","wai","stl","read","writ","read","writ","recv","send",'
        '"used","free","cach","avai"',
        _dool_row(begun_s, (90.0, 5.0, 5.0, 0.0, 0.0, 9e9, 9e9)),
        *(_dool_row(epoch_s, cells) for epoch_s, cells in rows),
    ]
    return "\n".join(lines) + "\n"


def _dool_row(epoch_s: float, cells: Cells) -> str:
    clock = time.strftime("%b-%d %H:%M:%S", time.gmtime(epoch_s))
    numbers = ",".join(f"{cell:.3f}" for cell in cells)
    return f"{epoch_s:.3f},{clock},{numbers},1,2,3,4,1000,2000,3000,4000"


def _date(epoch_s: float) -> str:
    return datetime.fromtimestamp(epoch_s, UTC).strftime("%d %b %Y %H:%M:%S UTC")


def nodecpu(rounds: Iterable[tuple[float, Mapping[str, tuple[int, int]]]], cores: int = 2) -> str:
    """Rows of (epoch_s, node -> cumulative user and system ticks), at 100 ticks per second."""
    lines = [
        f"# nodecpu format 1, host=here, ticks_per_s=100, cores={cores}",
        "epoch_s,node,user_ticks,system_ticks,processes",
        *(
            f"{epoch_s:.3f},{node},{user},{system},3"
            for epoch_s, nodes in rounds
            for node, (user, system) in sorted(nodes.items())
        ),
    ]
    return "\n".join(lines) + "\n"


def hdr(name: str, start_s: float, intervals: Sequence[tuple[float, Sequence[int]]]) -> str:
    """An interval log of HdrHistogram 2.2.2: intervals of (length_s, latencies in us)."""
    lines = [
        f"#[Logging for: {name}]",
        "#[Histogram log format version 1.3]",
        f"#[StartTime: {start_s:.3f} (seconds since epoch), then]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ]
    at_s = 0.0
    for length_s, latencies_us in intervals:
        histogram = HdrHistogram(1, _HDR_MAX_US, 3)
        for latency_us in latencies_us:
            histogram.record_value(latency_us)
        most_s = histogram.get_max_value() / 1e6 if latencies_us else 0.0
        payload = histogram.encode().decode()
        lines.append(f"{at_s:.3f},{length_s:.3f},{most_s:.3f},{payload}")
        at_s += length_s
    return "\n".join(lines) + "\n"


def ycsb_summary(
    run_s: float, returns: Mapping[str, Mapping[str, int]], clean_up_us: float = 2.0
) -> str:
    """The text exporter's output: operation -> status -> count. A status other than OK has its own
    block."""
    operations = sum(sum(counts.values()) for counts in returns.values())
    lines = [
        f"[OVERALL], RunTime(ms), {run_s * 1000:.0f}",
        f"[OVERALL], Throughput(ops/sec), {operations / run_s}",
        "[CLEANUP], Operations, 8",
        f"[CLEANUP], AverageLatency(us), {clean_up_us}",
    ]
    for operation, counts in returns.items():
        lines.append(f"[{operation}], Operations, {counts.get('OK', 0)}")
        lines += [f"[{operation}], Return={status}, {count}" for status, count in counts.items()]
        failed = sum(count for status, count in counts.items() if status != "OK")
        if failed:
            lines.append(f"[{operation}-FAILED], Operations, {failed}")
    return "\n".join(lines) + "\n"


def ycsb_status(per_second: Sequence[int]) -> str:
    """Lines of -s, one per second."""
    lines = ["Command line: -db x -s", "YCSB Client ${project.version}", "", "Loading workload..."]
    so_far = 0
    for second, operations in enumerate(per_second, start=1):
        so_far += operations
        lines.append(
            f"2026-11-20 17:47:{second % 60:02d}:557 {second} sec: {so_far} operations; "
            f"{operations} current ops/sec; "
        )
    return "\n".join(lines) + "\n"


def dfsio_log(
    name: str, files: int, processed_mib: float, rate: float, test_s: float, ended_s: float
) -> str:
    """The block that TestDFSIO 3.4.2 appends to its result file; `name`: write, read, random read,
    ..."""
    ended = datetime.fromtimestamp(ended_s, UTC)
    return (
        f"----- TestDFSIO ----- : {name}\n"
        f"            Date & time: {ended:%a %b %d %H:%M:%S} UTC {ended:%Y}\n"
        f"        Number of files: {files}\n"
        f" Total MBytes processed: {processed_mib:g}\n"
        f"      Throughput mb/sec: {rate:.2f}\n"
        f" Average IO rate mb/sec: {rate:.2f}\n"
        "  IO rate std deviation: 1.5\n"
        f"     Test exec time sec: {test_s:.2f}\n\n"
    )
