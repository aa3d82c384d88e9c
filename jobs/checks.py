"""The facts a trial's verdict rests on, one row a trial: `python -m jobs.checks RUN` prints them.

Facts only: which value is good enough is decided in `analysis/validity.py`. A fact that could not be
established is null, and never taken for a good one.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.coverage import worst_coverage
from jobs.drift import drift
from jobs.exact import exact_sum
from jobs.latency import user_operations
from jobs.littles_law import littles_law
from jobs.run_job import Inputs, run_job
from jobs.throughput import MIB, whole_run
from jobs.window import window_s
from workloads.ycsb.operations import READ_MODIFY_WRITE

TABLE = tables.CHECKS
INPUTS = (
    tables.TRIALS,
    tables.NODES,
    tables.CLIENTS,
    tables.MONITORS,
    tables.HOST_USE,
    tables.MONITOR_ROUNDS,
    tables.DFSIO_RESULTS,
    tables.DFSIO_IO,
    tables.YCSB_SUMMARY,
    tables.YCSB_HISTOGRAMS,
    tables.QUARANTINE,
    tables.METRICS,
)
SHARE_TOLERANCE = 1.0
READ_MODES = ("read", "random", "backward", "skip")
AGREEING_MODES = ("random", "backward", "skip")
SAMPLE_KINDS = ("dool", "nodecpu")
NO_NUMBER_KINDS = ("ycsb-status",)
"""Files no metric is made of: a client's standard error holds whatever its JVM has to say."""


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `checks`."""
    checks = _of_manifests(inputs)
    for facts in (
        _exit_codes(inputs),
        _ycsb_facts(inputs),
        _dfsio_facts(inputs),
        worst_coverage(inputs),
        _clock(inputs),
        _cpu_sum(inputs),
        _processes_cpu(inputs),
        _quarantined(inputs),
        _numbers(inputs),
        drift(inputs),
        littles_law(inputs),
    ):
        checks = checks.join(facts, "trial", "left")
    moves_bytes = F.col("mode") != "truncate"
    return (
        checks.withColumn("work_share", F.coalesce("dfsio_share", "ycsb_share"))
        .withColumn("rate_error", F.coalesce("dfsio_rate_error", "ycsb_rate_error"))
        .withColumn("closed_loop", F.coalesce("closed_loop", F.lit(False)))
        .withColumn("target_share", F.col("ops_s") / F.col("target_ops_s"))
        .withColumn("cold_share", _cold_share())
        .withColumn("rates_unknown", F.when(moves_bytes, F.col("rates_unknown")).otherwise(0))
        .fillna(0, ["result_lines_quarantined", "sample_lines_quarantined"])
    )


def _of_manifests(inputs: Inputs) -> DataFrame:
    trials = inputs[tables.TRIALS]
    cold = (F.col("workload") == "testdfsio") & F.col("mode").isin(*READ_MODES)
    return trials.select(
        "trial",
        "workload",
        F.coalesce("mode", "mix").alias("mode"),
        "monitored",
        cold.alias("must_be_cold"),
        F.col("target_ops_s").isNotNull().alias("has_target"),
        "target_ops_s",
        "state",
        F.concat_ws("; ", "state_reasons").alias("state_reason"),
        window_s().alias("window_s"),
        "distinct_bytes_asked",
        "physical_read_bytes",
        (F.col("compactions") + F.col("splits")).alias("background_work"),
        "compiling_share",
    )


def _exit_codes(inputs: Inputs) -> DataFrame:
    """clients_failed: null without clients, and when one was not seen to end."""
    code = F.col("exit_code")
    known = F.count(code) == F.count(F.lit(1))
    failed = F.when(known, F.count_if(code != 0))
    return inputs[tables.CLIENTS].groupBy("trial").agg(failed.alias("clients_failed"))


def _ycsb_facts(inputs: Inputs) -> DataFrame:
    """failed_operations, ycsb_share, ycsb_rate_error, histogram_error: over all clients of a trial,
    null when one of them is silent (method 9)."""
    trials = inputs[tables.TRIALS].where("workload = 'ycsb'").select("trial", "duration_s")
    clients = (
        inputs[tables.CLIENTS]
        .select("trial", "client", "operations_asked")
        .join(trials, "trial")
        .join(whole_run(inputs[tables.YCSB_SUMMARY]), ["trial", "client"], "left")
        .join(_histogram_counts(inputs), ["trial", "client"], "left")
    )
    by_count = F.col("operations") / F.col("operations_asked")
    by_time = F.col("run_s") / F.col("duration_s")
    done = F.least(F.lit(1.0), F.greatest(by_count, by_time))
    rate_error = _error(F.col("overall_ops_s") * F.col("run_s"), F.col("operations"))
    histogram_error = _error(F.col("in_histograms"), F.col("succeeded"))
    return clients.groupBy("trial").agg(
        _of_all(F.sum, F.col("failed")).alias("failed_operations"),
        _of_all(F.min, done).alias("ycsb_share"),
        _of_all(F.max, rate_error).alias("ycsb_rate_error"),
        _of_all(F.max, histogram_error).alias("histogram_error"),
    )


def _of_all(aggregate: object, value: Column) -> Column:
    """The aggregate, or null if any row's value is null."""
    assert callable(aggregate)
    result: Column = F.when(F.count(value) == F.count(F.lit(1)), aggregate(value))
    return result


