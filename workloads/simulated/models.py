"""The models of the workloads that can be rehearsed."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.workloads.base.test_case import TestCase
from density_study.workloads.simulated.dfsio_model import DfsioModel
from density_study.workloads.simulated.outcome import Model
from density_study.workloads.simulated.ycsb_model import YcsbModel

_MODELS: Mapping[str, Model] = {"testdfsio": DfsioModel(), "ycsb": YcsbModel()}


def model_of(test_case: TestCase) -> Model:
    """For a test case that `not_modelled` says nothing of."""
    return _MODELS[test_case.workload]


def not_modelled(test_case: TestCase) -> str:
    """Why the test case cannot be rehearsed; empty if it can."""
    if test_case.workload not in _MODELS:
        return f"the workload {test_case.workload} cannot be rehearsed."
    return model_of(test_case).not_modelled(test_case)
