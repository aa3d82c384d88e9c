"""Tables that the manifests of the records fill: what was run, where, and how long it took."""

from __future__ import annotations

from analysis.tables.table import CLIENT, HOST, TRIAL, Table, column

TRIALS = Table(
    "trials",
    "One row a record, failed and incomplete ones included.",
    ("trial",),
    (
        TRIAL,
        column("study", "string", "study's name"),
        column("run", "string", "run's id"),
        column("repetition", "int", "repetition, from 1"),
        column("order", "int", "position among the run's trials, from 0, as really run"),
        column("build", "string", "bring-up the trial ran on: the unit for effects of topology"),
        column("seed", "long", "seed of the trial"),
        column("state", "string", "complete, failed or incomplete"),
        column("state_reasons", "strings", "why it is not complete"),
        column(
            "overhead_pair",
            "int",
            "number of the pair that measures the monitors' cost, from 1; null: a trial of the study",
        ),
        column("monitored", "boolean", "whether the monitors ran"),
        column("topology", "string", "topology's name"),
        column("provider", "string", "local, physical or libvirt"),
        column("isolation", "string", "process, host or vm"),
        column("medium", "string", "flash or hdd"),
        column("medium_emulated", "boolean", "a worker's disk emulates its medium"),
        column("vms_per_host", "int", "nodes a host is divided into; 0 is the bare host"),
        column("regionservers_per_node", "int", "RegionServers on each worker node"),
        column("replication", "int", "dfs.replication"),
        column("hosts", "int", "hosts of the topology"),
        column("workers", "int", "worker nodes of the topology"),
        column("usd_per_hour", "double", "price of all its hosts; null: one has none", "USD/h"),
        column("setting", "string", "id of the setting"),
        column("workload", "string", "testdfsio or ycsb"),
        column("mode", "string", "TestDFSIO: write, read, random, backward, skip, ..."),
        column("files", "int", "TestDFSIO: files asked for; the most maps that can run at once"),
        column("file_size_mib", "int", "TestDFSIO: size of one file", "MiB"),
        column("read_size_bytes", "long", "TestDFSIO: size of one read, or of one write", "B"),
        column("skip_size_bytes", "long", "TestDFSIO: left out after a read; null: one read", "B"),
        column("readers", "int", "TestDFSIO: maps let run at once; null: as many as fit"),
        column("storage_policy", "string", "TestDFSIO: of the files; null: HDFS' own"),
        column("erasure_coding", "string", "TestDFSIO: policy of the files; null: replicas"),
        column("compression", "string", "TestDFSIO: codec of the files; null: none"),
        column("asked_bytes", "long", "TestDFSIO: what all streams are to process", "B"),
        column("mix", "string", "YCSB: load, read45-insert55, ..."),
        column("records", "long", "YCSB: records loaded; a variant store's rows"),
        column("samples", "int", "variant store: samples, each with a row at every site"),
        column("sites", "int", "variant store: sites, spread over the genome"),
        column("region_sites", "int", "variant store: sites of a queried region, median"),
        column("threads", "int", "YCSB: threads of a client"),
        column("clients", "int", "YCSB: client processes"),
        column("duration_s", "double", "YCSB: time asked for; null for a load", "s"),
        column("warm_up_s", "double", "cut from the window's start", "s"),
        column(
            "target_ops_s", "double", "YCSB: rate asked for; null is as fast as it goes", "ops/s"
        ),
        column(
            "target_percent",
            "double",
            "YCSB: rate asked for as a share of the saturation measured on the build",
            "percent",
        ),
        column(
            "neighbour_threads",
            "int",
            "isolation trial: busy threads beside the victim, 0 for none; null: no such trial",
        ),
        column("request_distribution", "string", "YCSB: zipfian, uniform or latest"),
        column("max_scan_length", "int", "YCSB: longest scan", "records"),
        column("window_start_epoch_s", "double", "workload start, controller's clock", "s"),
        column("window_end_epoch_s", "double", "workload exit, controller's clock", "s"),
        column("prepare_s", "double", "time before the workload", "s"),
        column("measure_s", "double", "time of the workload", "s"),
        column("settle_s", "double", "time after the workload", "s"),
        column("data_set_mib", "double", "data the workload can touch", "MiB"),
        column("total_ram_mib", "double", "memory that could hold it", "MiB"),
        column("cold_method", "string", "how caches were emptied"),
        column("evicted_bytes", "long", "bytes taken out of caches before a read", "B"),
        column("distinct_bytes_asked", "long", "different bytes the workload asks for", "B"),
        column("physical_read_bytes", "long", "bytes the disks read in the window", "B"),
        column("physical_write_bytes", "long", "bytes the disks wrote in the window", "B"),
        column("compactions", "long", "compactions in the window; null if not counted"),
        column("splits", "long", "region splits in the window; null if not counted"),
        column(
            "compiling_share",
            "double",
            "of one core, that the busiest RegionServer's compilers took when the warm-up of this mix"
            " ended; null if nobody looked",
        ),
    ),
)

NODES = Table(
    "nodes",
    "Which nodes a trial's cluster had, and the scope their CPU is counted in.",
    ("trial", "node"),
    (
        TRIAL,
        column("node", "string", "node's name"),
        HOST,
        column("scope", "string", "node:<name>, or client for a node that is nothing else"),
        column("roles", "strings", "master, worker, client"),
        column("cores", "int", "cores the node may use"),
        column("host_cores", "int", "cores of its host"),
        column("memory_mib", "long", "the node's share of the host's memory", "MiB"),
        column(
            "host_cpu_share_percent",
            "double",
            "of the host's CPU what a guest had of it, by the host's count; null: not a guest",
            "percent",
        ),
    ),
)

CLIENTS = Table(
    "clients",
    "One row a client process.",
    ("trial", "client"),
    (
        TRIAL,
        CLIENT,
        column("node", "string", "node it ran on"),
        column("exit_code", "int", "null: it was not seen to end"),
        column("start_epoch_s", "double", "start, controller's clock", "s"),
        column("end_epoch_s", "double", "exit, controller's clock", "s"),
        column("clock_offset_s", "double", "its host's clock minus the controller's", "s"),
        column("operations_asked", "long", "YCSB: operations on its command line"),
    ),
)

MONITORS = Table(
    "monitors",
    "One row a monitor on a host, with the host's clock against the controller's.",
    ("trial", "kind", "host"),
    (
        TRIAL,
        column("kind", "string", "dool or nodecpu"),
        HOST,
        column("file", "string", "its file in the record"),
        column("period_s", "double", "sampling period", "s"),
        column("started_epoch_s", "double", "start, controller's clock", "s"),
        column("stopped_epoch_s", "double", "stop, controller's clock", "s"),
        column("clock_before_s", "double", "host's clock minus controller's, before", "s"),
        column("clock_after_s", "double", "host's clock minus controller's, after", "s"),
        column("clock_offset_s", "double", "mean of both; null if not measured", "s"),
    ),
)

BRING_UP = Table(
    "bring_up",
    "How long each phase of a build's bring-up took.",
    ("build", "position"),
    (
        column("build", "string", "build"),
        column("topology", "string", "its topology"),
        column("position", "int", "place among the phases, from 0"),
        column("phase", "string", "phase"),
        column("seconds", "double", "how long", "s"),
    ),
)
