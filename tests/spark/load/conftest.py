"""One analysed run with the trials of several test modules: nearly all time of an analysis is per run."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from density_study.jobs import pipeline
from tests.spark.conftest import Analysed
from tests.spark.load.fault_trials import fault_trials
from tests.spark.load.phase_trials import phase_trials
from tests.spark.load.tier_trials import tier_trials
from tests.support.records.factory import RUN, RunFactory


@pytest.fixture(scope="package")
def loads(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Analysed:
    factory = RunFactory(tmp_path_factory.mktemp("runs") / "quickstart" / RUN)
    truths = fault_trials(factory) | tier_trials(factory) | phase_trials(factory)
    root = factory.close()
    pipeline.analyse(root)
    return Analysed(root, truths)