def _histogram_counts(inputs: Inputs) -> DataFrame:
    """trial, client, in_histograms: operations that succeeded, of the whole run, warm-up included."""
    sign = F.when(F.col("operation") == READ_MODIFY_WRITE, -1).otherwise(1)
    return (
        user_operations(inputs[tables.YCSB_HISTOGRAMS])
        .where("kind = 'closed-loop'")
        .groupBy("trial", "client")
        .agg(F.sum(F.col("operations") * sign).alias("in_histograms"))
    )


def _error(value: Column, truth: Column) -> Column:
    return F.when(truth > 0, F.abs(value - truth) / truth)


def _dfsio_facts(inputs: Inputs) -> DataFrame:
    """dfsio_share, dfsio_rate_error, access_spread."""
    trials = inputs[tables.TRIALS].where("workload = 'testdfsio'")
    io = (
        inputs[tables.DFSIO_IO]
        .groupBy("trial")
        .agg(F.sum("bytes").alias("bytes"), F.sum("tasks").alias("tasks"))
    )
    said = (
        inputs[tables.DFSIO_RESULTS]
        .groupBy("trial")
        .agg(
            # more than one block in a trial's own file: which one is the trial's is not known
            F.when(F.count(F.lit(1)) == 1, F.max("throughput_mib_s")).alias("said_mib_s")
        )
    )
    rates = _metric(inputs, "throughput_per_stream", "per_stream")
    done = trials.join(io, "trial", "left").join(said, "trial", "left").join(rates, "trial", "left")
    bytes_share = F.col("bytes") / F.col("asked_bytes")
    share = F.least(F.lit(1.0), F.col("tasks") / F.col("files"), bytes_share)
    return done.select(
        "trial",
        F.when(F.col("bytes").isNotNull(), share).alias("dfsio_share"),
        _error(F.col("said_mib_s"), F.col("per_stream")).alias("dfsio_rate_error"),
        _spread().alias("access_spread"),
    )


def _metric(inputs: Inputs, name: str, alias: str) -> DataFrame:
    """trial and the metric `name`, which a trial has once, as `alias`."""
    metrics = inputs[tables.METRICS].where(F.col("name") == name)
    return metrics.select("trial", F.col("value").alias(alias))


def _spread() -> Column:
    """Fastest over slowest, minus 1, of the random, backward and skip reads of one build that differ
    in nothing else (method 15); null when fewer than two of the kinds are there."""
    stored = ("storage_policy", "erasure_coding")
    same = ("files", "file_size_mib", "read_size_bytes", "readers", *stored)
    group = Window.partitionBy("build", *same)
    rate = F.when(
        F.col("mode").isin(*AGREEING_MODES) & (F.col("state") == "complete"), F.col("per_stream")
    )
    kinds = F.size(F.collect_set(F.when(rate.isNotNull(), F.col("mode"))).over(group))
    spread = F.max(rate).over(group) / F.min(rate).over(group) - 1
    return F.when(rate.isNotNull() & (kinds > 1), spread)


def _clock(inputs: Inputs) -> DataFrame:
    """clock_periods: null when a monitored host's clock was not measured (method 18)."""
    offset = F.greatest(F.abs("clock_before_s"), F.abs("clock_after_s"))
    known = F.col("clock_before_s").isNotNull() & F.col("clock_after_s").isNotNull()
    periods = F.when(known, offset / F.col("period_s"))
    return (
        inputs[tables.MONITORS].groupBy("trial").agg(_of_all(F.max, periods).alias("clock_periods"))
    )


def _cpu_sum(inputs: Inputs) -> DataFrame:
    """cpu_sum_error: null when a sample does not tell all shares."""
    worst = _of_all(F.max, F.col("cpu_sum_error")).alias("cpu_sum_error")
    return inputs[tables.HOST_USE].groupBy("trial").agg(worst)


