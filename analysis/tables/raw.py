"""Tables that the raw files of the records fill: samples, results, histograms, the quarantine."""

from __future__ import annotations

from analysis.tables.table import CLIENT, HOST, LINE, TRIAL, Table, column

HOST_SAMPLES = Table(
    "host_samples",
    "One row per sample of dool. Every value is a mean over the period that ends at epoch_s.",
    ("trial", "host", "line"),
    (
        TRIAL,
        HOST,
        LINE,
        column("epoch_s", "double", "end of the sample, host's clock", "s"),
        column("since_boot", "boolean", "the first sample: a mean since boot, never used"),
        column("repeated", "boolean", "a line above has the same time: never used"),
        column("since_epoch_s", "double", "end of the used sample before; null at the first", "s"),
        column("cpu_user", "double", "share of the host's cores", "percent"),
        column("cpu_system", "double", "share of the host's cores", "percent"),
        column("cpu_idle", "double", "share of the host's cores", "percent"),
        column("cpu_iowait", "double", "share of the host's cores", "percent"),
        column("cpu_steal", "double", "share of the host's cores", "percent"),
        column("cpu_irq", "double", "interrupts, where the tool shows them apart", "percent"),
        column("disk_read_bytes_s", "double", "physical reads of all disks", "B/s"),
        column("disk_write_bytes_s", "double", "physical writes of all disks", "B/s"),
        column("disk_read_ops_s", "double", "read requests", "1/s"),
        column("disk_write_ops_s", "double", "write requests", "1/s"),
        column("net_receive_bytes_s", "double", "bytes in", "B/s"),
        column("net_send_bytes_s", "double", "bytes out", "B/s"),
        column("memory_used_bytes", "double", "memory used", "B"),
        column("memory_cached_bytes", "double", "page cache", "B"),
        column("memory_available_bytes", "double", "memory available without swapping", "B"),
    ),
)

NODE_CPU_SAMPLES = Table(
    "node_cpu_samples",
    "One row per node and round of our own sampler: ticks of all processes of the node so far.",
    ("trial", "host", "line"),
    (
        TRIAL,
        HOST,
        LINE,
        column("epoch_s", "double", "time of the round, host's clock", "s"),
        column("node", "string", "node's name, or monitor"),
        column("user_ticks", "long", "user time so far", "ticks"),
        column("system_ticks", "long", "system time so far", "ticks"),
        column("since_epoch_s", "double", "the node's round before; null at its first", "s"),
        column(
            "user_step",
            "long",
            "user time since then, never negative; all of it where the node came later than the "
            "first round; null at its first sample in the first round",
            "ticks",
        ),
        column("system_step", "long", "system time since then, likewise", "ticks"),
        column("begins_round", "boolean", "the first line of its round"),
        column(
            "round_since_epoch_s",
            "double",
            "the round before, whatever its nodes; on a line that begins a round, null at the first",
            "s",
        ),
        column("processes", "int", "live processes"),
        column("ticks_per_s", "int", "clock ticks a second", "1/s"),
        column("cores", "int", "cores of the host"),
    ),
)

DFSIO_RESULTS = Table(
    "dfsio_results",
    "The block TestDFSIO appended to its result file.",
    ("trial", "line"),
    (
        TRIAL,
        LINE,
        column("mode", "string", "as the tool names it: write, read, random read, ..."),
        column("files", "int", "files"),
        column("processed_mib", "double", "bytes really processed", "MiB"),
        column("throughput_mib_s", "double", "bytes over the sum of task times", "MiB/s"),
        column("average_rate_mib_s", "double", "mean of the tasks' rates", "MiB/s"),
        column("rate_deviation_mib_s", "double", "their standard deviation", "MiB/s"),
        column("test_s", "double", "test exec time: the whole job as the tool saw it", "s"),
    ),
)

DFSIO_IO = Table(
    "dfsio_io",
    "What the job's reduce step summed over the streams, one row a part file.",
    ("trial", "file"),
    (
        TRIAL,
        column("file", "string", "part file in the record"),
        column("tasks", "long", "streams"),
        column("bytes", "long", "bytes really processed by all streams", "B"),
        column("task_ms", "long", "sum of the streams' times", "ms"),
        column("rate_sum", "double", "sum over streams of 1000 x MiB/s"),
        column("rate_square_sum", "double", "sum over streams of 1000 x (MiB/s) squared"),
    ),
)

