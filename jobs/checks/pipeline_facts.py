"""Whether a pipeline did all of its work, and whether both counts of its CPU time agree."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.analysis import tables
from density_study.jobs.metrics.pipeline_stages import genomes_done
from density_study.jobs.spark.columns import exact_sum, of_all, relative_error
from density_study.jobs.spark.run_tables import Inputs


def pipeline_facts(inputs: Inputs) -> DataFrame:
    """trial, genomes_share; core_error: CPU time of all stages of a node, summed, against the kernel's own
    sum over all ended programs, on the node where they differ most."""
    trials = inputs[tables.TRIALS].where("workload = 'pipeline'").select("trial", "genomes")
    nodes = (
        inputs[tables.PIPELINE_STAGES]
        .groupBy("trial", "client")
        .agg(exact_sum(F.col("core_s")).alias("core_s"), F.max("reaped_core_s").alias("reaped_s"))
    )
    error = relative_error(F.col("core_s"), F.col("reaped_s"))
    errors = nodes.groupBy("trial").agg(of_all(F.max, error).alias("core_error"))
    return (
        trials.join(genomes_done(inputs), "trial", "left")
        .join(errors, "trial", "left")
        .select("trial", (F.col("done") / F.col("genomes")).alias("genomes_share"), "core_error")
    )
