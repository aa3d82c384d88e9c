"""Duration of bring-up, by topology."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.jobs.spark.columns import exact_sum
from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads import tables

TABLE = tables.BRING_UP_TIMES


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `bring_up_times`: medians over the builds. Phases overlap, so their sum is not the duration;
    the phase `total` is."""
    repetitions = inputs[tables.TRIALS].select("build", "repetition").distinct()
    seconds = (
        inputs[tables.BRING_UP]
        .join(repetitions, "build")
        .groupBy("topology", "phase", "repetition", "build")
        .agg(exact_sum(F.col("seconds")).alias("seconds"), F.min("position").alias("position"))
    )
    points = F.array_sort(F.collect_list(F.struct("repetition", "build", "seconds")))
    return seconds.groupBy("topology", "phase").agg(
        F.max("position").alias("position"),
        F.median("seconds").alias("value_s"),
        F.count(F.lit(1)).alias("n"),
        F.transform(points, lambda point: point["seconds"]).alias("points_s"),
    )
