"""The facts behind a trial's verdict, one row per trial.

Facts only: `analysis/validity/rules.toml` decides which values are acceptable. An unknown fact is null, and
never counts as acceptable.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.checks.client_facts import client_facts
from density_study.jobs.checks.dfsio_facts import dfsio_facts
from density_study.jobs.checks.littles_law import littles_law
from density_study.jobs.checks.monitor_facts import processes_cpu, worst_coverage
from density_study.jobs.checks.pipeline_facts import pipeline_facts
from density_study.jobs.checks.ycsb_facts import drift, ycsb_facts
from density_study.jobs.metrics.throughput import MIB
from density_study.jobs.metrics.window import window_s
from density_study.jobs.raw.file_kinds import SAMPLES, WITHOUT_NUMBERS
from density_study.jobs.spark.columns import exact_sum, of_all
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.testdfsio.setting import READS
from density_study.workloads.ycsb.warming.warmth import WARMTH

TABLE = tables.CHECKS
SHARE_TOLERANCE = 1.0  # points


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `checks`."""
    checks = _of_manifests(inputs)
    for facts in (
        _exit_codes(inputs),
        ycsb_facts(inputs),
        dfsio_facts(inputs),
        pipeline_facts(inputs),
        worst_coverage(inputs),
        _clock(inputs),
        _cpu_sum(inputs),
        processes_cpu(inputs),
        _quarantined(inputs),
        _numbers(inputs),
        drift(inputs),
        littles_law(inputs),
        client_facts(inputs),
    ):
        checks = checks.join(facts, "trial", "left")
    moves_bytes = F.col("mode") != "truncate"
    together = F.coalesce("started_together", F.lit(False))
    # a pipeline's programs run on workers, and no client feeds them
    client_cpu = F.when(F.col("workload") == "pipeline", 0.0).otherwise(F.col("client_cpu_share"))
    # at once: Spark analyses the whole query again after each step
    return checks.withColumns(
        {
            "work_share": F.coalesce("dfsio_share", "ycsb_share", "genomes_share"),
            "rate_error": F.coalesce("dfsio_rate_error", "ycsb_rate_error", "core_error"),
            "closed_loop": F.coalesce("closed_loop", F.lit(False)),
            "started_together": together,
            "client_cpu_share": client_cpu,
            "clients_cpu_share": F.when(together, client_cpu),
            "failed_operations": F.when(F.col("faulted"), 0).otherwise(F.col("failed_operations")),
            "target_share": F.col("ops_s") / F.col("target_ops_s"),
            "cluster_cpu": F.when(F.col("hosts_unseen") == 0, F.col("hosts_cpu")),
            "drift": F.when(F.col("is_even"), F.col("drift")),  # others drift on purpose
            "cold_share": _cold_share(),
            "rates_unknown": F.when(moves_bytes, _rates_unknown()).otherwise(0),
        }
    ).fillna(0, ["result_lines_quarantined", "sample_lines_quarantined"])


def _rates_unknown() -> Column:
    """Of a record that others made, null if no rate is known. One rate is enough: few keep what all need."""
    some = F.when(F.col("rates_known") > 0, 0)
    return F.when(F.col("imported"), some).otherwise(F.col("rates_unknown"))


def _of_manifests(inputs: Inputs) -> DataFrame:
    trials = inputs[tables.TRIALS]
    cold = (F.col("workload") == "testdfsio") & F.col("mode").isin(*READS)
    return trials.select(
        "trial",
        "workload",
        F.coalesce("mode", "mix").alias("mode"),
        "imported",
        "accepted",
        "given",
        "others_requests_s",
        "others_vcores",
        "regionservers_gone",
        "hosts_unseen",
        F.lit(None).cast("int").alias("daemons_gone"),
        "monitored",
        F.col("tier").isNotNull().alias("has_tier"),
        "tier",
        "tiers_in_use",
        "foreign_tiers",
        "reads_tier",
        F.when(F.col("tier") == "heap", F.col("l1_hits"))
        .otherwise(F.col("l2_hits"))
        .alias("tier_hits"),
        F.col("network").isNotNull().alias("has_network"),
        "network",
        "network_broken",
        "network_seen",
        # nothing, where HDFS's cache holds all of it
        (cold & F.coalesce(F.col("distinct_bytes_asked") > 0, F.lit(True))).alias("must_be_cold"),
        # a search rejects probes because they miss their target: this is no fault of theirs
        # nor is it a fault of a trial that breaks its cluster, or whose rate is a question of its own
        (_has_target() & _is_answer() & F.col("fault").isNull()).alias("has_target"),
        F.col("fault").isNotNull().alias("faulted"),
        (F.col("rows_acknowledged") - F.col("rows_found")).alias("lost_rows"),
        F.when(_is_answer() & _has_target(), F.col("target_ops_s")).alias("target_ops_s"),
        (F.coalesce("phase", F.lit("soak")).isin("soak") & F.col("fault").isNull()).alias(
            "is_even"
        ),
        "state",
        F.concat_ws("; ", "state_reasons").alias("state_reason"),
        window_s().alias("window_s"),
        "distinct_bytes_asked",
        "physical_read_bytes",
        (F.col("compactions") + F.col("splits")).alias("background_work"),
        *WARMTH,
        "busiest_server",
    )


