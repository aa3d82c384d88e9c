"""Estimated durations of the trials of a build, which a run replaces by what it observes. Pure."""

from __future__ import annotations

from collections.abc import Hashable

from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.search import stretch_after
from density_study.workloads.base.setting import Setting
from density_study.workloads.planning.trial_order import PlannedTrial


class Estimates:
    """Of one build, asked in the order of its trials: what one wrote or warmed up costs others nothing."""

    def __init__(self, topology: AnyTopology) -> None:
        self._topology = topology
        self._is_warmed_up = topology.store.compiled
        self._earlier: list[Setting] = []
        self._warmed: set[Hashable] = set()

    def of(self, trial: PlannedTrial) -> float:
        """Seconds. Of a probe the longest: as if all probes before it were rejected."""
        setting, longer = trial.setting, 0.0
        if setting.sought is not None and trial.probe is not None:
            longer = (stretch_after(trial.probe - 1) - 1) * setting.sought.duration_s
        prepared_s = self._prepare_s(setting)
        self._earlier.append(setting)
        return setting.estimate_s + longer + prepared_s + self._warm_up_s(setting)

    def _prepare_s(self, setting: Setting) -> float:
        """To bring its data into the state from which trials start: loading, if no earlier trial of the build
        does it for this one, too, and compactions."""
        data = setting.prepared
        if data is None:
            return 0.0
        if not setting.is_prepared_once(self._topology):
            return setting.prepare_estimate_s(self._topology, is_written=False)
        if any(one.prepared == data for one in self._earlier):
            return 0.0
        is_written = any(one.writes_for(setting) for one in self._earlier)
        return setting.prepare_estimate_s(self._topology, is_written)

    def _warm_up_s(self, setting: Setting) -> float:
        if not self._is_warmed_up or setting.warmed is None or setting.warmed in self._warmed:
            return 0.0
        self._warmed.add(setting.warmed)
        return setting.warm_up_estimate_s(self._topology.jit)
