"""The program that spark-submit runs: it makes the table, or answers the queries and writes their times."""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.functions import count, expr, lit
from pyspark.sql.functions import sum as total_of

from density_study.workloads.sparksql.queries import BLOCK, COLUMNS, FIELDS, QUERIES, Answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", help="URI of the table's folder")
    parser.add_argument("--make", type=int, metavar="ROWS")
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--result", type=Path)
    given = parser.parse_args()
    spark = SparkSession.builder.getOrCreate()
    if given.make:
        rows = spark.range(0, given.make, 1, given.files).selectExpr(*COLUMNS)
        rows.write.mode("overwrite").option("compression", "uncompressed").parquet(given.table)
    else:
        spark.read.parquet(given.table).createOrReplaceTempView("t")
        with given.result.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(FIELDS)
            for name, query in QUERIES.items():
                start_epoch_s, start_s = time.time(), time.perf_counter()
                answer = answered(spark.sql(query.sql))
                seconds = time.perf_counter() - start_s
                writer.writerow(
                    (name, f"{start_epoch_s:.3f}", f"{time.time():.3f}", f"{seconds:.6f}",
                     answer.rows, answer.total)
                )  # fmt: skip
    spark.stop()


def answered(query: DataFrame) -> Answer:
    """Carries out a query. A result of many rows is counted where it is made, and goes nowhere."""
    if query.columns == ["rows", "total"]:
        (row,) = query.collect()
        return Answer(row["rows"], row["total"])
    seen = Observation()
    counted = query.observe(seen, count(lit(1)).alias("rows"), total_of(expr(BLOCK)).alias("total"))
    counted.write.format("noop").mode("overwrite").save()
    return Answer(seen.get["rows"], seen.get["total"])


if __name__ == "__main__":
    main()
