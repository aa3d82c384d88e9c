"""What a study will request of an existing cluster, by kind: its plan is a dry run. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from density_study.cluster.model.topology import ExistingTopology
from density_study.workloads.planning.plan import Plan, Step
from density_study.workloads.terasort.test_case import TeraSortTestCase
from density_study.workloads.testdfsio.modes import READS, WRITES
from density_study.workloads.testdfsio.test_case import DfsioTestCase
from density_study.workloads.ycsb.test_case import YcsbTestCase


@dataclass(frozen=True)
class Requests:
    """`to`: the service. `what`: the kind, with the right that it needs in the service's own words."""

    to: str
    what: str
    count: str

    def __str__(self) -> str:
        return f"{self.to}: {self.what}, {self.count}"


def requests_of(plan: Plan) -> tuple[Requests, ...]:
    """For all existing clusters in the plan together; empty if it builds its own, or is of another store."""
    others = {
        name for name, one in plan.topologies.items()
        if isinstance(one, ExistingTopology) and one.existing.endpoint is None
    }  # fmt: skip
    builds = sum(name in others for name in plan.builds.values())
    trials = [step for step in plan.trials if plan.builds[step.build] in others]
    of_trials = (*_of_jobs(trials), *_of_sorts(trials), *_of_tables(trials))
    return (*_of_builds(builds, plan), *of_trials) if builds else ()


def _of_builds(builds: int, plan: Plan) -> Iterator[Requests]:
    (existing, *_) = (one.existing for one in plan.topologies.values() if one.existing)
    yield Requests(
        "HDFS", f"make {existing.folder} (WRITE on its parent), and delete it", f"{builds} times"
    )
    namespace = f"create namespace {existing.namespace} (ADMIN), write a row, and drop it"
    yield Requests("HBase", namespace, f"{builds} times")
    watch = "counters of NameNode, ResourceManager and RegionServers over HTTP"
    limits = existing.limits
    busy = limits.others_p99_ms is not None or limits.hdfs_free_percent is not None
    yield Requests("web servers", watch, "around each trial" + ", and every 5 s meanwhile" * busy)
    if existing.prometheus is not None:
        yield Requests("Prometheus", "what exporters counted", "once before, and after each trial")


def _of_jobs(trials: list[Step]) -> Iterator[Requests]:
    jobs = [step.test_case for step in trials if isinstance(step.test_case, DfsioTestCase)]
    if not jobs:
        return
    unwritten = sum(job.mode not in WRITES for job in jobs)
    maps = max(job.files for job in jobs)
    most = (
        f"{len(jobs)} jobs of at most {maps} maps"
        + f", up to {unwritten} more that write their files" * bool(unwritten)
    )
    yield Requests("YARN", "submit to the queue (SUBMIT_APPLICATIONS)", most)
    for verb, modes in (("written", WRITES), ("read", READS)):
        mib = sum(job.data_mib for job in jobs if job.mode in modes)
        if mib:
            yield Requests("HDFS", f"files of TestDFSIO {verb}", f"{mib:,.0f} MiB")


def _of_sorts(trials: list[Step]) -> Iterator[Requests]:
    sorts = [step.test_case for step in trials if isinstance(step.test_case, TeraSortTestCase)]
    if sorts:
        tasks = max(max(one.files, one.reduces) for one in sorts)
        jobs = f"{3 * len(sorts)} jobs, to make, sort and verify rows, of at least {tasks} tasks"
        yield Requests("YARN", "submit to the queue (SUBMIT_APPLICATIONS)", jobs)
        mib = sum(one.size_mib * (1 + one.output_copies) for one in sorts)
        yield Requests("HDFS", "files of TeraSort written", f"up to {mib:,.0f} MiB")


def _of_tables(trials: list[Step]) -> Iterator[Requests]:
    runs = [step.test_case for step in trials if isinstance(step.test_case, YcsbTestCase)]
    if not runs:
        return
    loads = sum(run.is_load for run in runs)
    timed = [run for run in runs if not run.is_load]
    yield Requests(
        "HBase", "create a table (CREATE) and load it", f"{loads} times and once for each build"
    )
    if timed:
        own = "flush, compact, snapshot and restore the study's table (ADMIN)"
        yield Requests("HBase", own, f"{len(timed)} times at most")
    for run in dict.fromkeys(run.model_copy(update={"warm_up_threads": None}) for run in runs):
        rate = "as fast as it answers" if run.target_ops_s is None else f"{run.target_ops_s:g}/s"
        length = f"{run.records:,} rows" if run.duration_s is None else f"{run.duration_s:g} s"
        operations = " and ".join(name for name, share in run.mix_facts.shares.items() if share)
        yield Requests(
            "HBase", f"{operations} (READ, WRITE) of {run.mode_name}", f"{rate} for {length}"
        )
