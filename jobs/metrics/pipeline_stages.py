"""What the stages of a genomics pipeline cost for one genome, how right they were, and the trial's rate.

Joint genotyping and the load of variants run once for all genomes of a node: each of them has an equal share
of it. Variant importance has samples of its own: its numbers are those of the whole stage.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.metric_rows import metric_rows
from density_study.jobs.metrics.window import window_s
from density_study.jobs.spark.columns import exact_sum, of_all
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads.pipeline.machine.files import CALL, IMPORTANCE, LOAD

TABLE = tables.METRICS
MIB = 2.0**20


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `metrics`: throughput_genomes of each trial; stage_* of each stage, scope stage:<name>, means
    per genome and the largest memory; recall and precision of each calling stage over all its genomes;
    load_rate of one node's loader."""
    rate = metric_rows(_rates(inputs), {"throughput_genomes": ("genomes/h", F.col("genomes_h"))})
    per_genome = {
        "stage_core": ("s", F.col("core_s")),
        "stage_core_per_base": ("ns", 1e9 * F.col("core_s") / F.col("read_bases")),
        "stage_time": ("s", F.col("stage_s")),
        "stage_memory": ("MiB", F.col("peak_kib") / 1024.0),
        "stage_read": ("MiB", F.col("read_bytes") / MIB),
        "stage_write": ("MiB", F.col("written_bytes") / MIB),
        "stage_tasks": ("tasks", F.col("tasks")),
    }
    answers = {
        "recall": ("percent", _percent(F.col("found"), F.col("planted"))),
        "precision": ("percent", _percent(F.col("found"), F.col("called"))),
    }
    stages = metric_rows(_stages(inputs), per_genome)
    loads = metric_rows(_loads(inputs), {"load_rate": ("variants/s", F.col("variants_s"))})
    checked = metric_rows(_answers(inputs), answers)
    return rate.unionByName(stages).unionByName(checked).unionByName(loads)


def genomes_done(inputs: Inputs) -> DataFrame:
    """trial, done: genomes whose stages all succeeded. CALL is the last of a genome alone."""
    last = (F.col("stage") == CALL) & (F.col("exit_code") == 0)
    return inputs[tables.PIPELINE_STAGES].groupBy("trial").agg(F.count_if(last).alias("done"))


def _trials(inputs: Inputs) -> DataFrame:
    return inputs[tables.TRIALS].where("workload = 'pipeline'")


def _rates(inputs: Inputs) -> DataFrame:
    """trial, genomes_h; null without stages."""
    trials = _trials(inputs).select("trial", window_s().alias("window_s"))
    genomes_h = F.col("done") * 3600.0 / F.col("window_s")
    return (
        trials.where("window_s IS NOT NULL")
        .join(genomes_done(inputs), "trial", "left")
        .select("trial", genomes_h.alias("genomes_h"))
    )


def _stages(inputs: Inputs) -> DataFrame:
    """trial, scope, and of one genome: core_s, stage_s, peak_kib, read_bytes, written_bytes, tasks,
    read_bases."""
    sizes = _trials(inputs).select(
        "trial", "genomes", (F.col("bases") * F.col("coverage")).alias("read_bases")
    )
    rows = inputs[tables.PIPELINE_STAGES].where("exit_code = 0").join(sizes, "trial")
    apart = F.col("stage") == IMPORTANCE
    rows = rows.withColumn("genomes", F.when(apart, 1).otherwise(F.col("genomes")))
    rows = rows.withColumn("read_bases", F.when(~apart, F.col("read_bases")))
    seconds = F.col("end_epoch_s") - F.col("start_epoch_s")

    def each(value: Column) -> Column:
        """Over all genomes of the trial, those of a cohort included; null if a value is not known."""
        return of_all(exact_sum, value.cast("double")) / F.max("genomes")

    return rows.groupBy("trial", F.concat(F.lit("stage:"), "stage").alias("scope")).agg(
        each(F.col("core_s")).alias("core_s"),
        each(seconds).alias("stage_s"),
        F.max("peak_kib").alias("peak_kib"),
        each(F.col("read_bytes")).alias("read_bytes"),
        each(F.col("written_bytes")).alias("written_bytes"),
        each(F.col("tasks")).alias("tasks"),
        F.max("read_bases").alias("read_bases"),
    )


def _answers(inputs: Inputs) -> DataFrame:
    """trial, scope, planted, called, found."""
    scope = F.concat(F.lit("stage:"), "stage").alias("scope")
    counts = [F.sum(name).alias(name) for name in ("planted", "called", "found")]
    rows = inputs[tables.PIPELINE_ANSWERS].where(F.col("stage") != LOAD)
    return rows.groupBy("trial", scope).agg(*counts)


def _loads(inputs: Inputs) -> DataFrame:
    """trial, scope, variants_s: variants that are in the store as they were called, over the time of their
    nodes' loads."""
    seconds = F.col("end_epoch_s") - F.col("start_epoch_s")
    loads = inputs[tables.PIPELINE_STAGES].where(
        (F.col("stage") == LOAD) & (F.col("exit_code") == 0)
    )
    stored = inputs[tables.PIPELINE_ANSWERS].where(F.col("stage") == LOAD)
    return (
        loads.select("trial", "node", seconds.alias("load_s"))
        .join(stored.select("trial", "node", "found"), ["trial", "node"])
        .groupBy("trial")
        .agg((F.sum("found") / exact_sum(F.col("load_s"))).alias("variants_s"))
        .withColumn("scope", F.lit(f"stage:{LOAD}"))
    )


def _percent(part: Column, whole: Column) -> Column:
    return F.when(whole > 0, 100.0 * part / whole)
