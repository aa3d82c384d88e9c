"""Registration of the genomics pipeline."""

from __future__ import annotations

from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.pipeline.setting import PipelineSetting
from density_study.workloads.pipeline.spec import PipelineSpec


def _runner() -> Workload[PipelineSetting]:
    from density_study.workloads.pipeline.workload import PipelineWorkload

    return PipelineWorkload()


PIPELINE = WorkloadKind(
    name="pipeline",
    specs={"pipeline": PipelineSpec},
    setting=PipelineSetting,
    runner=_runner,
    rate="throughput_genomes",
    rate_unit="genomes/h",
    rate_words="test genomes per hour",
)
