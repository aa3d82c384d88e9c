"""Output of the programs of a trial in their own formats, from numbers of the model. Pure."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from numpy.typing import NDArray

from density_study.workloads.testdfsio.output.history import PACKAGE
from density_study.workloads.ycsb.output.measurement import READ_MODIFY_WRITE

_MODES = {"random": "random read", "backward": "backward read", "skip": "skip read"}
_DOOL = """\
"dool 1.3.8 CSV output"
"Author:","Scott Baker",,,,"URL:","https://github.com/scottchiefbaker/dool/"
"Host:","simulated",,,,"User:","nobody"
"Cmdline:","dool -T --time --cpu --disk --io --net --mem --bytes",,,,"Date:","{date}"
"epoch","system","total cpu usage",,,,,"dsk/total",,"io/total",,"net/total",,"memory usage",,,
"epoch","time","usr","sys","idl","wai","stl","read","writ","read","writ","recv","send","used","free","cach","avai"
"""
Floats = NDArray[np.float64]


def dool(epoch_s: Floats, cells: Floats) -> bytes:
    """Rows of dool 1.3.8 with --bytes. `cells`: (usr, sys, idl, wai, stl in percent, bytes read and written a
    second; sample). The first sample counts as the one since boot."""
    begun = datetime.fromtimestamp(epoch_s[0], UTC)
    clock = [time.strftime("%b-%d %H:%M:%S", time.gmtime(at)) for at in epoch_s]
    rest = [np.zeros(len(epoch_s), np.int64)] * 8
    columns = [np.round(epoch_s, 3), clock, *np.round(cells, 3), *rest]
    return _DOOL.format(date=f"{begun:%d %b %Y %H:%M:%S UTC}").encode() + _csv(columns)


def nodecpu(host: str, cores: int, epoch_s: Floats, ticks: Mapping[str, Floats]) -> bytes:
    """Samples of nodecpu: node -> cumulative ticks of user time, at 100 a second."""
    names = sorted(ticks)
    user = np.stack([ticks[name] for name in names], axis=1).astype(np.int64)
    columns = [
        np.repeat(np.round(epoch_s, 3), len(names)),
        names * len(epoch_s),
        user.ravel(),
        np.zeros(user.size, np.int64),
        np.full(user.size, 3),
    ]
    head = (
        f"# nodecpu format 1, host={host}, ticks_per_s=100, cores={cores}\n"
        "epoch_s,node,user_ticks,system_ticks,processes\n"
    )
    return head.encode() + _csv(columns)


def ycsb_summary(run_s: float, operations: int, logged: Mapping[str, int]) -> str:
    """The text exporter's output. `operations` of the client; `logged`: entries of each name."""
    lines = [
        f"[OVERALL], RunTime(ms), {run_s * 1000:.0f}",
        f"[OVERALL], Throughput(ops/sec), {operations / run_s}",
    ]
    for name, count in logged.items():
        lines.append(f"[{name}], Operations, {count}")
        if name != READ_MODIFY_WRITE:  # only its read and its update return something
            lines.append(f"[{name}], Return=OK, {count}")
    return "\n".join(lines) + "\n"


def ycsb_status(begun_epoch_s: float, elapsed: Sequence[tuple[float, int]]) -> str:
    """Lines of -s, of (seconds since the start, operations since the line before)."""
    lines = ["Command line: -s", "YCSB Client 0.17.0", "", "Loading workload..."]
    so_far, before_s = 0, 0.0
    for at_s, operations in elapsed:
        so_far += operations
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(begun_epoch_s + at_s))
        rate = operations / max(at_s - before_s, 0.001)
        lines.append(
            f"{stamp}:000 {at_s:.0f} sec: {so_far} operations; {rate:.2f} current ops/sec; "
        )
        before_s = at_s
    return "\n".join(lines) + "\n"


def dfsio_log(mode: str, streams: Sequence[tuple[int, int]], test_s: float, ended_s: float) -> str:
    """The block that TestDFSIO 3.4.2 appends to its result file, of streams of (bytes, ms)."""
    ended = datetime.fromtimestamp(ended_s, UTC)
    total_mib, time_ms = sum(one for one, _ in streams) / 2**20, sum(ms for _, ms in streams)
    rates = [size / 2**20 / (ms / 1000) for size, ms in streams]
    return (
        f"----- TestDFSIO ----- : {_MODES.get(mode, mode)}\n"
        f"            Date & time: {ended:%a %b %d %H:%M:%S} UTC {ended:%Y}\n"
        f"        Number of files: {len(streams)}\n"
        f" Total MBytes processed: {total_mib:g}\n"
        f"      Throughput mb/sec: {1000 * total_mib / time_ms:.2f}\n"
        f" Average IO rate mb/sec: {np.mean(rates):.2f}\n"
        f"  IO rate std deviation: {np.std(rates):.2f}\n"
        f"     Test exec time sec: {test_s:.2f}\n\n"
    )


def dfsio_part(streams: Sequence[tuple[int, int]]) -> str:
    """part-00000 of streams of (bytes, ms)."""
    rates = [1000 * (size / 2**20) / (ms / 1000) for size, ms in streams]
    return (
        f"f:rate\t{sum(rates)}\n"
        f"f:sqrate\t{sum(rate * rate / 1000 for rate in rates)}\n"
        f"l:size\t{sum(size for size, _ in streams)}\n"
        f"l:tasks\t{len(streams)}\n"
        f"l:time\t{sum(ms for _, ms in streams)}\n"
    )


def history(submit_s: float, finish_s: float, maps: Sequence[tuple[float, float, str]]) -> str:
    """A job's history in Avro-JSON, of maps that ran from second to second on a host."""
    job = f"job_{round(1000 * submit_s)}_0001"
    events: list[tuple[str, str, dict[str, object]]] = [
        ("JOB_SUBMITTED", "JobSubmitted", {"jobid": job, "jobName": "dfsio", "submitTime": _ms(submit_s)}),
        ("JOB_INITED", "JobInited", {"jobid": job, "launchTime": _ms(submit_s + 2), "totalMaps": len(maps)}),
    ]  # fmt: skip
    for number, (start_s, end_s, host) in enumerate(maps):
        attempt = {"attemptId": f"attempt_{number}", "taskid": f"task_{number}", "taskType": "MAP"}
        events += [
            ("MAP_ATTEMPT_STARTED", "TaskAttemptStarted", {**attempt, "startTime": _ms(start_s)}),
            ("MAP_ATTEMPT_FINISHED", "MapAttemptFinished",
             {**attempt, "finishTime": _ms(end_s), "hostname": host}),
        ]  # fmt: skip
    end = {"jobid": job, "finishTime": _ms(finish_s), "finishedMaps": len(maps)}
    events.append(("JOB_FINISHED", "JobFinished", end))
    lines = [
        json.dumps({"type": kind, "event": {PACKAGE + record: fields}})
        for kind, record, fields in events
    ]
    schema = {"type": "record", "namespace": "n", "name": "Event", "fields": []}
    return "Avro-Json\n" + "\n".join([json.dumps(schema), *lines]) + "\n"


def _ms(epoch_s: float) -> int:
    return round(epoch_s * 1000)


def _csv(columns: Sequence[object]) -> bytes:
    table = pa.table({f"c{n}": pa.array(values) for n, values in enumerate(columns)})
    sink = BytesIO()
    pacsv.write_csv(table, sink, pacsv.WriteOptions(include_header=False, quoting_style="none"))
    return sink.getvalue()