MAPREDUCE_JOBS = Table(
    "mapreduce_jobs",
    "One row per MapReduce job, from its history.",
    ("trial", "job"),
    (
        TRIAL,
        column("job", "string", "job's id"),
        column("status", "string", "SUCCEEDED, FAILED or KILLED; null: its end is not recorded"),
        column("submit_epoch_s", "double", "submitted", "s"),
        column("launch_epoch_s", "double", "initialised by its ApplicationMaster", "s"),
        column("finish_epoch_s", "double", "finished", "s"),
        column("maps", "int", "maps it was divided into"),
        column("problems", "strings", "why the history may be incomplete; empty: it is complete"),
    ),
)

MAP_ATTEMPTS = Table(
    "map_attempts",
    "One row per map attempt, from the job's history.",
    ("trial", "attempt"),
    (
        TRIAL,
        column("job", "string", "job's id"),
        column("attempt", "string", "attempt's id"),
        column("status", "string", "SUCCEEDED, FAILED, KILLED; null: its end is not recorded"),
        column("node", "string", "host name of the NodeManager, as YARN knows it"),
        column("start_epoch_s", "double", "start", "s"),
        column("finish_epoch_s", "double", "end", "s"),
    ),
)

YCSB_SUMMARY = Table(
    "ycsb_summary",
    "One row per line of YCSB's text summary.",
    ("trial", "client", "line"),
    (
        TRIAL,
        CLIENT,
        LINE,
        column("name", "string", "as printed: OVERALL, READ, Intended-READ, READ-FAILED, ..."),
        column("operation", "string", "without prefix and suffix: READ, INSERT, ..."),
        column("intended", "boolean", "from the time the operation should have begun"),
        column("outcome", "string", "FAILED, NOT_FOUND, ...; null for successes"),
        column("measure", "string", "without its unit: RunTime, Operations, Return=OK, ..."),
        column("unit", "string", "count, ms, us, ops/sec, ...; null for a histogram's bucket"),
        column("value", "double", "as printed"),
    ),
)

YCSB_STATUS = Table(
    "ycsb_status",
    "One row per status line of a YCSB client (-s).",
    ("trial", "client", "line"),
    (
        TRIAL,
        CLIENT,
        LINE,
        column("elapsed_s", "double", "since the client's measuring began", "s"),
        column("operations", "long", "operations so far"),
        column("current_ops_s", "double", "rate since the last line", "ops/s"),
    ),
)

YCSB_HISTOGRAMS = Table(
    "ycsb_histograms",
    "One row per interval of a client's latency histogram, as sparse counts.",
    ("trial", "client", "file", "line"),
    (
        TRIAL,
        CLIENT,
        column("file", "string", ".hdr file in the record"),
        LINE,
        column("operation", "string", "READ, INSERT, SCAN, ..., CLEANUP"),
        column("outcome", "string", "FAILED, ...; null for successes"),
        column("kind", "string", "closed-loop, or intended (from the time it should have begun)"),
        column("start_epoch_s", "double", "start of the interval, client's clock", "s"),
        column("length_s", "double", "length of the interval", "s"),
        column("operations", "long", "operations in the interval"),
        column("value_us", "longs", "latencies, ascending: top of each bucket", "us"),
        column("counts", "longs", "operations in each bucket"),
        column(
            "time_us",
            "double",
            "time within all operations of the interval, by the buckets: within 0.05 %",
            "us",
        ),
        column("begun_s", "double", "start of the interval, controller's clock", "s"),
        column(
            "counted",
            "long",
            "successful user operations; negative for a read-modify-write, "
            "which is logged as its read and its update, too; null: none of them",
        ),
        column("measured", "boolean", "those of `counted` that began after the warm-up"),
    ),
)

QUARANTINE = Table(
    "quarantine",
    "Lines no parser could read, and files that should be there and are not (line 0).",
    ("trial", "file", "line", "reason"),
    (
        TRIAL,
        column("kind", "string", "what the file was read as: dool, ycsb-summary, ..."),
        column("file", "string", "file in the record"),
        column("line", "int", "line, from 1; 0 is the whole file"),
        column("reason", "string", "why it could not be read"),
        column("excerpt", "string", "its first characters"),
    ),
)
