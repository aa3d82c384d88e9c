"""How steady each trial's rate was from second to second: `python -m jobs.steadiness RUN` prints it."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.exact import exact_sum
from jobs.run_job import Inputs, run_job
from jobs.window import windows

TABLE = tables.STEADINESS
INPUTS = (tables.TRIALS, tables.TRIAL_RATE_SERIES)


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `steadiness`: mean, standard deviation (n - 1) and their quotient.

    Over the whole seconds of the window after the warm-up (method 7), between the first and the last
    second in which something was done: those two are not whole, and what lies around them is the
    start and the end of a JVM.
    """
    rate = F.col("rate")
    mean = exact_sum(rate) / F.count(rate)
    seconds = _measured(inputs).groupBy("trial", "name", "unit")
    means = seconds.agg(F.count(rate).cast("int").alias("seconds"), mean.alias("mean"))
    squares = (
        _measured(inputs)
        .join(means.select("trial", "name", "mean"), ["trial", "name"])
        .groupBy("trial", "name")
        .agg(exact_sum((rate - F.col("mean")) * (rate - F.col("mean"))).alias("squares"))
    )
    deviation = F.when(
        F.col("seconds") > 1, F.sqrt(F.col("squares") / F.greatest(F.col("seconds") - 1, F.lit(1)))
    )
    return (
        means.join(squares, ["trial", "name"])
        .withColumn("standard_deviation", deviation)
        .withColumn(
            "coefficient_of_variation",
            F.when(F.col("mean") > 0, F.col("standard_deviation") / F.col("mean")),
        )
        .drop("squares")
    )


def _measured(inputs: Inputs) -> DataFrame:
    """trial, name, unit, second, rate of the seconds that count."""
    trials = inputs[tables.TRIALS]
    spans = windows(trials).join(trials.select("trial", "warm_up_s"), "trial")
    series = Window.partitionBy("trial", "name")
    busy = F.when(F.col("rate") > 0, F.col("second"))
    return (
        inputs[tables.TRIAL_RATE_SERIES]
        .withColumn("first", F.min(busy).over(series))
        .withColumn("last", F.max(busy).over(series))
        .where("second > first AND second < last")
        .join(spans, "trial")
        .where("second >= warm_up_s AND second + 1 <= window_s")
        .select("trial", "name", "unit", "second", "rate")
    )


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
