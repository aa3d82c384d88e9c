"""`openmetrics`: the newest second of a run as a page for Prometheus and its like.

What is not known is left out: a monitoring system would take zero for a measurement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import CollectorRegistry, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from density_study.cluster.model.host import MIB

if TYPE_CHECKING:
    from prometheus_client.metrics_core import Metric

    from density_study.dags.run_status.progress import Progress

CONTENT_TYPE = CONTENT_TYPE_LATEST
PREFIX = "density_study"
_PERCENT = 100.0
_US_PER_S = 1e6


def openmetrics(seen: Progress) -> bytes:
    """Units are seconds, bytes and ratios from 0 to 1, as OpenMetrics wants; each line has study and run."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Run(seen))
    page: bytes = generate_latest(registry)  # type: ignore[no-untyped-call]
    return page


class _Run(Collector):
    def __init__(self, seen: Progress) -> None:
        self.seen = seen
        self.of = {"study": seen.study, "run": seen.run}

    def collect(self) -> Iterator[Metric]:
        seen = self.seen
        about = {"state": seen.state, "outcome": seen.outcome or "", "activity": seen.activity}
        about["step"] = seen.current.label if seen.current else seen.stage or ""
        info = InfoMetricFamily(f"{PREFIX}_run", "The run that is watched.", labels=[*self.of])
        info.add_metric([*self.of.values()], about)
        yield info
        yield self._gauge("run_elapsed_seconds", "Since the run was last opened.", seen.elapsed_s)
        yield self._gauge("run_remaining_seconds", "Estimate.", seen.remaining_s)
        yield self._gauge("run_steps", "Steps of the plan.", seen.total)
        yield self._gauge("run_step", "Number of the step, from 1; 0: none yet.", seen.position)
        outcomes = Counter(ended.outcome for ended in seen.ended)
        yield self._counts("run_steps_ended", "Since the run was last opened.", "outcome", outcomes)
        verdicts = Counter(look.verdict for look in seen.looks.values())
        yield self._counts("run_trials", "First looks at ended trials.", "verdict", verdicts)
        yield from self._newest()

    def _newest(self) -> Iterator[Metric]:
        newest = self.seen.newest
        if newest is None:
            return
        p99_us = newest.p99.p99_us if newest.p99 else None
        values = (
            ("trial_operations_per_second", "Rate of all clients.", newest.ops_s, 1.0),
            ("trial_p99_seconds", "Closed-loop, of the slowest client.", p99_us, 1 / _US_PER_S),
            ("hosts_cpu_used_ratio", "Mean of the hosts.", newest.cpu_used_percent, 1 / _PERCENT),
            (
                "hosts_cpu_iowait_ratio",
                "Mean of the hosts.",
                newest.cpu_iowait_percent,
                1 / _PERCENT,
            ),
            ("hosts_disk_bytes_per_second", "Read and written.", newest.disk_mib_s, float(MIB)),
        )
        for name, help_, value, factor in values:
            if value is not None:
                yield self._gauge(name, help_, value * factor)

    def _gauge(self, name: str, help_: str, value: float) -> Metric:
        gauge = GaugeMetricFamily(f"{PREFIX}_{name}", help_, labels=[*self.of])
        gauge.add_metric([*self.of.values()], value)
        return gauge

    def _counts(self, name: str, help_: str, label: str, counts: Counter[str]) -> Metric:
        gauge = GaugeMetricFamily(f"{PREFIX}_{name}", help_, labels=[*self.of, label])
        for key, count in counts.items():
            gauge.add_metric([*self.of.values(), key], count)
        return gauge
