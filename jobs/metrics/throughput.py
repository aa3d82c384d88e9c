"""Rates of each trial.

TestDFSIO has three (method 13): the mean per stream, over the map phase, and over the whole job; a write has
a fourth, to disk. YCSB has one: successful operations per second, after the ramp-up.

Records that others made may lack a job's reduce output and history, or a window. For these alone, the tool's
own rounded result replaces what is missing, except the map phase, which it does not contain.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.metrics.window import window_s
from density_study.jobs.spark.columns import exact_sum, of_all
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.testdfsio.setting import READS, WRITES
from density_study.workloads.ycsb.output.measurement import NOT_OF_USERS, READ_MODIFY_WRITE
from density_study.workloads.ycsb.output.summary import COUNTS

TABLE = tables.METRICS
MIB = 2.0**20
RATE = "MiB/s"
SUCCESSES = ("Return=OK", "Return=BATCHED_OK", "Return=0")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: throughput* and concurrent_maps, one row of each per trial with a window, or of
    others; null if the number could not be computed. Of a search's answer also rate_at_slo. Of TestDFSIO's
    writes also rate_to_disk, and of its reads hdfs_read_*, where they are known. Where several nodes are
    clients, client_throughput of each."""
    rates = dfsio_rates(inputs)
    dfsio = metric_rows(
        rates,
        {
            "throughput_per_stream": (RATE, F.col("per_stream")),
            "throughput_map_phase": (RATE, F.col("map_phase")),
            "throughput_job": (RATE, F.col("job")),
            "concurrent_maps": ("count", F.col("concurrent_maps")),
        },
    )
    ops_s = ("ops/s", F.col("ops_s"))
    searches = inputs[tables.TRIALS].where("studied AND probe_kept")
    answers = searches.select("trial", F.lit(True).alias("kept"))
    ycsb = (  # one branch: Spark would compute the rates once for each
        metric_rows(ycsb_rates(inputs), {"throughput": ops_s, "rate_at_slo": ops_s})
        .join(answers, "trial", "left")
        .where("name = 'throughput' OR kept")
        .drop("kept")
    )
    of_clients = metric_rows(_by_client_node(inputs), {"client_throughput": ops_s})
    every = (ycsb, of_clients, _to_disk(inputs, rates), _by_distance(inputs))
    return reduce(DataFrame.unionByName, every, dfsio)


def _trials(inputs: Inputs, workload: str) -> DataFrame:
    """trial, warm_up_s of the workload's trials with a window, and of those that others made."""
    trials = inputs[tables.TRIALS].where(F.col("workload") == workload)
    return trials.where(window_s().isNotNull() | F.col("imported")).select("trial", "warm_up_s")


def _to_disk(inputs: Inputs, rates: DataFrame) -> DataFrame:
    """rate_to_disk of every write, null if it is not known. The seconds between the last map and the job's
    end count for nothing: pages were written meanwhile, but they are few."""
    writes = inputs[tables.TRIALS].where(F.col("mode").isin(*WRITES))
    known = writes.select("trial", "write_out_s")
    to_disk = _over(F.col("bytes") / MIB, F.col("map_phase_s") + F.col("write_out_s"))
    return metric_rows(rates.join(known, "trial"), {"rate_to_disk": (RATE, to_disk)})


def _by_distance(inputs: Inputs) -> DataFrame:
    """hdfs_read_* of reads, as far as they are known."""
    trials = inputs[tables.TRIALS].where(F.col("mode").isin(*READS))
    read = _trials(inputs, "testdfsio").select("trial").join(trials, "trial")
    parts = {
        f"hdfs_read_{where}": (
            "percent",
            100.0 * F.col(f"read_{where}_bytes") / F.col("read_sent_bytes"),
        )
        for where in ("local", "rack", "remote")
    }
    return metric_rows(read, parts).where("value IS NOT NULL")


