"""The models of the workloads that can be rehearsed."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.simulated.dfsio_model import DfsioModel
from density_study.workloads.simulated.outcome import Model
from density_study.workloads.simulated.ycsb_model import YcsbModel

_MODELS: Mapping[str, Model] = {"testdfsio": DfsioModel(), "ycsb": YcsbModel()}


def model_of(test_case: TestCase) -> Model:
    """InputError if nothing models the workload."""
    if test_case.workload not in _MODELS:
        raise InputError(
            f"{test_case.id}: the workload {test_case.workload} cannot be rehearsed.",
            "workloads",
            "leave these test cases out: study rehearse SPEC --only 'GLOB'.",
        )
    return _MODELS[test_case.workload]
