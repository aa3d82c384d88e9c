"""Small files as people have them, made after public forms: wrapped by what carries logs, cut, copied, or of
another tool. Each failed once; a careful person's reading stands beside it. '!': must not be said."""

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.workloads.imports.describe import file_rows
from density_study.workloads.imports.recognise import recognise, recognise_all
from tests.support.records.testdfsio_result import DFSIO


def operation(name: str, count: int, returned: str = "Return=OK") -> str:
    return (
        f"[{name}], Operations, {count}\n[{name}], AverageLatency(us), 712.5\n"
        f"[{name}], 99thPercentileLatency(us), 1496\n[{name}], {returned}, {count}\n"
    )


OVERALL = "[OVERALL], RunTime(ms), 13370\n[OVERALL], Throughput(ops/sec), 747.9431563201197\n"
YCSB = OVERALL + operation("READ", 4972) + operation("UPDATE", 5028)
READ_YCSB = "10,000 operations in 13.37 s (READ 50%, UPDATE 50%)"
STARTED = "Command line: -t -db site.ycsb.BasicDB -threads 8\nYCSB Client 0.17.0\nStarting test.\n"
STATUS = (
    "2023-05-01 10:00:10:000 10 sec: 7479 operations; 747.9 current ops/sec; "
    "[READ: Count=3700, Max=16, Min=2, Avg=7.3] \n"
)
JSON = "".join(
    f'{{\n  "metric" : "{name}",\n  "measurement" : "{measure}",\n  "value" : {value}\n}}'
    for name, measure, value in (
        *(("OVERALL", "RunTime(ms)", 2009), ("OVERALL", "Throughput(ops/sec)", 995.52)),
        *(("READ", "Operations", 2000), ("READ", "Return=OK", 2000)),
    )
)
READ_DFSIO = "write, 10 files, 10240 MiB in 75.21 s"
REDUCED = (
    "f:rate\t210200.0\nf:sqrate\t4420000.0\nl:size\t10737418240\nl:tasks\t10\nl:time\t503194\n"
)


def dstat(
    date: str = "20 Nov 2026 17:15:28 UTC", day: str = "20-11", keys: str = "", row: str = ""
) -> str:
    sections, names = (
        '"total cpu usage",,,,,"dsk/total",',
        '"usr","sys","idl","wai","stl","read","writ"',
    )
    head = keys or f'"system",{sections}\n"time",{names}\n'
    values = row or "10.5,2.5,86,1,0,4096,8192"
    return (
        '"Dstat 0.7.4 CSV output"\n"Author:","A",,,,"URL:","u"\n"Host:","dn1",,,,"User:","root"\n'
        f'"Cmdline:","dstat -tcd --output a.csv 1",,,,"Date:","{date}"\n\n{head}'
        + "".join(f"{day} 17:15:{second},{values}\n" for second in (29, 30, 31))
    )


CORES = (
    '"system","cpu0 usage",,,,\n"time","cpu0 usage:usr","cpu0 usage:sys","cpu0 usage:idl",'
    '"cpu0 usage:wai","cpu0 usage:stl"\n'
)
SADF = "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n" + "".join(
    f"dn1;1;2026-11-20 23:50:0{second} UTC;{cpu};10.00;0.00;2.00;1.00;0.00;87.00\n"
    for second in (1, 2)
    for cpu in (0, 1)
)


def sadf(*seconds: int) -> str:
    return (
        SADF.partition("\n")[0]
        + "".join(
            f"\ndn1;1;2026-11-20 23:5{at // 60}:{at % 60:02} UTC;-1;10.00;0.00;2.00;1.00;0.00;87.00"
            for at in seconds
        )
        + "\n"
    )


TAR = (b"run1.log".ljust(257, b"\0") + b"ustar  \0").ljust(512, b"\0") + YCSB.encode()


