"""Where the cores' time went, second by second: `python -m jobs.cpu_series RUN` prints it.

From the monitors' start to their stop, so that what lies outside the window is seen too.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from analysis import tables
from jobs.exact import exact_sum
from jobs.run_job import Inputs, run_job
from jobs.seconds import by_second, share_of_span
from jobs.store import conform
from jobs.utilization import host_samples, machine_scope, steps_of, tick_steps

TABLE = tables.TRIAL_CPU_SERIES
INPUTS = (
    tables.TRIALS,
    tables.NODES,
    tables.MONITORS,
    tables.HOST_SAMPLES,
    tables.NODE_CPU_SAMPLES,
)
PARTS = ("user", "system", "iowait", "steal", "irq", "idle")


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `trial_cpu_series`. A second without a sample has none."""
    return conform(_hosts(inputs), TABLE).unionByName(conform(_nodes(inputs), TABLE))


def host_seconds(inputs: Inputs) -> DataFrame:
    """dool's samples cut into seconds: see `jobs.seconds.by_second`."""
    return by_second(host_samples(inputs))


def mean_of_second(name: str) -> Column:
    """Mean of a column of `host_seconds`, each sample weighted by its part of the second."""
    known = F.when(F.col(name).isNotNull(), F.col("inside_s"))
    return (exact_sum(F.col(name) * known, steps_of(name)) / exact_sum(known)).alias(name)


def _hosts(inputs: Inputs) -> DataFrame:
    means = [mean_of_second(f"cpu_{part}") for part in PARTS]
    hosts = host_seconds(inputs).groupBy("trial", "host", "second").agg(*means)
    return hosts.withColumn("scope", machine_scope())


def _nodes(inputs: Inputs) -> DataFrame:
    """Own processes, percent of all cores of their host, as `node_ticks` counts them."""
    placed = inputs[tables.NODES].select("trial", "node", "scope")
    capacity = exact_sum(F.col("inside_s")) * F.col("ticks_per_s") * F.col("cores")
    scope = F.coalesce("scope", "node").alias("scope")
    return (
        by_second(tick_steps(inputs))
        .join(placed, ["trial", "node"], "left")
        .groupBy("trial", "host", "second", scope, "ticks_per_s", "cores")
        .agg(
            *(
                (100.0 * exact_sum(F.col(f"{part}_step") * share_of_span()) / capacity).alias(
                    f"cpu_{part}"
                )
                for part in ("user", "system")
            )
        )
        .select("*", *(F.lit(None).alias(f"cpu_{part}") for part in PARTS[2:]))
    )


def main(argv: list[str] | None = None, spark: SparkSession | None = None) -> None:
    run_job(INPUTS, transform, argv, spark)


if __name__ == "__main__":
    main()
