"""Rate of each test case per USD per hour."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from density_study.jobs.spark.run_tables import Inputs
from density_study.workloads import tables
from density_study.workloads.study.metrics import main_rates

TABLE = tables.PRICE_PERFORMANCE


def transform(inputs: Inputs) -> DataFrame:
    """Rows of `price_performance`: rate over the price of all hosts of the topology. A topology with an
    unpriced host has no row, because its price is unknown."""
    price = F.col("usd_per_hour")
    prices = (
        inputs[tables.TRIALS]
        .where("usd_per_hour > 0")
        .groupBy("topology")
        .agg(F.max("usd_per_hour").alias("usd_per_hour"))
    )
    rates = inputs[tables.TEST_CASE_METRICS].where(F.col("name").isin(*main_rates()))
    return rates.join(prices, "topology").select(
        "topology",
        "test_case",
        "name",
        "unit",
        "usd_per_hour",
        (F.col("value") / price).alias("value"),
        "n",
        F.transform("points", lambda point: point / price).alias("points"),
    )
