"""Registration of Spark SQL."""

from __future__ import annotations

from density_study.workloads.base.reader import Reader
from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.sparksql.facts import facts
from density_study.workloads.sparksql.metrics import METRICS
from density_study.workloads.sparksql.output import parse_queries, query_rows
from density_study.workloads.sparksql.spec import SparkSqlSpec
from density_study.workloads.sparksql.test_case import SparkSqlTestCase
from density_study.workloads.tables import SQL_QUERIES


def _runner() -> Workload[SparkSqlTestCase]:
    from density_study.workloads.sparksql.workload import SparkSqlWorkload

    return SparkSqlWorkload()


SPARKSQL = WorkloadKind(
    name="sparksql",
    specs={"sparksql": SparkSqlSpec},
    test_case=SparkSqlTestCase,
    runner=_runner,
    title="Spark SQL",
    metrics=METRICS,
    rate="throughput_sql",
    rate_words="MiB/s of the table for each query",
    rates_title="Spark SQL throughput",
    rates_caption="Size of the table over the mean time of a query, by density.",
    parameters={"size_mib": "MiB of the table in Parquet", "files": "files of the table"},
    tables=(SQL_QUERIES,),
    readers={"sparksql-queries": Reader(parse_queries, query_rows)},
    facts=facts,
)
