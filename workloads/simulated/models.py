"""The models of the workloads that can be rehearsed."""

from __future__ import annotations

from collections.abc import Mapping

from density_study.cluster.model.errors import InputError
from density_study.workloads.base.setting import Setting
from density_study.workloads.simulated.dfsio_model import DfsioModel
from density_study.workloads.simulated.outcome import Model
from density_study.workloads.simulated.ycsb_model import YcsbModel

_MODELS: Mapping[str, Model] = {"testdfsio": DfsioModel(), "ycsb": YcsbModel()}


def model_of(setting: Setting) -> Model:
    """InputError if nothing models the workload."""
    if setting.workload not in _MODELS:
        raise InputError(
            f"{setting.id}: the workload {setting.workload} cannot be rehearsed.",
            "workloads",
            "leave these settings out: study rehearse SPEC --only 'GLOB'.",
        )
    return _MODELS[setting.workload]