def _cold_share() -> Column:
    """What the disks read over what was asked for. What they read is the record's own count, else
    dool's rate over the window, of the whole machine (method 5)."""
    asked = F.col("distinct_bytes_asked")
    by_dool = F.col("disk_read_mib_s") * MIB * F.col("window_s")
    read = F.coalesce("physical_read_bytes", by_dool)
    return F.when(F.col("window_s").isNotNull() & (asked > 0), read / asked)


def _processes_cpu(inputs: Inputs) -> DataFrame:
    """client_cpu_share, of the client node's own cores (method 4); cpu_excess, what the nodes'
    processes used beyond what their host did, in percent of its cores (method 19); foreign_cpu, what
    their host did beyond them. A guest counts by what its host gave it in the whole window: emulated, it
    takes waiting for a core for use. What a host does for its guests is no foreign work."""
    used = inputs[tables.METRICS].where("name = 'cpu_used'").select("trial", "scope", "value")
    hosts = used.select(
        "trial",
        F.regexp_extract("scope", "^host:(.*)$", 1).alias("host"),
        F.col("value").alias("measured"),
    )
    whole = inputs[tables.HOST_USE].select("trial", "host", "cpu_used_whole")
    nodes = inputs[tables.NODES].join(used, ["trial", "scope"])
    share = F.col("value") / 100.0 * F.col("host_cores") / F.col("cores")
    spent = F.col("value") * F.col("cores") / F.col("host_cores")
    of_host = F.when(F.col("guests") > 0, F.col("cpu_used_whole")).otherwise(F.col("measured"))
    beyond = of_host - F.col("processes")
    by_host = nodes.groupBy("trial", "host").agg(
        F.max(F.when(F.col("scope") == "client", share)).alias("client_share"),
        exact_sum(F.coalesce("given_percent", spent)).alias("processes"),
        F.count("given_percent").alias("guests"),
    )
    return (
        by_host.join(hosts, ["trial", "host"], "left")
        .join(whole, ["trial", "host"], "left")
        .groupBy("trial")
        .agg(
            F.max("client_share").alias("client_cpu_share"),
            F.max(-beyond).alias("cpu_excess"),
            F.max(F.when(F.col("guests") == 0, beyond)).alias("foreign_cpu"),
        )
    )


def _quarantined(inputs: Inputs) -> DataFrame:
    kind = F.col("kind")
    sample = kind.isin(*SAMPLE_KINDS)
    result = ~kind.isin(*SAMPLE_KINDS, *NO_NUMBER_KINDS)
    said = F.concat_ws(" ", "kind", F.lit("line"), "line", "reason")
    return (
        inputs[tables.QUARANTINE]
        .groupBy("trial")
        .agg(
            F.count_if(result).alias("result_lines_quarantined"),
            F.count_if(sample).alias("sample_lines_quarantined"),
            F.min(F.when(result, said)).alias("result_quarantine"),
        )
    )


def _numbers(inputs: Inputs) -> DataFrame:
    """ops_s, disk_read_mib_s; rates_unknown; numbers_out_of_range and one of them. A share may miss
    its range by what a sample's shares may miss 100 % (method 19); concurrent maps are a count beside
    the rates."""
    value = F.col("value")
    from_disks = F.col("name") == "disk_read"
    all_disks = F.count(F.when(from_disks, value)) == F.count_if(from_disks)
    rate = F.col("name").startswith("throughput")
    high = F.when(F.col("unit") == "percent", 100.0 + SHARE_TOLERANCE)
    low = F.when(F.col("unit") == "percent", -SHARE_TOLERANCE).otherwise(0.0)
    differences = F.col("scope").startswith("host-less-client:")  # of two monitors' accounts
    bad = ((value < low) | (value > high)) & ~F.coalesce(differences, F.lit(False))
    said = F.concat_ws(" ", "name", "scope", "operation", value.cast("string"), "unit")
    return (
        inputs[tables.METRICS]
        .groupBy("trial")
        .agg(
            F.max(F.when(F.col("name") == "throughput", value)).alias("ops_s"),
            F.when(all_disks, exact_sum(F.when(from_disks, value))).alias("disk_read_mib_s"),
            F.count_if(rate & value.isNull()).alias("rates_unknown"),
            F.count_if(bad).alias("numbers_out_of_range"),
            F.min(F.when(bad, said)).alias("number_out_of_range"),
        )
    )


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
