"""`first_look`: what the files of one closed record show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.validity.judge import judge
from density_study.cluster.model.errors import StudyError
from density_study.cluster.state.plain_file import why_unread
from density_study.jobs.facts.trial import trial_facts
from density_study.workloads.base.rows import Row, if_all
from density_study.workloads.base.search import Probe
from density_study.workloads.monitors.facts import host_used, machines, measured_hosts
from density_study.workloads.record.record import read_manifest
from density_study.workloads.rows.record_rows import record_rows
from density_study.workloads.study.registry import kind_of


@dataclass(frozen=True)
class FirstLook:
    """rate: in `rate_unit`. p99_ms: that of the slowest operation, which `p99_of` names, with the kind of
    latency. CPU: means over the hosts after the ramp-up. None: unknown. verdict: provisional; reasons: why
    the trial is not valid. flags: what to know about it, whatever its verdict. probe: its part in a search.
    metrics: all numbers, as rows of the table; row: that of the trial."""

    trial: str
    rate: float | None = None
    rate_unit: str = ""
    p99_ms: float | None = None
    p99_of: str = ""
    cpu_used_percent: float | None = None
    cpu_iowait_percent: float | None = None
    verdict: str = "unknown"
    reasons: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    probe: Probe | None = None
    metrics: tuple[Row, ...] = ()
    row: Row = field(default_factory=dict)

    @property
    def outcome(self) -> str:
        """The verdict in words that say that it is provisional."""
        return "valid so far" if self.verdict == "valid" else self.verdict

    @property
    def numbers(self) -> tuple[str, ...]:
        """12,300 ops/s; p99 2.2 ms READ, closed-loop; CPU 83 % used, 2 % iowait: those that are known."""
        cpu = (self.cpu_used_percent, self.cpu_iowait_percent)
        return (
            *([] if self.rate is None else [quantity(self.rate, self.rate_unit)]),
            *([] if self.p99_ms is None else [f"p99 {quantity(self.p99_ms, 'ms')} {self.p99_of}"]),
            *([] if None in cpu else ["CPU {:.0f} % used, {:.0f} % iowait".format(*cpu)]),
        )


def first_look(record: Path) -> FirstLook:
    """The numbers and the provisional verdict. A record that cannot be read is `unknown`, with the reason."""
    try:
        manifest = read_manifest(record)
        rows = record_rows(manifest, record)
        facts = trial_facts(rows)
    except (StudyError, OSError, ValueError) as error:
        why = error if isinstance(error, StudyError) else why_unread(error)
        return FirstLook(record.name, reasons=(f"the record cannot be read: {why}",))
    judged = judge(facts.checks)
    kind = kind_of(rows.trial["workload"])
    p99_ms, p99_of = _slowest_p99(facts.metrics)
    hosts = machines(measured_hosts(rows))
    return FirstLook(
        trial=manifest.trial,
        rate=next((one["value"] for one in facts.metrics if one["name"] == kind.rate), None),
        rate_unit=kind.rate_unit,
        p99_ms=p99_ms,
        p99_of=p99_of,
        cpu_used_percent=_mean([host_used(host) for host in hosts]),
        cpu_iowait_percent=_mean([host["cpu_iowait"] for host in hosts]),
        verdict=judged.verdict,
        reasons=judged.why,
        flags=judged.flags,
        probe=manifest.probe,
        metrics=tuple(facts.metrics),
        row=rows.trial,
    )


def _slowest_p99(metrics: Sequence[Row]) -> tuple[float | None, str]:
    """In ms, with its operation and kind; intended latency if there is any (method 10)."""
    found = [
        one
        for one in metrics
        if one["name"] == "latency" and one["percentile"] == 99.0 and one["value"] is not None
    ]
    intended = [one for one in found if one["latency_kind"] == "intended"]
    slowest = max(intended or found, key=lambda one: one["value"], default=None)
    if slowest is None:
        return None, ""
    return slowest["value"], f"{slowest['operation']}, {slowest['latency_kind']}"


def _mean(values: list[float | None]) -> float | None:
    known = if_all(values)
    return sum(known) / len(known) if known else None
