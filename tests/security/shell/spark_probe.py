"""A program that starts Spark, writes a table below the folder RUN, and says what it sees, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from unittest.mock import patch

import psutil
from pyspark.sql import functions as F  # noqa: N812

from density_study.jobs.spark import run_tables
from density_study.jobs.spark.run_tables import RunTables, struct
from density_study.jobs.spark.session import spark_session
from density_study.workloads import tables
from density_study.workloads.tables.store import table_path

run = Path(sys.argv[1])
run.mkdir()
table = tables.TRIAL_RATE_SERIES
spark = spark_session()
frame = spark.range(1000)
for field in struct(table):
    frame = frame.withColumn(field.name, F.col("id").cast(field.dataType))
# not `as_uri`: Hadoop would take each %20 literally
frame.write.parquet(f"file://{table_path(run.absolute(), table)}")
with patch.object(run_tables, "LOCAL_BYTES", -1):  # by Spark's own reader
    rows = RunTables(spark, run)[table].count()
family = [
    process
    for process in (psutil.Process(), *psutil.Process().children(recursive=True))
    if process.status() != psutil.STATUS_ZOMBIE
]
listening = [
    connection.laddr.ip
    for process in family
    for connection in process.net_connections("inet")
    if connection.status == psutil.CONN_LISTEN
]
conf = spark.sparkContext.getConf()
hadoop = spark.sparkContext._jsc.hadoopConfiguration()
print(
    json.dumps(
        {
            "rows": rows,
            "default": hadoop.get("fs.defaultFS"),
            "authenticate": conf.get("spark.authenticate"),
            "command": " ".join(" ".join(process.cmdline()) for process in family),
            "listeners": listening,
            "scratch": conf.get("spark.local.dir"),
        }
    )
)
