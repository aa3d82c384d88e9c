"""Registration of TestDFSIO."""

from __future__ import annotations

from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.testdfsio.given import GivenDfsio
from density_study.workloads.testdfsio.metrics import METRICS
from density_study.workloads.testdfsio.setting import DfsioSetting
from density_study.workloads.testdfsio.spec import DfsioSpec


def _runner() -> Workload[DfsioSetting]:
    from density_study.workloads.testdfsio.workload import DfsioWorkload

    return DfsioWorkload()


TESTDFSIO = WorkloadKind(
    name="testdfsio",
    specs={"testdfsio": DfsioSpec},
    setting=DfsioSetting,
    runner=_runner,
    title="TestDFSIO",
    metrics=METRICS,
    rate="throughput_map_phase",
    rate_words="MiB/s over the map phase",
    rates_title="TestDFSIO throughput",
    rates_caption="Three rates of the same jobs: over the map phase (all streams together, without YARN's "
    "start-up), of one stream, and over the whole job.",
    given=GivenDfsio,
)
