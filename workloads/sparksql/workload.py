"""The Spark SQL trial: make the table, empty the caches, answer its queries by one application."""

from __future__ import annotations

from pathlib import Path

from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.clients.spark_on_yarn import spark_submit
from density_study.cluster.model.transport import Command
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.cold import cold_proof, made_cold
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.sparksql.output import answer_faults, parse_queries
from density_study.workloads.sparksql.test_case import RESULT, SparkSqlTestCase

PROGRAM = Path(__file__).with_name("program.py")
"""Named by its path, because it imports Spark and nothing may import it."""

_SETTINGS = {
    # a small table would be sent to every executor, and a large one not: the join is the same at every size
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1",
}


class SparkSqlWorkload:
    """The table stays for the trials of the same build."""

    def prepare(self, context: TrialContext, test_case: SparkSqlTestCase) -> Prepared:
        hdfs, table = Hdfs(context.cluster), _table(context, test_case)
        if not hdfs.glob(f"{table}/_SUCCESS"):
            rows = ("--make", str(test_case.rows), "--files", str(test_case.files))
            command = _command(context, test_case, "sparksql-make", "logs", rows)
            limit_s = test_case.job_limit_on(context.cluster.topology)
            run = run_client(context, command, limit_s, folder="logs")
            require_success(context, run, "making the table")
        return made_cold(context, float(test_case.size_mib))

    def run(self, context: TrialContext, test_case: SparkSqlTestCase) -> tuple[ClientRun, ...]:
        result = ("--result", str(context.at(context.record.raw / RESULT)))
        command = _command(context, test_case, "sparksql", "raw", result)
        limit_s = test_case.job_limit_on(context.cluster.topology)
        return (run_client(context, command, limit_s),)

    def collect(
        self, context: TrialContext, test_case: SparkSqlTestCase, prepared: Prepared
    ) -> Collected:
        stored = Hdfs(context.cluster).statuses(_table(context, test_case))
        # the sort reads every column
        cold = cold_proof(context, prepared, sum(one.size_bytes for one in stored))
        written = context.record.raw / RESULT
        try:
            found = parse_queries(written.read_bytes(), RESULT)
        except (OSError, ParseError) as error:
            return Collected(faults=(f"the queries have no answers: {error}",), cold=cold)
        return Collected(faults=tuple(answer_faults(found, test_case.rows)), cold=cold)


def _table(context: TrialContext, test_case: SparkSqlTestCase) -> str:
    """Its folder."""
    return f"{Hdfs(context.cluster).benchmarks}/{test_case.id}"


def _command(
    context: TrialContext,
    test_case: SparkSqlTestCase,
    name: str,
    folder: str,
    arguments: tuple[str, ...],
) -> Command:
    cluster = context.cluster
    events = context.record.root / folder
    partitions = str(test_case.partitions_on(cluster.topology))
    settings = {**_SETTINGS, "spark.sql.shuffle.partitions": partitions}
    submit, env = spark_submit(cluster, context.transport, events, settings)
    uri = f"hdfs://{cluster.endpoints.one('namenode.rpc')}{_table(context, test_case)}"
    return Command(name, (*submit, str(PROGRAM), uri, *arguments), env)
