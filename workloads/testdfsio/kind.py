"""Registration of TestDFSIO."""

from __future__ import annotations

from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.testdfsio.given import GivenDfsio
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
    rate="throughput_map_phase",
    rate_unit="MiB/s",
    rate_words="MiB/s over the map phase",
    given=GivenDfsio,
)