def prefixed(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


def lined(form: str, text: str) -> str:
    return "".join(form.format(line) for line in text.splitlines())


FILES: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    # an output, as something that carries logs shows it
    "cri": (prefixed("2023-03-04T10:11:12.123456789Z stdout F ", YCSB), (READ_YCSB,)),
    "gh-run-view": (prefixed("bench\tRun YCSB\t2023-03-04T10:11:12.1234567Z ", YCSB), (READ_YCSB,)),
    "journal": (prefixed("2023-03-04T10:11:12+0100 dn1 ycsb[812]: ", YCSB), (READ_YCSB,)),
    "blanks-at-ends": (lined("{}  \n", YCSB), (READ_YCSB,)),
    "begins-with-pk": (f"PKB run_uri 5a6b\n{YCSB}", (READ_YCSB,)),
    "docker-json": (
        lined('{{"log":"{}\\n","stream":"stdout"}}\n', YCSB),
        ("refused this is a log of Docker in JSON", "jq -j .log"),
    ),
    "json-below-start": (f"{STARTED}{JSON}\n", ("lines 4 to 20: 2,000 operations in 2.009 s",)),
    "json-below-status": (f"{STARTED}{STATUS}{JSON}\nreal 0m3s\n", ("2,000 operations",)),
    "json-below-start-cut": (f"{STARTED}{JSON[:-30]}", ("refused line 17: incomplete JSON object",)),
    "json-below-a-log-line": (
        f"{STARTED}[Thread-2] INFO c.e.Pool - ready\n{JSON}\n",
        ("lines 5 to 21: 2,000 operations in 2.009 s",),
    ),
    "console-above-sums": (
        f"{DFSIO}$ hdfs dfs -cat io_write/part-00000\n{REDUCED}",
        (READ_DFSIO, "!refused"),
    ),
    "log4j-of-hibench": (
        prefixed("14/05/02 11:20:33 INFO dfsioe.TestDFSIOEnh (TestDFSIOEnh.java:analyze(905)) - ", DFSIO),
        (READ_DFSIO,),
    ),
    "oozie": (prefixed("Stdoutput ", DFSIO), (READ_DFSIO,)),
    "log4j-of-tests": (
        prefixed("2014-05-02 11:20:33,123 INFO  fs.TestDFSIO (TestDFSIO.java:analyzeResult(905)) - ", DFSIO),
        (READ_DFSIO,),
    ),
    "slf4j-simple": (prefixed("[main] INFO org.apache.hadoop.fs.TestDFSIO - ", DFSIO), (READ_DFSIO,)),
    "logback": (prefixed("11:20:33.123 [main] INFO  o.a.h.fs.TestDFSIO - ", DFSIO), (READ_DFSIO,)),
    "log4j2": (prefixed("2023-01-01T10:00:00,123 INFO  [main] fs.TestDFSIO: ", DFSIO), (READ_DFSIO,)),
    "tabs": (DFSIO.replace("            ", "\t"), (READ_DFSIO,)),
    "quoted-table": (lined('"{}"\n', YCSB.replace(", ", '","')), ("a table made of a YCSB summary",)),
    "warning-above-sums": (f"WARN util.NativeCodeLoader: no\n{REDUCED}", ("refused line 1: ",)),
    # encodings and archives
    "utf16-without-mark": (YCSB.encode("utf-16-le"), ("refused encoded in UTF-16",)),
    "tar": (TAR, ("refused an archive of tar",)),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4", ("refused compressed with 7-Zip",)),
    "zstd": (b"\x28\xb5\x2f\xfd\x24\x10\x81", ("refused compressed with zstd", "!Spark")),
    "run-time-in-s": (
        YCSB.replace("RunTime(ms), 13370", "RunTime(s), 13.37"),
        ("refused line 1: RunTime in s, not in ms", "!operations in"),
    ),
    "two-clients-by-blocks": (
        2 * (OVERALL + operation("READ", 4972)) + 2 * operation("UPDATE", 5028),
        ("refused", "lines of two clients are mixed", "!operations in"),
    ),
    # the same run, twice in one file
    "ycsb-twice": (YCSB * 2, ("run 2, lines 11 to 20", "a copy of ycsb-twice, lines 1 to 10")),
    "dfsio-twice": (f"{DFSIO}\n{DFSIO}", ("run 2", "a copy of dfsio-twice, lines 1 to 8")),
    # monitors
    "iso-times": (dstat(day="2026-11-20"), ("2 rows of dn1", "17:15:30 to 17:15:31")),
    "no-such-day": (dstat(day="2026-02-30"), ("refused", "no such time: '2026-02-30", "!zone")),
    "iso-times-below-a-french-date": (
        dstat("20 nov. 2026 17:15:28 CET", "2026-11-20"),
        ("local times: time_zone is needed", "!refused"),
    ),
    "french-month": (
        dstat("20 nov. 2026 17:15:28 UTC"),
        ("refused no date as in", "the Cmdline line", "LC_ALL=C", "!zone"),
    ),
    "chinese-month": (dstat("20 11月 2026 17:15:28 UTC"), ("refused no date as in", "!zone")),
    "localised-times": (dstat(day="nov.-20"), ("refused", "not a time", "LC_ALL=C", "TIMEFMT='%Y-%m-%d %H")),
    "winter-in-london": (dstat("20 Nov 2026 17:15:28 GMT"), ("local times: time_zone is needed",)),
    "single-cores": (dstat(keys=CORES, row="10,2,87,1,0"), ("2 rows", "no CPU of all cores")),
    "two-periods": (
        sadf(*range(0, 100, 10), *range(91, 99)),
        ("refused samples every 1 s among those every 10 s", "!rows"),
    ),
    "one-sample-more": (sadf(*range(0, 200, 10), 191), ("21 rows of dn1, every 10 s",)),
    "sadf-single-cores": (SADF, ("refused single CPUs", "!no section")),
    # of tools without a reader
    "raw-data": (
        "READ latency raw data: op, timestamp(ms), latency(us)\nREAD,1795195231303,2\n",
        ("refused this is raw data of a YCSB client", "standard output"),
    ),
    "hgrm": (
        "       Value     Percentile TotalCount 1/(1-Percentile)\n\n       0.200 0.0 1 1.00\n",
        ("refused this is a percentile distribution",),
    ),
    "go-ycsb-table": ("| OPERATION | TAKES(S) | COUNT |\n| READ | 0.1 | 500 |\n", ("this is go-ycsb",)),
    "scylla-bench": ("time  operations/s    rows/s   errors\n1s 18234 18234 0\n", ("scylla-bench",)),
    "load-test-tool": (
        "2023-02-01 10:00:10,124 INFO  [T-12] util.MultiThreadedAction: [W:20] Keys=52110\n",
        ("LoadTestTool", "measure HBase with YCSB"),
    ),
    "pe-counters": (
        "HBase Performance Evaluation\n\tElapsed time in milliseconds=4321000\n",
        ("this is HBase's PerformanceEvaluation",),
    ),
    "kafka": ("500000 records sent, 99980.0 records/sec (95.35 MB/sec), 12 ms\n", ("Kafka",)),
    "nn-throughput": (
        "x INFO namenode.NNThroughputBenchmark: --- create inputs ---\n"
        "x INFO namenode.NNThroughputBenchmark: nrFiles = 100000\n",
        ("refused this is NNThroughputBenchmark",),
    ),
    "mrbench": ("DataLines\tMaps\tReduces\tAvgTime (milliseconds)\n1\t\t2\t1\t9\n", ("this is MRBench",)),
    "terasort": ("21/05/20 10:11:12 INFO terasort.TeraSort: starting\n", ("TeraSort: no reader",)),
    "slive": ('Basic report for operation type CreateOp\nMeasurement "files" = 1\n', ("SLive",)),
    "vmstat-d": ("disk- ------------reads------------ ----writes----\n", ("this is vmstat",)),
    "fio-result": ("randread: (groupid=0, jobs=4): err= 0: pid=1234:\n  read: IOPS=1\n", ("this is fio",)),
    "pcp-archive": (b"\0\0\0\x84\x50\x05\x26\x02\0\0", ("an archive of PCP", "pcp -a ARCHIVE dstat")),
    "dd": ("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 2.31 s, 465 MB/s\n", ("a test of disks",)),
    "hdparm": ("/dev/sda:\n Timing cached reads: 20000 MB in  2.00 s\n", ("a test of disks",)),
    "ioping": ("--- /data (xfs /dev/sda1) ioping statistics ---\n", ("a test of disks",)),
    "iozone": ("\tIozone: Performance Test of File I/O\n", ("a test of disks",)),
    "coloured-dstat": ("\x1b[0;34m----total-cpu-usage---- -dsk/total-\n", ("terminal output of dstat",)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_it_is_read_right_or_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    data, parts = FILES[name]
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    text = "\n".join(" ".join(row[1:]) for row in file_rows({name: recognise(tmp_path, name)}))
    for part in parts:
        assert (part[1:] not in text) if part.startswith("!") else (part in text), text


def test_a_client_of_a_json_summary_keeps_its_start_and_its_status(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"{STARTED}{STATUS}{JSON}\n")
    (piece,) = recognise(tmp_path, "a").pieces
    assert (piece.ycsb.number("threadcount"), piece.ycsb.at_elapsed_s) == (8, 10)
    assert piece.status is not None and piece.status.data.decode().endswith(STATUS)


@pytest.mark.parametrize("above", [STARTED, f"{STARTED}{STATUS}"])
def test_a_json_summary_is_that_of_the_client_started_last(above: str, tmp_path: Path) -> None:
    """Above may be an attempt that failed, or a load whose summary went to another file."""
    first = above.replace("threads 8", "threads 64").replace("10 sec", "90 sec")
    (tmp_path / "a").write_text(f"{first}java.io.IOException: no\n{STARTED}{STATUS}{JSON}\n")
    (piece,) = recognise(tmp_path, "a").pieces
    assert (piece.ycsb.number("threadcount"), piece.ycsb.at_elapsed_s) == (8, 10)
    assert piece.status is not None and piece.status.data.decode() == f"{STARTED}{STATUS}"


def test_a_client_below_a_json_summary_is_not_its_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(f"{JSON}\n{STARTED}{STATUS}")
    (piece,) = recognise(tmp_path, "a").pieces
    assert piece.status is None and piece.ycsb.at is None
    assert piece.lines.data.decode() == f"{JSON}\n"


@pytest.mark.timeout(60)
def test_a_long_run_of_blanks_is_read_once(tmp_path: Path) -> None:
    spaced = lined("{}  \n", YCSB)
    (tmp_path / "a").write_text(f"{spaced}x{' ' * 500_000}y\n")
    (piece,) = recognise(tmp_path, "a").pieces
    assert sum(piece.ycsb.counts.values()) == 10_000


def test_a_copy_in_another_file_is_named(tmp_path: Path) -> None:
    for name in ("a.log", "a (copy).log"):
        (tmp_path / name).write_text(YCSB)
    said = [row[2] for row in file_rows(recognise_all(tmp_path))]
    assert said == [f"{READ_YCSB}; a copy of a (copy).log" if n else READ_YCSB for n in (0, 1)]
