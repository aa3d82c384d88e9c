"""Files of other people are read right, or refused with the reason: one row for each of tests/samples/wild.

The expected texts are parts of what `study import --dry-run`, `study capacity import-trace` and `study capacity
fit` show of a file. A text that begins with "!" must not be there.
"""

# ruff: noqa: E501  rows of a table

from __future__ import annotations

from pathlib import Path

import pytest

from density_study.analysis.capacity.inputs.points import read_points
from density_study.analysis.capacity.traces.profiled import profile_of
from density_study.analysis.capacity.traces.readers import read_traces
from density_study.cluster.model.errors import InputError
from density_study.workloads.imports.describe import file_rows
from density_study.workloads.imports.recognise import recognise
from density_study.workloads.monitors.dool import parse_dool
from density_study.workloads.monitors.sar import parse_sar

WILD = Path(__file__).parents[1] / "samples" / "wild"
GO, CPP = "refused this is go-ycsb", "refused this is YCSB-cpp"
NO_TIME = "refused no column has the time: record with -t or -T"
NO_BANNER = "refused this is dstat or dool without its first line"
RESAVED = "refused this is CSV of dstat or dool, saved by a spreadsheet"
SAR_TEXT = "refused this is the text of sar"
READING: dict[str, tuple[str, ...]] = {
    "ycsb/y01-pkb-0.1-hbase-histogram.dat": ("4,934,038 operations in 1800.41 s", "2,465,984 of them failed", "!refused"),
    "ycsb/y02-pkb-0.9.0-redis-exceptions.dat": ("refused line 1", "printed no summary"),
    "ycsb/y03-pkb-contradicting-returns.dat": ("100 operations", "96 of them failed", "stand for 1,000,000", "contradicts itself"),
    "ycsb/y04-pkb-status-and-log4j.dat": ("15,407 operations in 10.018 s (READ 100%)",),
    "ycsb/y05-pkb-0.1-basicdb.dat": ("1,000 operations in 0.08 s", "!refused"),
    "ycsb/y06-issue-1067-still-waiting-0.12.out": ("refused", "cut off: [UPDATE]", "!READ 100%"),
    "ycsb/y07-wiki-0.1.4-ms-units.txt": ("refused this is a summary of YCSB 0.1 with latencies in ms",),
    "ycsb/y09-go-ycsb.txt": (GO,),
    "ycsb/y10-ycsbc-cpp-look-alike.txt": ("refused this is YCSB-C",),
    "ycsb/y11-hung-status-avg-question-mark.err": ("YCSB standard error", "status lines", "!no status"),
    "ycsb/y12-accord-update-failed-only.txt": ("refused", "cut off: 81 operations of UPDATE-FAILED", "!0 operations in"),
    "ycsb/y13-json-array-load.json": ("100,000 operations in 388.153 s (INSERT 100%)",),
    "ycsb/y14-cloud-vendor-two-lines.log": ("refused line 2", "refused line 5", "operations unknown", "!failed"),
    "ycsb/y15-scylla-workloadf-read-errors.out": ("200,000,000 operations", "(READ 50%, READ-MODIFY-WRITE 50%)", "3,853 of them failed"),
    "ycsb/y16-scylla-notes-indented.md": ("200,000,000 operations", "(READ 50%, READ-MODIFY-WRITE 50%)", "3,853 of them failed"),
    "ycsb/y17-issue-757-hbase-not-found.out": ("refused", "cut off: [UPDATE]"),
    "ycsb/y18-issue-1077-riak-all-errors-nan.out": ("failed: none of its 1,000 operations succeeded", "!refused"),
    "ycsb/y19-issue-639-status-lines-twice.err": ("YCSB standard error status lines",),
    "ycsb/y20-issue-602-timeseries-repeated-bucket.out": ("512,000 operations in 229 s (READ 100%)", "!run 2", "!failed"),
    "ycsb/y21-issue-1271-spreadsheet-pipes.txt": ("refused this is a table made of a YCSB summary",),
    "ycsb/y22-ycsb-cpp.log": (CPP,),
    "ycsb/y23-issue-519-errors-within-read-operations.out": ("refused", "cut off: [UPDATE]"),
    "ycsb/y24-issue-1591-redis-latency-variance.out": ("refused", "cut off: [UPDATE]"),
    "ycsb/y25-json-array-jq-reindented.json": ("100,000 operations in 388.153 s (INSERT 100%)",),
    "ycsb/y26-scylla-dataintegrity-verify.out": ("200,000,000 operations", "(READ 50%, UPDATE 50%)", "42 of them failed", "53,576,458 reads had unexpected content"),
    "ycsb/y29-jenkins-plugin-no-final-newline.ycsb": ("refused line 19", "no newline ends it"),
    "ycsb/y30-cloudperfect-two-runs-one-file.log": ("run 1, lines 3 to 23: 1,000 operations in 3.221 s", "run 2, lines 27 to 47: 5,000 operations in 3.895 s (SCAN 95%"),
    "ycsb/y31-cloudperfect-two-runs-crlf.log": ("run 1, lines 3 to 23: 1,000 operations in 3.221 s", "run 2, lines 27 to 47: 5,000 operations in 3.895 s (SCAN 95%"),
    "ycsb/y32-cloudperfect-docker-compose-prefix.log": ("1,000 operations in 3.221 s (READ 51%, UPDATE 49%)",),
    "ycsb/y33-cloudperfect-kubectl-timestamps.log": ("1,000 operations in 3.221 s (READ 51%, UPDATE 49%)",),
    "ycsb/y34-two-clients-interleaved.log": ("refused", "lines of two clients are mixed", "!operations in", "!failed"),
    "ycsb/y35-scylla-shell-wait-ansi.log": ("1,000 operations in 3.221 s (READ 51%, UPDATE 49%)",),
    "ycsb/h01-other-tools-interval-log.hdr": ("refused this is a HdrHistogram log of another tool",),
    "ycsb/y40-de-locale-status.log": ("100,000 operations in 19.497 s (READ 50%, UPDATE 50%)", "!refused"),
    "ycsb/y43-ansible-json-lines.json": ("refused this is output of Ansible",),
    "ycsb/y50-load-then-run-maven-warnings.log": ("run 1, lines 10 to 31: 1,000,000 operations in 9.574 s (INSERT 100%)", "run 2, lines 38 to 52: 1,000,000 operations in 20 s (READ 100%)"),
    "ycsb/y52-floats-0.2-not-found.out": ("100,000 operations in 8.862 s (READ 100%)", "45,220 of them failed"),
    "ycsb/y60-srun-labels.log": ("refused", "lines of 0 and 1 are mixed", "!operations in"),
    "ycsb/y63-carriage-returns-only.log": ("refused lines end in bare carriage returns",),
    "ycsb/y68-markdown-table-of-results.md": ("refused this is a table made of a YCSB summary",),
    "ycsb/f01-cassandra-stress-old.txt": ("refused this is cassandra-stress",),
    "ycsb/f03-jmeter-summariser.log": ("refused this is JMeter results",),
    "ycsb/f04-nosqlbench-summary.txt": ("refused this is a console report of metrics, as of NoSQLBench",),
    "ycsb/f05-fio-terse.txt": ("refused this is fio",),
    "ycsb/f07-hbase-shell.txt": ("refused this is a session of the HBase shell",),
    "ycsb/f09-terasort-counters.log": ("refused this is MRBench, SLive or TeraSort",),
    "ycsb/f10-wrk.txt": ("refused this is a load generator without a reader",),
    "ycsb/f13-benchbase-summary.json": ("refused this is BenchBase",),
    "testdfsio/d01-cdh5-mr1-console.log": ("write, 10 files, 10000 MiB in 169.912 s",),
    "testdfsio/d02-two-runs-cest.log": ("run 1, lines 1 to 8: write, 10 files, 20480 MiB in 56.09 s", "run 2, lines 10 to 17: write, 20 files, 40960 MiB in 94.96 s"),
    "testdfsio/d03-notes-chinese-glosses.log": ("refused line 1", "line 2: not a date"),
    "testdfsio/d04-cst-console-hadoop-3.1.3.log": ("write, 10 files, 1280 MiB in 133.05 s",),
    "testdfsio/d05-hibench-dfsioe-console.log": ("write, 30 files, 60000 MiB in 92.024 s",),
    "testdfsio/d06-seq-npe-no-result.log": ("refused line 2", "printed no result"),
    "testdfsio/d07-blog-asctime-no-zone.log": ("write, 10 files, 100 MiB in 25.77 s",),
    "testdfsio/d08-quasimontecarlo-hadoop-2.jhist": ("of QuasiMonteCarlo, SUCCEEDED", "2018-05-17 11:14:02 to 11:14:18"),
    "testdfsio/d21-hadoop-1-dfscio.log": ("refused this is DFSCIOTest",),
    "testdfsio/d24-result-of-another-request.log": ("refused line 3", "the result has 10 files, and the request above it 8"),
    "testdfsio/d33-write-and-read-kst.log": ("run 1, lines 1 to 8: write, 4 files, 1536 MiB in 43.23 s", "run 2, lines 10 to 17: read, 4 files, 1536 MiB in 26.62 s"),
    "testdfsio/d34-asked-128-mib-did-1.log": ("write, 10 files, 10 MiB in 74.528 s; the request above it is of 1,280 MiB",),
    "testdfsio/d35-wrapped-by-an-editor.log": ("refused line 11: values of TestDFSIO, and no line",),
    "testdfsio/d36-blog-with-typographic-dashes.log": ("refused line 5: values of TestDFSIO, and no line",),
    "testdfsio/d37-quoted-without-times.log": ("write, 10 files, 1280 MiB in 133.05 s", "!refused"),
    "testdfsio/d44-docker-compose-console.log": ("write, 5 files, 640 MiB in 67.65 s", "!refused"),
    "testdfsio/d45-kubectl-timestamps-console.log": ("write, 5 files, 640 MiB in 67.65 s", "!refused"),
    "monitors/m01-pkb-pcp-banner-over-dstat.csv": ("refused", "'total cpu usage' is another tool's: units unknown"),
    "monitors/m02-pcp-4.3.2-misaligned.csv": ("refused", "does not belong under section"),
    "monitors/m03-pcp-5.3.6-narrow.csv": ("refused", "33 cells under 6 columns"),
    "monitors/m04-dstat-0.7.2-mem-swap-no-banner.csv": (NO_BANNER,),
    "monitors/m05-dstat-0.8.0-no-time-column.csv": (NO_TIME, "!time_zone"),
    "monitors/m07-sadf-C-restart-first.csv": ("sar 2 rows", "local times", "used 25.68, 51.10"),
    "monitors/m07a-sadf-d-restart-first-nocpu.csv": ("refused no section of CPU",),
    "monitors/m08-sadf-d-uq.csv": ("sar 5 rows", "used 17.00, 4.21, 28.15, 23.22, 25.69"),
    "monitors/m08b-sadf-d-all-12.7.csv": ("sar 5 rows", "!cannot be read"),
    "monitors/m09-sadf-dh.csv": ("refused", "written with sadf -h"),
    "monitors/m10-sadf-d-T-est.csv": ("sar 2 rows", "local times: time_zone is needed"),
    "monitors/m11-sadf-d-U-epoch.csv": ("sar 2 rows", "13:20:39 to 13:20:49"),
    "monitors/m13-sar-text-12-hour.txt": (SAR_TEXT,),
    "monitors/m13b-sar-text-iso.txt": (SAR_TEXT,),
    "monitors/m13c-sar-text-per-cpu-restart.txt": (SAR_TEXT,),
    "monitors/m14-dstat-0.7.0-date-time-epoch-in-job-log.out": (NO_BANNER, "cut the block out of the log"),
    "monitors/m14b-dstat-0.7.0-date-time.csv": ("dstat 0.7.0 2 rows", "2017-07-18 21:24:18 to 21:25:03"),
    "monitors/m15-dstat-0.7.0-no-time.csv": (NO_TIME,),
    "monitors/m15b-iostat.txt": ("refused this is iostat",),
    "monitors/m16-sadf-x.xml": ("refused this is sadf -x",),
    "monitors/m17-sadf-tty-issue168.csv": ("refused no section of CPU",),
    "monitors/m18-nmon.nmon": ("refused this is nmon",),
    "monitors/m19-collectl-P.txt": ("refused this is collectl",),
    "monitors/m20-vmstat.txt": ("refused this is vmstat",),
    "monitors/m21-dstat-splunk-no-banner.txt": (NO_BANNER,),
    "monitors/m30-sar-text-zh-cn.txt": (SAR_TEXT,),
    "monitors/m31-mpstat-12.txt": ("refused this is mpstat",),
    "monitors/m32-iostat-json.json": ("refused this is iostat",),
    "monitors/m33-pidstat-h-11.txt": ("refused this is pidstat",),
    "monitors/m34-atop-parseable.txt": ("refused this is atop",),
    "monitors/m35-sadf-d-two-hosts.csv": ("refused samples of dn01, dn02 in one file",),
    "monitors/m37-dstat-two-hosts-cat.csv": ("refused samples of dn01, dn02 in one file",),
    "monitors/m38-dstat-excel-de-semicolons.csv": (RESAVED,),
    "monitors/m39-dstat-libreoffice-unquoted.csv": (RESAVED,),
    "monitors/m40-cloudwatch.json": ("refused this is statistics of CloudWatch",),
    "monitors/m41-grafana-export.csv": ("refused this is a CSV export of Grafana",),
    "monitors/m42-vmstat-rhel6-log-with-dates.txt": ("refused this is vmstat",),
    "monitors/m50-dstat-0.7.3-wsl-percore.csv": ("dstat 0.7.3 1 row of desk1", "local times: time_zone is needed", "used 0.11, 0.74"),
    "monitors/m54-dstat-defaults-no-time.csv": (NO_TIME,),
    "monitors/m56-pcp-dstat-5.0.3-epoch.csv": ("pcp-dstat 5.0.3 2 rows of vm-0, every 20 s", "01:15:02 to 01:15:22", "used 7.87, 5.25"),
    "monitors/m62-sadf-comma-locale.csv": ("refused", "decimal comma in '20,00'"),
    "monitors/m65-docker-stats.txt": ("refused this is docker stats",),
    "monitors/m66-free-s.txt": ("refused this is a monitor without a reader",),
    "monitors/m69-telegraf-influx.txt": ("refused this is a monitor without a reader",),
    "monitors/m70-jmx-json.json": ("refused this is metrics of a daemon",),
    "traces/n01-nf-issue-371-cpu-unknown.txt": ("tool1 2.507 measured", "tool2 CPU unknown", "2 tasks of 0.942 h", "2 tasks had not ended", "process tool3: none", "process tool4: none"),
    "traces/n02-flowcraft-114-process-tag.txt": ("qc-pre-trimming 0.010", "2 attempts did not succeed (2 ABORTED): their work is unknown"),
    "traces/n04-k8s-metagenomics.txt": ("fastp-paired 0.191", "!unknown"),
    "traces/n05-nfcore-rnaseq.txt": ("gunzip-gtf", "!unknown", "does not say which tasks used GPUs"),
    "traces/n06-cached-resume.txt": ("unzip-gc", "coerce-seqnames-cov", "!unknown"),
    "traces/n07-derived-table-no-name.tsv": ("refused", "the field 'name' is missing"),
    "traces/n08-snakemake-benchmark-10-columns.tsv": ("n08-snakemake-benchmark-10-columns 0.00822 measured", "0.476 GiB", "hdfs_read 5.42", "jobs that failed"),
    "traces/n09-snakemake-extended.tsv": ("prime 0.56127 measured", "1.908 GiB, used 0.045", "hdfs_read 0.1"),
    "traces/n10-healthomics-manifest-tasks.jsonl": ("task1 0.26667 calculated", "8.000 GiB", "task2 0.10000 calculated", "CPU time is not recorded for task1, task2"),
    "traces/n11-stub-smoke-test.txt": ("stage fq2bam: memory unknown", "stage prepon: memory unknown"),
    "traces/n12-cromwell-metadata.json": ("mkfile 0.01025 calculated", "wc 0.01044", "grep 0.01057", "join 0.00981", "after wc", "after grep", "2.000 GiB", "hdfs_read unknown for every stage"),
    "traces/n14-nf-issue-6743-no-realtime.txt": ("refused", "the field 'realtime' is missing"),
    "traces/n16-made-realtime-0ms.txt": ("mapper CPU unknown", "its 1 task took 0 s"),
    "traces/n17-made-cpu-empty.txt": ("mapper CPU unknown", "no CPU time of its 1 task"),
    "traces/n18-made-io-partly-unknown.txt": ("hdfs_read 20480 calculated", "no hdfs_read of 1 of 2 tasks", "mapper 2.000 measured"),
    "traces/n19-made-same-process-name-in-two-subworkflows.txt": ("samtools-sort 1.000", "bcftools-sort 2.000", "after samtools-sort"),
    "traces/n20-made-retried.txt": ("mapper 41.000 measured", "lost 0.9756", "1 attempt did not succeed (1 FAILED): 40 core-hours, 98% of the bill"),
    "traces/n21-made-example-without-memory.txt": ("stage align: memory unknown", "stage haplotypecaller: memory unknown"),
    "traces/n22-made-example-without-cpu.txt": ("align CPU unknown", "haplotypecaller CPU unknown", "a plan is too small by it"),
    "traces/n23-cromwell-papi-v1-forkjoin.json": ("mkfile 0.00194 calculated", "wc 0.00215", "grep 0.00208", "join 0.00191", "after grep"),
    "traces/n24-cromwell-subworkflow.json": ("hello 0.01014 calculated", "2.000 GiB"),
    "traces/n25-cromwell-local-failing-scatter.json": ("3 attempts did not succeed (3 Failed)", "writegreeting CPU unknown", "ReadItBackToMe: none of its tasks was completed"),
    "traces/n26-spark-1.5-pi.log": ("reduce-at-pi-py-39-0 0.00250 calculated", "0.688 GiB", "CPU time of its Python workers"),
    "traces/n27-spark-2.3-local.log": ("collect-at-console-25-0 0.00004 measured", "after collect-at-console-25-0", "0.250 GiB"),
    "traces/n28-spark-3.1-rdd.log": ("collect-at-console-26-0 0.00005 measured", "2.500 GiB"),
    "traces/n29-galaxy-23.1-cgroup-1.json": ("snpeff 0.00120 measured", "12.582 GiB, used 0.172"),
    "traces/n30-galaxy-24-cgroup-2.json": ("bedtools-genomecoveragebed 0.07348 measured", "5.600 GiB, used 3.636"),
    "traces/n31-galaxy-error-without-metrics.json": ("refused", "no task of the trace was completed"),
    "traces/n32-slurm-array-caret-delimiter.txt": ("jobs 0.02471 measured", "31.250 GiB, used 0.006", "no JobName"),
    "traces/n33-slurm-timeout.txt": ("jobs 1.018 measured", "lost 1.0", "1 attempt did not succeed (1 TIMEOUT)", "40.000 GiB, used 18.936"),
    "traces/n34-slurm-frontier-parsable.txt": ("stage-commapile-mainmix 60.387 calculated", "174.679 GiB"),
    "traces/n35-slurm-cut-to-width.txt": ("refused", "cut to a width", "sacct -P"),
    "traces/n36-snakemake-benchmark-9-columns.tsv": ("n36-snakemake-benchmark-9-columns CPU unknown", "0.028 GiB", "hdfs_write 1 "),
    "traces/n37-healthomics-analyzer-tasks.json": ("foo 0.05000 calculated", "lost 0.5", "1 task used GPUs", "4.000 GiB, used 3.200"),
    "traces/n38-made-healthomics-cloudwatch-events.json": ("bwa 30.000", "lost 0.1667", "5 core-hours, 17% of the bill", "stage index: CPU unknown, another run did its 1 task"),
    "traces/n39-nextflow-0.30-say-hello.txt": ("sayhello 0.00001 measured", "hdfs_read 0.236"),
    "traces/n52-nextflow-two-traces-cat.txt": ("refused", "line 3", "the header again: records of two runs"),
    "traces/n60-nextflow-csv.csv": ("gunzip-gtf 0.726 measured", "gunzip-fasta 0.43450 measured", "hdfs_read 938.2"),
    "traces/n68-sacct-appended-to-a-log.txt": ("e4c 4.350 measured", "3.912 GiB", "no NTasks"),
    "traces/n70-sacct-all-columns-snakemake.csv": ("59b3d4de-2b08-4a7c 0.20782 measured", "0.995 GiB, used 0.995", "hdfs_read 152.51"),
    "traces/n72-seff.txt": ("refused", "this is a report of Slurm for people", "sacct -P"),
    "traces/n60-snakemake-8.11-extended.tsv": ("bench-script 0.00003 measured", "0.028 GiB"),
    "traces/n61-snakemake-9-benchmark.jsonl": ("all 0.00278 calculated", "0.004 GiB", "CPU time is not recorded for all"),
    "traces/n62-snakemake-all-rules-in-one.tsv": ("bench-script 0.00002 ", "bench-run-shell 0.00060 ", "bench-shell 0.00529 ", "bench-run 0.00061 ", "repetitions of a benchmark count as one job"),
    "traces/n63-tricorder.tsv": ("n63-tricorder 0.00600 measured", "0.099 GiB", "hdfs_read 1.25"),
    "traces/n64-slurm-of-snakemake-executor.txt": ("vidjil 0.2147", "0.995 GiB, used 0.995", "hdfs_read 152.512", "hdfs_write 0.0286"),
    "traces/n65-slurm-without-job-ids.txt": ("refused", "the column JobID is missing", "sacct -P"),
    "traces/n66-galaxy-25.0-planemo.json": ("csp2-screen 0.09639 calculated", "csp2-snp 0.12361 calculated", "stage csp2-snp: memory unknown"),
    "traces/n67-healthomics-list-run-tasks.json": ("cramtobamtask 0.00958 calculated", "15.000 GiB", "validatesamfile 0.00961 calculated", "after cramtobamtask", "4.000 GiB"),
    "traces/n68-healthomics-guide-manifest.json": ("geno CPU unknown", "its 1 task took 0 s", "32.000 GiB", "!had not ended"),
    "traces/n73-healthomics-manifest-2024.jsonl": ("ugmakeexamples 0.30666 measured", "4.000 GiB, used 0.482", "ugcallvariants 0.983 measured", "after ugmakeexamples", "15.000 GiB, used 13.752", "1 task used GPUs", "ugpostprocessing 0.02856 measured", "8.000 GiB, used 2.387", "1.000 GiB, used 0.384"),
    "traces/n74-healthomics-get-run-task-2025.json": ("filecopy 0.00395 calculated", "1.000 GiB"),
    "traces/n75-seqera-workflow-tasks-2025.json": ("samtools-index 0.00000 measured", "gatk-haplotypecaller 0.00504 measured", "2.000 GiB, used 0.337", "hdfs_read 8.79395", "gatk-jointgenotyping 0.00392 measured", "after gatk-haplotypecaller", "hdfs_write 49.7109", "does not say which tasks used GPUs"),
    "traces/n76-galaxy-23.1-abm.json": ("bwa-mem 2.968 measured", "31.457 GiB, used 24.210"),
    "traces/n77-healthomics-manifest-as-table.csv": ("ugmakeexamples 0.30666 measured", "4.000 GiB, used 0.482", "ugcallvariants 0.983 measured", "after ugmakeexamples", "15.000 GiB, used 13.752", "1 task used GPUs", "ugpostprocessing 0.02856 measured", "8.000 GiB, used 2.387", "1.000 GiB, used 0.384"),
    "points/e01-excel-de-semicolon-decimal-comma.csv": ("refused", "line 2", "'1877,5'"),
    "points/e02-excel-bom-semicolon-points-empty-tail.csv": ("27 points 1877.5 1777.4",),
    "points/e03-excel-sep-line.csv": ("27 points 1877.5 1777.4",),
    "points/e04-quoted-decimal-comma.csv": ("refused", "line 2", "'1877,5'"),
    "points/e05-quoted-headers-thousands.csv": ("refused", "line 2", "'1,877.5'"),
    "points/e06-excel-de-thousands-dot.csv": ("refused", "line 2", "may mean 1.878 or 1878"),
    "points/e07-excel-unicode-text-utf16.txt": ("refused", "UTF-16"),
    "points/e10-excel-error-cell.csv": ("refused", "line 4", "#DIV/0!"),
    "points/e11-summary-row-at-end.csv": ("refused", "line 30"),
    "points/e20-duplicate-block.csv": ("refused", "line 5", "equal to line 2"),
    "points/e21-unit-slip-in-one-row.csv": ("refused", "line 4", "is it in another unit"),
    "points/e24-bytes-as-mib.csv": ("refused", "line 2", "in KiB/s or bytes/s"),
    "points/e25-shares-as-percent.csv": ("refused", "line 2", "are they shares"),
}  # fmt: skip


