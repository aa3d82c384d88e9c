"""`first_look`: what the files of one closed record tell."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from density_study.analysis import tables
from density_study.analysis.report.charts.quantity import quantity
from density_study.analysis.validity.judge import judge
from density_study.cluster.model.errors import StudyError
from density_study.jobs.first_look.record_rows import RecordRows, if_all
from density_study.jobs.first_look.workload_facts import dfsio_facts, pipeline_facts, ycsb_facts
from density_study.jobs.raw.file_kinds import SAMPLES, WITHOUT_NUMBERS
from density_study.jobs.raw.manifest_rows import monitor_rows
from density_study.workloads.base.search import Probe
from density_study.workloads.record.record import read_manifest
from density_study.workloads.study.registry import kind_of
from density_study.workloads.ycsb.warming.warmth import WARMTH

_OF_TRIAL = ("state", "workload", "monitored", *WARMTH, "busiest_server", "given", "others_requests_s",
             "others_vcores", "regionservers_gone", "tier", "tiers_in_use", "foreign_tiers", "reads_tier",
             "network", "network_broken", "network_seen")  # fmt: skip


@dataclass(frozen=True)
class FirstLook:
    """rate: in `rate_unit`. p99_ms: of the slowest operation, which `p99_of` names, with the kind of latency.
    CPU: means over the hosts after the ramp-up. None: unknown. verdict: provisional; reasons: why the trial
    is not valid. flags: what to know about it, whatever its verdict. probe: its part in a search."""

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
        rows = RecordRows(read_manifest(record), record)
        known = facts(rows)
    except (StudyError, OSError, ValueError) as error:
        return FirstLook(record.name, reasons=(f"the record cannot be read: {error}",))
    judged = judge(known)
    p99_ms, p99_of = _slowest_p99(rows)
    of_cluster = {n["host"] for n in rows.nodes if n["roles"] != ["client"]}
    # the client of a given cluster says nothing of the cluster
    hosts = [h for h in rows.hosts if not rows.trial["given"] or h["host"] in of_cluster]
    return FirstLook(
        trial=rows.manifest.trial,
        rate=known["rate"],
        rate_unit=kind_of(rows.trial["workload"]).rate_unit,
        p99_ms=p99_ms,
        p99_of=p99_of,
        cpu_used_percent=_mean([host["used"] for host in hosts]),
        cpu_iowait_percent=_mean([host["cpu_iowait"] for host in hosts]),
        verdict=judged.verdict,
        reasons=judged.why,
        flags=judged.flags,
        probe=rows.manifest.probe,
    )


def facts(rows: RecordRows) -> dict[str, Any]:
    """Columns of `checks`, as far as one record and simple sums tell them; and the trial's `rate`."""
    trial = rows.trial
    of_workload = {"testdfsio": dfsio_facts, "pipeline": pipeline_facts}.get(
        trial["workload"], ycsb_facts
    )
    background = if_all([trial["compactions"], trial["splits"]])
    exit_codes = if_all([client["exit_code"] for client in rows.clients])
    return {
        **{name: trial[name] for name in _OF_TRIAL},
        "state_reason": "; ".join(trial["state_reasons"]),
        "window_s": rows.window_s,
        "clients_failed": None if exit_codes is None else sum(code != 0 for code in exit_codes),
        "has_tier": trial["tier"] is not None,
        "has_network": trial["network"] is not None,
        "tier_hits": trial["l1_hits" if trial["tier"] == "heap" else "l2_hits"],
        "background_work": None if background is None else sum(background),
        "foreign_cpu": _foreign_cpu(rows),
        **_quarantined(rows),
        **_monitors(rows),
        **of_workload(rows),
    }


def _quarantined(rows: RecordRows) -> dict[str, Any]:
    lines = list(rows.of(tables.QUARANTINE))
    results = [row for row in lines if row["kind"] not in (*SAMPLES, *WITHOUT_NUMBERS)]
    return {
        "result_lines_quarantined": len(results),
        "result_quarantine": min(
            (f"{row['kind']} line {row['line']} {row['reason']}" for row in results), default=""
        ),
        "sample_lines_quarantined": sum(row["kind"] in SAMPLES for row in lines),
    }


def _monitors(rows: RecordRows) -> dict[str, Any]:
    """Coverage of the window by the worst monitor, and the largest clock offset in sampling periods."""
    rounds = {(row["kind"], row["host"]): row for row in rows.of(tables.MONITOR_ROUNDS)}
    shares: list[tuple[float, str]] = []
    offsets: list[float | None] = []
    for monitor in monitor_rows(rows.manifest):
        both = if_all([monitor["clock_before_s"], monitor["clock_after_s"]])
        offsets.append(None if both is None else max(map(abs, both)) / monitor["period_s"])
        row = rounds.get((monitor["kind"], monitor["host"]))
        if (rows.window_s or 0.0) >= monitor["period_s"]:  # else no sample is expected
            share = row["seen"] / (row["seen"] + row["lost"]) if row else 0.0
            shares.append((share, f"{monitor['kind']} on {monitor['host']}"))
    coverage, worst = min(shares, default=(None, None))
    known = if_all(offsets)
    return {
        "monitor_coverage": coverage,
        "monitor_worst": worst,
        "clock_periods": None if known is None else max(known),
    }


def _foreign_cpu(rows: RecordRows) -> float | None:
    """CPU used on the busiest host beyond that of the nodes' processes; None for hosts with VMs."""
    given = [node for node in rows.nodes if node["host_cpu_share_percent"] is not None]
    if any(node["throttled_percent"] is None for node in given):
        return None
    names = {node["node"] for node in rows.nodes}
    ours: dict[str, float] = defaultdict(float)
    for row in rows.of(tables.NODE_USE):
        if row["node"] in names:
            ticks = row["user_ticks"] + row["system_ticks"]
            ours[row["host"]] += 100.0 * ticks / row["capacity_ticks"]
    beyond = [
        host["used"] - ours[host["host"]]
        for host in rows.hosts
        if host["used"] is not None and host["host"] in ours
    ]
    return max(beyond, default=None)


def _slowest_p99(rows: RecordRows) -> tuple[float | None, str]:
    """In ms, with its operation and kind; intended latency if there is any (method 10)."""
    found = [
        row
        for row in rows.of(tables.LATENCY_PERCENTILES)
        if row["percentile"] == 99.0 and row["value_us"] is not None
    ]
    intended = [row for row in found if row["latency_kind"] == "intended"]
    slowest = max(intended or found, key=lambda row: row["value_us"], default=None)
    if slowest is None:
        return None, ""
    return slowest["value_us"] / 1000.0, f"{slowest['operation']}, {slowest['latency_kind']}"


def _mean(values: list[float | None]) -> float | None:
    known = if_all(values)
    return sum(known) / len(known) if known else None
