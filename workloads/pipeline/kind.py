"""Registration of the genomics pipeline."""

from __future__ import annotations

from density_study.workloads.base.workload import Workload, WorkloadKind
from density_study.workloads.pipeline.metrics import METRICS
from density_study.workloads.pipeline.spec import PipelineSpec
from density_study.workloads.pipeline.test_case import PipelineTestCase


def _runner() -> Workload[PipelineTestCase]:
    from density_study.workloads.pipeline.workload import PipelineWorkload

    return PipelineWorkload()


PIPELINE = WorkloadKind(
    name="pipeline",
    specs={"pipeline": PipelineSpec},
    test_case=PipelineTestCase,
    runner=_runner,
    title="Genomics pipeline",
    metrics=METRICS,
    rate="throughput_genomes",
    rate_words="test genomes per hour",
    rates_title="Test genomes per hour",
    rates_caption="Genomes through all stages, on all nodes together, by density. They have the "
    "length in the panel's title: a human genome is thousands of times as long.",
    parameters={
        "reference": "synthetic, or e-coli-536",
        "bases": "length of the reference",
        "coverage": "how often the reads cover the reference",
        "genomes": "genomes of a trial",
        "concurrent": "genomes at once on each node",
        "threads": "threads of a stage's programs",
    },
)