def dfsio_rates(inputs: Inputs) -> DataFrame:
    """trial, bytes, tasks, per_stream, map_phase, job (MiB/s), map_phase_s, concurrent_maps."""
    mib = F.col("bytes") / MIB
    job_s = F.coalesce("job_s", "reported_job_s")
    return (
        _trials(inputs, "testdfsio")
        .join(dfsio_work(inputs), "trial", "left")
        .join(map_phases(inputs), "trial", "left")
        .select(
            "trial",
            "bytes",
            "tasks",
            # bytes over the sum of task times: the harmonic mean of the streams' rates, weighted by bytes
            F.coalesce(_over(mib, F.col("task_ms") / 1000.0), "reported_per_stream").alias(
                "per_stream"
            ),
            _over(mib, F.col("map_phase_s")).alias("map_phase"),
            _over(mib, job_s).alias("job"),
            "map_phase_s",
            "concurrent_maps",
        )
    )


def dfsio_work(inputs: Inputs) -> DataFrame:
    """trial, bytes, tasks, task_ms of the job's reduce output. For a trial of others also reported_job_s and,
    where the output is missing, reported_per_stream (MiB/s), bytes and tasks, all from the tool's result."""
    io = (
        inputs[tables.DFSIO_IO]
        .groupBy("trial")
        .agg(
            F.sum("bytes").alias("bytes"),
            F.sum("tasks").alias("tasks"),
            F.sum("task_ms").alias("task_ms"),
        )
    )
    result = (
        inputs[tables.TRIALS]
        .where("imported")
        .select("trial")
        .join(inputs[tables.DFSIO_RESULTS], "trial")
        .groupBy("trial")
        .agg(
            F.max("processed_mib").alias("processed_mib"),
            F.max("files").alias("reported_tasks"),
            F.max("throughput_mib_s").alias("reported_per_stream"),
            F.max("test_s").alias("reported_job_s"),
            F.count(F.lit(1)).alias("results"),
        )
        .where("results = 1")
    )
    return io.join(result, "trial", "full").select(
        "trial",
        F.coalesce("bytes", F.col("processed_mib") * MIB).alias("bytes"),
        F.coalesce("tasks", "reported_tasks").alias("tasks"),
        "task_ms",
        F.when(F.col("task_ms").isNull(), F.col("reported_per_stream")).alias(
            "reported_per_stream"
        ),
        "reported_job_s",
    )


def map_phases(inputs: Inputs) -> DataFrame:
    """trial, job_s (submission to end), map_phase_s (first start to last end of the successful maps),
    concurrent_maps (maximum number of attempts running at one time).

    A history with problems gives no row, because its map phase may be truncated.
    """
    jobs = inputs[tables.MAPREDUCE_JOBS]
    whole = F.size("problems") == 0
    span = F.max("finish_epoch_s") - F.min("start_epoch_s")
    phases = (
        inputs[tables.MAP_ATTEMPTS]
        .where("status = 'SUCCEEDED'")
        .groupBy("trial", "job")
        .agg(span.alias("map_phase_s"))
    )
    return (
        jobs.where(whole)
        .join(phases, ["trial", "job"])
        .join(_concurrency(inputs), ["trial", "job"])
        .select(
            "trial",
            (F.col("finish_epoch_s") - F.col("submit_epoch_s")).alias("job_s"),
            "map_phase_s",
            "concurrent_maps",
        )
    )