def _has_target() -> Column:
    """Whether the clients are held to one rate."""
    return F.col("target_ops_s").isNotNull() & F.col("phase").isNull()


def _is_answer() -> Column:
    """Whether the trial is no probe, or the answer of its search."""
    return F.col("probe").isNull() | F.col("studied")


def _exit_codes(inputs: Inputs) -> DataFrame:
    """clients_failed: null without clients, and if the exit code of a client is unknown."""
    code = F.col("exit_code")
    known = F.count(code) == F.count(F.lit(1))
    failed = F.when(known, F.count_if(code != 0))
    return inputs[tables.CLIENTS].groupBy("trial").agg(failed.alias("clients_failed"))


def _clock(inputs: Inputs) -> DataFrame:
    """clock_periods: null if the clock of a monitored host was not measured (method 18)."""
    # the larger one: the mean of -2 s and +2 s would look like a perfect clock
    offset = F.greatest(F.abs("clock_before_s"), F.abs("clock_after_s"))
    known = F.col("clock_before_s").isNotNull() & F.col("clock_after_s").isNotNull()
    periods = F.when(known, offset / F.col("period_s"))
    return (
        inputs[tables.MONITORS].groupBy("trial").agg(of_all(F.max, periods).alias("clock_periods"))
    )


def _cpu_sum(inputs: Inputs) -> DataFrame:
    """cpu_sum_error: null if a share is missing in a sample."""
    worst = of_all(F.max, F.col("cpu_sum_error")).alias("cpu_sum_error")
    return inputs[tables.HOST_USE].groupBy("trial").agg(worst)


def _cold_share() -> Column:
    """Bytes read from disks over distinct bytes requested (method 5). Bytes read are the record's count,
    else dool's rate for the whole machine times the window."""
    asked = F.col("distinct_bytes_asked")
    # of a given cluster, dool watches the client's disks alone
    by_dool = F.when(~F.col("given"), F.col("disk_read_mib_s") * MIB * F.col("window_s"))
    read = F.coalesce("physical_read_bytes", by_dool)
    return F.when(F.col("window_s").isNotNull() & (asked > 0), read / asked)


def _quarantined(inputs: Inputs) -> DataFrame:
    kind = F.col("kind")
    sample = kind.isin(*SAMPLES)
    result = ~kind.isin(*SAMPLES, *WITHOUT_NUMBERS)
    fault = F.concat_ws(" ", "kind", F.lit("line"), "line", "reason")
    return (
        inputs[tables.QUARANTINE]
        .groupBy("trial")
        .agg(
            F.count_if(result).alias("result_lines_quarantined"),
            F.count_if(sample).alias("sample_lines_quarantined"),
            F.min(F.when(result, fault)).alias("result_quarantine"),
        )
    )


def _numbers(inputs: Inputs) -> DataFrame:
    """ops_s, disk_read_mib_s, hosts_cpu (mean over the hosts), rates_unknown, rates_known,
    numbers_out_of_range and an example of these.

    A share may leave 0 to 100 % by the tolerance of a sample's sum of shares (method 19). Concurrent maps
    are a count, not a rate."""
    value = F.col("value")
    from_disks = F.col("name") == "disk_read"
    # a partial sum would make a cold read look warm
    all_disks = F.count(F.when(from_disks, value)) == F.count_if(from_disks)
    from_hosts = (F.col("name") == "cpu_used") & F.col("scope").startswith("host:")
    hosts = F.count_if(from_hosts)
    all_hosts = (hosts > 0) & (F.count_if(from_hosts & value.isNotNull()) == hosts)
    rate = F.col("name").startswith("throughput")
    high = F.when(F.col("unit") == "percent", 100.0 + SHARE_TOLERANCE)
    low = F.when(F.col("unit") == "percent", -SHARE_TOLERANCE).otherwise(0.0)
    differences = F.col("scope").startswith("host-less-client:")  # of two monitors' figures
    bad = ((value < low) | (value > high)) & ~F.coalesce(differences, F.lit(False))
    number = F.concat_ws(" ", "name", "scope", "operation", value.cast("string"), "unit")
    return (
        inputs[tables.METRICS]
        .groupBy("trial")
        .agg(
            F.max(F.when(F.col("name") == "throughput", value)).alias("ops_s"),
            F.when(all_disks, exact_sum(F.when(from_disks, value))).alias("disk_read_mib_s"),
            F.when(all_hosts, exact_sum(F.when(from_hosts, value)) / hosts).alias("hosts_cpu"),
            F.count_if(rate & value.isNull()).alias("rates_unknown"),
            F.count_if(rate & value.isNotNull()).alias("rates_known"),
            F.count_if(bad).alias("numbers_out_of_range"),
            F.min(F.when(bad, number)).alias("number_out_of_range"),
        )
    )
