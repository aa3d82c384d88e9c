"""The TeraSort trial: make the rows, empty the caches, sort them by one job, and verify the order."""

from __future__ import annotations

from collections.abc import Sequence

from density_study.cluster.clients.client_commands import hadoop_command
from density_study.cluster.clients.hdfs import Hdfs
from density_study.cluster.model.transport import Command
from density_study.cluster.providers.provider import remote_path
from density_study.cluster.stack import ensure
from density_study.workloads.base.client_run import require_success, run_client
from density_study.workloads.base.cold import cold_proof, made_cold
from density_study.workloads.base.parsing import ParseError
from density_study.workloads.base.values import ClientRun
from density_study.workloads.base.workload import Collected, Prepared, TrialContext
from density_study.workloads.terasort.job import (
    generate_arguments,
    sort_arguments,
    validate_arguments,
)
from density_study.workloads.terasort.test_case import STACK, TeraSortTestCase
from density_study.workloads.terasort.validation import order_faults, parse_validation
from density_study.workloads.testdfsio.output.history import JobHistory, parse_history

RUN_JAR = "org.apache.hadoop.util.RunJar"
GENERATED = "teragen.jhist"


class TeraSortWorkload:
    """One sort per trial. The input stays for the trials of the same build; the output does not."""

    def prepare(self, context: TrialContext, test_case: TeraSortTestCase) -> Prepared:
        hdfs, folder = Hdfs(context.cluster), _Folder(context, test_case)
        hdfs.delete(folder.sorted)
        hdfs.delete(folder.report)
        if not folder.is_complete(hdfs, test_case):
            _generate(context, test_case, hdfs, folder)
        hdfs.clear_histories()
        return made_cold(context, float(test_case.size_mib))

    def run(self, context: TrialContext, test_case: TeraSortTestCase) -> tuple[ClientRun, ...]:
        topology, folder = context.cluster.topology, _Folder(context, test_case)
        arguments = sort_arguments(test_case, topology, folder.rows, folder.sorted)
        command = _command(context, "terasort", arguments)
        return (run_client(context, command, test_case.job_limit_on(topology)),)

    def collect(
        self, context: TrialContext, test_case: TeraSortTestCase, prepared: Prepared
    ) -> Collected:
        hdfs, folder = Hdfs(context.cluster), _Folder(context, test_case)
        cold = cold_proof(context, prepared, test_case.asked_bytes)
        histories = hdfs.fetch_histories(context.record.raw / "history")
        faults = [] if histories else ["the job left no history: its times are unknown"]
        faults += _order_faults(context, test_case, hdfs, folder)
        hdfs.delete(folder.sorted)
        hdfs.delete(folder.report)
        return Collected(faults=tuple(faults), cold=cold)


class _Folder:
    """A data set on HDFS: its rows, the history of the job that made them, and what becomes of them."""

    def __init__(self, context: TrialContext, test_case: TeraSortTestCase) -> None:
        base = f"{Hdfs(context.cluster).benchmarks}/{test_case.data_set}"
        self.rows, self.sorted, self.report = (
            f"{base}/{name}" for name in ("rows", "sorted", "report")
        )
        self.history = f"{base}/{GENERATED}"

    def is_complete(self, hdfs: Hdfs, test_case: TeraSortTestCase) -> bool:
        """Whether the rows are there in full, and the history that has their checksum."""
        stored = hdfs.statuses(self.rows)
        whole = sum(one.size_bytes for one in stored) == test_case.asked_bytes
        return whole and bool(hdfs.glob(self.history))


def _generate(
    context: TrialContext, test_case: TeraSortTestCase, hdfs: Hdfs, folder: _Folder
) -> None:
    """Make the rows, unmeasured, and keep the history of the job beside them."""
    hdfs.delete(folder.rows)
    hdfs.delete(folder.history)
    hdfs.clear_histories()
    arguments = generate_arguments(test_case, context.cluster.topology, folder.rows)
    _run_unmeasured(context, test_case, "teragen", arguments, "making the rows")
    for history in hdfs.job_histories():
        kept = context.record.root / "logs" / GENERATED
        hdfs.fetch(history, kept)
        hdfs.put(kept, folder.history)


def _order_faults(
    context: TrialContext, test_case: TeraSortTestCase, hdfs: Hdfs, folder: _Folder
) -> list[str]:
    """What TeraValidate finds in the output, which it may not have."""
    if not hdfs.glob(f"{folder.sorted}/_SUCCESS"):
        return ["TeraSort left no finished output: the job failed"]
    arguments = validate_arguments(context.cluster.topology, folder.sorted, folder.report)
    _run_unmeasured(context, test_case, "teravalidate", arguments, "verifying the order")
    raw, made = context.record.raw, context.record.root / "logs" / GENERATED
    hdfs.fetch(f"{folder.report}/part-r-00000", raw / "teravalidate" / "part-r-00000")
    hdfs.fetch(folder.history, made)
    try:
        report = parse_validation(
            (raw / "teravalidate" / "part-r-00000").read_bytes(), "part-r-00000"
        )
        jobs = parse_history(made.read_bytes(), made.name).rows
    except ParseError as error:
        return [str(error)]
    generated = jobs[0] if jobs else JobHistory("", "", 0)
    return list(order_faults(report, generated))


def _run_unmeasured(
    context: TrialContext,
    test_case: TeraSortTestCase,
    name: str,
    arguments: Sequence[str],
    what: str,
) -> None:
    limit_s = test_case.job_limit_on(context.cluster.topology)
    run = run_client(context, _command(context, name, arguments), limit_s, folder="logs")
    require_success(context, run, what)


def _command(context: TrialContext, name: str, arguments: Sequence[str]) -> Command:
    (jar,) = (ensure(STACK).home / "lib").glob("*.jar")
    there = remote_path(context.cluster.topology, jar)
    return hadoop_command(context.cluster, name, RUN_JAR, (there, *arguments))