def _concurrency(inputs: Inputs) -> DataFrame:
    """Sweep line over starts (+1) and ends (-1). At equal times ends come first, so that a map that starts
    when another ends does not overlap it."""
    ended = inputs[tables.MAP_ATTEMPTS].where("finish_epoch_s IS NOT NULL")
    changes = ended.select("trial", "job", F.col("start_epoch_s").alias("at"), F.lit(1).alias("by"))
    changes = changes.unionByName(
        ended.select("trial", "job", F.col("finish_epoch_s").alias("at"), F.lit(-1).alias("by"))
    )
    sweep = (
        Window.partitionBy("trial", "job")
        .orderBy("at", "by")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return (
        changes.withColumn("running", F.sum("by").over(sweep))
        .groupBy("trial", "job")
        .agg(F.max("running").alias("concurrent_maps"))
    )


def ycsb_rates(inputs: Inputs) -> DataFrame:
    """trial, ops_s over all clients; null if a client has no rate."""
    rates = _client_rates(inputs)
    complete = F.count("client_ops_s") == F.count(F.lit(1))
    summed = rates.groupBy("trial").agg(
        F.when(complete, exact_sum(F.col("client_ops_s"))).alias("ops_s")
    )
    return _trials(inputs, "ycsb").select("trial").join(summed, "trial", "left")


def _by_client_node(inputs: Inputs) -> DataFrame:
    """trial, scope, ops_s of all clients on a node, for trials with clients on several nodes."""
    nodes = F.size(F.collect_set("node").over(Window.partitionBy("trial")))
    return (
        _client_rates(inputs)
        .withColumn("nodes", nodes)
        .where("nodes > 1")
        .groupBy("trial", F.concat(F.lit("client:"), "node").alias("scope"))
        .agg(of_all(exact_sum, F.col("client_ops_s")).alias("ops_s"))
    )


def _client_rates(inputs: Inputs) -> DataFrame:
    """trial, client, node, client_ops_s; null if the client has no rate.

    With a ramp-up: operations per second in the intervals after the ramp-up. Without: all successful
    operations over the run time of the slowest client.
    """
    rates = (
        inputs[tables.CLIENTS]
        .select("trial", "client", "node")
        .join(_trials(inputs, "ycsb"), "trial")
        .join(whole_run(inputs[tables.YCSB_SUMMARY]), ["trial", "client"], "left")
        .join(_after_warm_up(inputs), ["trial", "client"], "left")
    )
    # Clients with a fixed amount of work end at different times: the sum of their rates was never reached.
    longest_s = F.max("run_s").over(Window.partitionBy("trial"))
    ops_s = F.when(F.col("warm_up_s") > 0, F.col("measured_ops_s")).otherwise(
        F.when(F.col("run_s").isNotNull(), _over(F.col("succeeded"), longest_s))
    )
    return rates.withColumn("client_ops_s", ops_s)


def whole_run(summary: DataFrame) -> DataFrame:
    """trial, client, and from YCSB's summary: run_s, overall_ops_s, operations (by users), succeeded, failed
    (Return other than OK); null if the summary lacks them."""
    overall = F.col("operation") == "OVERALL"
    returned = F.col("measure").startswith("Return=") & ~F.col("operation").isin(*NOT_OF_USERS)
    good = returned & F.col("measure").isin(*SUCCESSES)
    value = F.col("value")
    # YCSB counts a read-modify-write three times: itself, its read and its update.
    twice = F.sum(
        F.when((F.col("operation") == READ_MODIFY_WRITE) & F.col("measure").isin(*COUNTS), value)
    )
    run_s = F.max(F.when(overall & (F.col("measure") == "RunTime"), value / 1000.0))
    ops_s = F.max(F.when(overall & (F.col("measure") == "Throughput"), value))
    any_return = F.max(returned) & (F.count(F.when(returned, value)) == F.count_if(returned))
    grouped = summary.groupBy("trial", "client").agg(
        run_s.alias("run_s"),
        ops_s.alias("overall_ops_s"),
        any_return.alias("known"),
        F.coalesce(twice, F.lit(0.0)).alias("twice"),
        F.sum(F.when(returned, value)).alias("returned"),
        F.coalesce(F.sum(F.when(good, value)), F.lit(0.0)).alias("good"),
    )
    return grouped.select(
        "trial",
        "client",
        "run_s",
        "overall_ops_s",
        F.when(F.col("known"), F.col("returned") - F.col("twice")).alias("operations"),
        F.when(F.col("known"), F.col("good") - F.col("twice")).alias("succeeded"),
        F.when(F.col("known"), F.col("returned") - F.col("good")).alias("failed"),
    )


def _after_warm_up(inputs: Inputs) -> DataFrame:
    """trial, client, measured_ops_s: operations in whole intervals after the ramp-up, over the time from
    the start of the first to the end of the last."""
    intervals = inputs[tables.YCSB_HISTOGRAMS].where("measured AND kind = 'closed-loop'")
    seconds = F.max(F.col("begun_s") + F.col("length_s")) - F.min("begun_s")
    return intervals.groupBy("trial", "client").agg(
        _over(F.sum("counted"), seconds).alias("measured_ops_s")
    )


def _over(amount: Column, seconds: Column) -> Column:
    """amount / seconds; null unless seconds is above 0."""
    return F.when(seconds > 0, amount / seconds)
