"""Registration of TestDFSIO."""

from __future__ import annotations

from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.testdfsio.imported import ImportedDfsio
from density_study.workloads.testdfsio.metrics import METRICS
from density_study.workloads.testdfsio.spec import DfsioSpec
from density_study.workloads.testdfsio.test_case import DfsioTestCase


def _runner() -> Workload[DfsioTestCase]:
    from density_study.workloads.testdfsio.workload import DfsioWorkload

    return DfsioWorkload()


TESTDFSIO = WorkloadKind(
    name="testdfsio",
    specs={"testdfsio": DfsioSpec},
    test_case=DfsioTestCase,
    runner=_runner,
    title="TestDFSIO",
    metrics=METRICS,
    rate="throughput_map_phase",
    rate_words="MiB/s over the map phase",
    rates_title="TestDFSIO throughput",
    rates_caption="Three rates of the same jobs: over the map phase (all streams together, without YARN's "
    "start-up), of one stream, and over the whole job.",
    parameters={
        "files": "files, each read by one map",
        "file_size_mib": "MiB per file; null: not recorded",
        "readers": "limit of concurrent maps; null: as many as fit",
    },
    imported=ImportedDfsio,
)