def shown(file: str) -> str:
    """What the product says of the file."""
    path = WILD / file
    try:
        if file.startswith("traces/"):
            return _trace(path)
        if file.startswith("points/"):
            points = read_points(path)
            return f"{len(points)} points {' '.join(f'{point.value:g}' for point in points[:2])}"
    except InputError as error:
        assert "\n" not in str(error) and error.remedy
        return f"refused {error.where} {error.what} {error.remedy}"
    found = recognise(path.parent, path.name)
    rows = [" ".join(row[1:]) for row in file_rows({path.name: found})]
    used = [f"{one:.2f}" for one in _used(path)] if found.pieces else []
    return "\n".join((*rows, f"used {', '.join(used)}" if used else ""))


def _trace(path: Path) -> str:
    profile = profile_of(read_traces([path]), 1, "wild", path.name)
    lines = [*profile.left_out(), *profile.notes]
    for stage in profile.stages:
        hours, memory, used = stage.core_hours, stage.ram_gib, stage.ram_used_gib
        digits = 3 if hours and hours.value >= 0.6 else 5
        lines.append(
            f"{stage.name} {f'{hours.value:.{digits}f} {hours.tag}' if hours else 'CPU unknown'}"
        )
        if stage.lost:
            lines.append(f"lost {stage.lost}")
        if memory:
            lines.append(f"{memory.value:.3f} GiB{f', used {used.value:.3f}' if used else ''}")
        lines += [f"after {one}" for one in stage.after]
        lines += [f"{name} {one.value:g} {one.tag}" for name, one in stage.demands.items()]
    return "\n".join(lines)


def _used(path: Path) -> list[float]:
    if path.parent.name != "monitors":
        return []
    parse = parse_dool if "stat" in path.name else parse_sar
    rows = parse(path.read_bytes(), path.name, "UTC").rows
    shares = ((row.cpu_idle, row.cpu_iowait, row.cpu_steal) for row in rows)
    return [100.0 - sum(share or 0.0 for share in of_row) for of_row in shares]


def test_every_file_has_a_row() -> None:
    files = {path.relative_to(WILD).as_posix() for path in WILD.glob("*/*")}
    assert files == set(READING)


@pytest.mark.parametrize("file", READING)
def test_it_is_read_right_or_refused_with_the_reason(file: str) -> None:
    text = shown(file)
    for part in READING[file]:
        if part.startswith("!"):
            assert part[1:] not in text, text
        else:
            assert part in text, text
