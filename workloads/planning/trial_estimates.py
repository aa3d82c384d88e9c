"""Estimated durations of the trials of a build, which a run replaces by what it observes. Pure."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from density_study.cluster.model.topology import AnyTopology
from density_study.workloads.base.search import stretch_after
from density_study.workloads.base.test_case import TestCase
from density_study.workloads.planning.trial_order import PlannedTrial


class Estimates:
    """Estimates of the trials of one build. Call it in their order: a trial does not load or warm up what an
    earlier one did. `copied`: data of which earlier builds left a copy; this build adds its own. `lost`: data
    that could not be copied."""

    def __init__(self, topology: AnyTopology, copied: set[str], lost: Collection[str] = ()) -> None:
        self._topology = topology
        self._copied = copied
        self._lost = lost
        self._is_warmed_up = topology.store.compiled
        self._earlier: list[TestCase] = []
        self._warmed: set[Hashable] = set()

    def of(self, trial: PlannedTrial) -> float:
        """Seconds. For a probe the longest: as if all probes before it were rejected."""
        test_case, longer = trial.test_case, 0.0
        if test_case.sought is not None and trial.probe is not None:
            longer = (stretch_after(trial.probe - 1) - 1) * test_case.sought.duration_s
        prepared_s = self._prepare_s(test_case)
        self._earlier.append(test_case)
        return (
            test_case.estimate_on(self._topology) + longer + prepared_s + self._warm_up_s(test_case)
        )

    def _prepare_s(self, test_case: TestCase) -> float:
        """To bring its data into the state from which trials start: loading, if no earlier trial of the build
        does it also for this one and for compactions."""
        data = test_case.prepared
        if data is None:
            return 0.0
        if not test_case.is_prepared_once(self._topology):
            return test_case.prepare_estimate_s(self._topology, is_written=False)
        if any(one.prepared == data for one in self._earlier):
            return 0.0
        is_written = any(one.writes_for(test_case) for one in self._earlier)
        copied = test_case.copied_on(self._topology)
        has_copy = copied in self._copied
        if copied and copied not in self._lost:
            self._copied.add(copied)
        return test_case.prepare_estimate_s(self._topology, is_written, has_copy)

    def _warm_up_s(self, test_case: TestCase) -> float:
        if not self._is_warmed_up or test_case.warmed is None or test_case.warmed in self._warmed:
            return 0.0
        self._warmed.add(test_case.warmed)
        return test_case.warm_up_estimate_s(self._topology.jit)
