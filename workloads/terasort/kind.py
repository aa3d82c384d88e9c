"""Registration of TeraSort."""

from __future__ import annotations

from density_study.workloads.base.reader import Reader
from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.tables import TERASORT_JOBS
from density_study.workloads.terasort.facts import facts
from density_study.workloads.terasort.metrics import METRICS
from density_study.workloads.terasort.spec import TeraSortSpec
from density_study.workloads.terasort.tables import job_rows
from density_study.workloads.terasort.test_case import TeraSortTestCase
from density_study.workloads.testdfsio.output.history import parse_history


def _runner() -> Workload[TeraSortTestCase]:
    from density_study.workloads.terasort.workload import TeraSortWorkload

    return TeraSortWorkload()


TERASORT = WorkloadKind(
    name="terasort",
    specs={"terasort": TeraSortSpec},
    test_case=TeraSortTestCase,
    runner=_runner,
    title="TeraSort",
    metrics=METRICS,
    rate="throughput_sort",
    rate_words="MiB/s over the whole job",
    rates_title="TeraSort throughput",
    rates_caption="Sorted data over the time of the whole job, with YARN's start-up, by density.",
    parameters={
        "size_mib": "MiB of rows of 100 bytes",
        "files": "files of the input",
        "reduces": "reduce tasks of the sort",
        "output_copies": "replicas of the sorted files",
    },
    tables=(TERASORT_JOBS,),
    readers={"terasort-history": Reader(parse_history, job_rows)},
    facts=facts,
)
